"""Statements in the notation of their papers, as each paper's notation.toml has them.

Texts are Markdown with mathematics in LaTeX between dollars. A user's own file has none.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from theorysim.engine.registry.entries import Entry

FILE = "notation.toml"


@dataclass(frozen=True)
class Notation:
    """What one statement says, as it would be printed.

    Attributes:
        statement: the statement as printed, hypotheses first; where it is printed twice, both.
        corrected: what holds instead, where a corrected reading stands beside it.
        simulated: one line on what is run: gradient descent on which loss, how many steps, sizes,
            which law of data; or which closed form stands for it, and what warrants that.
        claims: the formula of each claim, by its name, without dollars.
        hypotheses: the formula of each hypothesis, by its name, without dollars.
    """

    statement: str = ""
    corrected: str = ""
    simulated: str = ""
    claims: Mapping[str, str] = field(default_factory=dict)
    hypotheses: Mapping[str, str] = field(default_factory=dict)


def notation_of(entry: Entry) -> Notation | None:
    """The notation of a statement; None where its paper has none for it."""
    if not entry.module:  # a single file: what else lies in its folder is not of theorysim
        return None
    found = _read(entry.path.parent / FILE).get(entry.id.partition("/")[2])
    return None if found is None else Notation(**found)


@cache
def _read(file: Path) -> dict[str, Any]:
    return tomllib.loads(file.read_text("utf-8")) if file.is_file() else {}
