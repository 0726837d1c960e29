"""What became of every place in a paper, as its coverage.toml has it; reading it needs no JAX."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from theorysim.engine.registry.entries import Catalogue
from theorysim.engine.registry.headers import RegistryError

FILE = "coverage.toml"
REQUIRED, OPTIONAL = {"place": str, "says": str, "statements": list}, {"why_not": str}


@dataclass(frozen=True)
class Passage:
    """One place in print.

    Attributes:
        place: where it stands: "Section 4.2, Eq. 16".
        says: what it says, in one clause.
        statements: the names, without the paper, of the statements that check it.
        why_not: why none does, or what they leave out; "" where nothing is left out.
    """

    place: str
    says: str
    statements: tuple[str, ...]
    why_not: str = ""


def coverage_of(paper: Catalogue) -> tuple[Passage, ...]:
    """The places of a paper in the order of print; none where nobody has written them down.

    Args:
        paper: the statements of one paper.

    Raises:
        RegistryError: naming the file and the entry that is not as `Passage` has it, names a
            statement that the paper does not have, or none and no reason.
    """
    if not paper or not paper[0].module:  # a single file: its folder is not of theorysim
        return ()
    file = paper[0].path.parent / FILE
    names = {entry.name for entry in paper}
    return tuple(_passage(file, n, data, names) for n, data in enumerate(_read(file), 1))


def unnamed(paper: Catalogue, passages: Iterable[Passage]) -> list[str]:
    """The statements of a paper that no place names."""
    named = {name for passage in passages for name in passage.statements}
    return [entry.name for entry in paper if entry.name not in named]


def _read(file: Path) -> list[Any]:
    """The entries `[[print]]`, of which the file consists."""
    if not file.is_file():
        return []
    try:
        data = tomllib.loads(file.read_text("utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise RegistryError(f"{file}: {error}") from None
    if list(data) != ["print"] or not isinstance(data["print"], list):
        raise RegistryError(f"{file}: expected entries [[print]] alone, but it has {list(data)}")
    return data["print"]


def _passage(file: Path, number: int, data: Mapping[str, Any], names: Collection[str]) -> Passage:
    """One entry, checked."""
    where = f"{file}: entry {number} ({data.get('place', 'without a place')})"
    kinds = REQUIRED | OPTIONAL
    if not REQUIRED.keys() <= data.keys() <= kinds.keys():
        raise RegistryError(f"{where}: expected the keys {list(kinds)}, but it has {list(data)}")
    wrong = [key for key in data if not isinstance(data[key], kinds[key])]
    if wrong:
        raise RegistryError(f"{where}: {wrong[0]}: expected a {kinds[wrong[0]].__name__}")
    unknown = [name for name in data["statements"] if name not in names]
    if unknown:
        raise RegistryError(f"{where}: no statement of this paper is called {unknown[0]!r}")
    if not (data["statements"] or data.get("why_not")):
        raise RegistryError(f"{where}: expected a statement, or why_not where none checks it")
    return Passage(**{**data, "statements": tuple(data["statements"])})
