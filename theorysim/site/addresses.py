"""Where pages stand in the site, as paths from its root; needs no theorem and nothing heavy."""

from __future__ import annotations

import posixpath
import re

INDEX = "index.html"
ERRATA = "errata.html"
GALLERY = "gallery.html"
TUTORIALS = "tutorials"  # a folder

# First words of ids that are abbreviations.
WORDS = {"eq": "equation", "def": "definition", "ntk": "NTK"}


def page_of(id: str) -> str:
    """The page of a statement such as "overtraining/theorem-4.7"."""
    return f"statements/{id}.html"


def page_of_paper(slug: str) -> str:
    """The page of a paper such as "linear-teachers"."""
    return f"papers/{slug.replace('-', '_')}.html"


def errata_of(slug: str) -> str:
    """The page with the errata of a paper."""
    return f"errata/{slug}.html"


def page_of_tutorial(name: str) -> str:
    """The page that is made of a notebook such as "tour"."""
    return f"{TUTORIALS}/{name}.html"


def source_of_page(page: str) -> str:
    """The Markdown file that a page is made of."""
    return page.removesuffix(".html") + ".md"


def link(page: str, target: str) -> str:
    """The address of `target`, a path from the root, as `page` names it."""
    return posixpath.relpath(target, posixpath.dirname(page) or ".")


def label(name: str) -> str:
    """What a statement is called: "lemma-a.28-proof" is "Lemma A.28, proof"."""
    first, *rest = name.split("-")
    first = WORDS.get(first, first)
    numbers = []
    while rest and re.fullmatch(r"[a-z](\.\d+)*|\d+(\.\d+)*", rest[0]):
        numbers.append(rest.pop(0).upper())
    plural = "s" * (len(numbers) > 1)
    head = " ".join([first[0].upper() + first[1:] + plural, *["–".join(numbers)][: len(numbers)]])
    tail = " ".join(rest)
    return f"{head}, {tail}" if numbers and tail else f"{head} {tail}".strip()
