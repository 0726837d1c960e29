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
