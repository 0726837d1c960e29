"""How a paper is cited; needs no JAX, so that listing the papers needs none."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Citation:
    """A paper."""

    title: str
    authors: str
    year: int
    venue: str

    def bibtex(self, key: str) -> str:
        """The BibTeX entry under this key; conferences and preprints alike are `misc`."""
        parts = {
            "title": f"{{{self.title}}}",  # the inner braces keep its capitals
            "author": " and ".join(self.authors.split(", ")),
            "year": str(self.year),
            "howpublished": self.venue,
        }
        lines = ",\n".join(f"  {name} = {{{value}}}" for name, value in parts.items())
        return f"@misc{{{key},\n{lines}\n}}"
