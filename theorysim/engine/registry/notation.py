"""Statements in the notation of their papers, as each paper's notation.toml has them.

Texts are Markdown with mathematics in LaTeX between dollars. A table `[fields]` says what sizes and
fields of the paper's statements are; a statement's own table `fields` goes before it. A user's own
file has no notation.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any

from theorysim.engine.registry.entries import Entry
from theorysim.engine.registry.headers import RegistryError

FILE = "notation.toml"
SHARED = "fields"


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
        fields: what each size and field is in the paper, by its name; a text as above.
    """

    statement: str = ""
    corrected: str = ""
    simulated: str = ""
    claims: Mapping[str, str] = field(default_factory=dict)
    hypotheses: Mapping[str, str] = field(default_factory=dict)
    fields: Mapping[str, str] = field(default_factory=dict)


def notation_of(entry: Entry) -> Notation | None:
    """The notation of a statement; None where its paper has none for it.

    Raises:
        RegistryError: naming file and statement, where it is not TOML or has an unknown part.
    """
    if not entry.module:  # a single file: what else lies in its folder is not of theorysim
        return None
    file, name = entry.path.parent / FILE, entry.name
    whole = _read(file)
    found = whole.get(name)
    if found is None:
        return None
    known = {part.name for part in fields(Notation)}
    if not isinstance(found, dict) or set(found) - known:
        raise RegistryError(f"{file}, {name}: expected a table of {', '.join(sorted(known))}")
    return Notation(**found | {SHARED: {**whole.get(SHARED, {}), **found.get(SHARED, {})}})


def print_order(entry: Entry) -> int:
    """The place of a statement in its paper's notation, which stands in the order of print."""
    names = list(_read(entry.path.parent / FILE))
    return names.index(entry.name) if entry.name in names else len(names)


@cache
def _read(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text("utf-8")) if file.is_file() else {}
    except (OSError, ValueError) as error:
        raise RegistryError(f"{file} is not TOML: {error}") from None
