"""How a paper is cited; needs no JAX, so that listing the papers needs none."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Citation:
    """A paper.

    Attributes:
        authors: their names, with commas between them.
        arxiv: its number there, such as "2411.15385".
        read_from: what its statements were read from, where that is not the paper itself or not
            the whole of it. It is told wherever something of the paper is said to be refuted.
    """

    title: str
    authors: str
    year: int
    venue: str
    arxiv: str = ""
    read_from: str = ""

    @property
    def surnames(self) -> str:
        """The last names of the authors, with commas between them."""
        return ", ".join(name.split()[-1] for name in self.authors.split(", "))

    @property
    def where(self) -> str:
        """Where it appeared."""
        return f"{self.venue}, arXiv {self.arxiv}" if self.arxiv else self.venue

    def bibtex(self, key: str) -> str:
        """The BibTeX entry under this key; conferences and preprints alike are `misc`."""
        parts = {
            "title": f"{{{self.title}}}",  # the inner braces keep its capitals
            "author": " and ".join(self.authors.split(", ")),
            "year": str(self.year),
            "howpublished": self.venue,
        }
        if self.arxiv:
            parts |= {"eprint": self.arxiv, "archiveprefix": "arXiv"}
        lines = ",\n".join(f"  {name} = {{{value}}}" for name, value in parts.items())
        return f"@misc{{{key},\n{lines}\n}}"
