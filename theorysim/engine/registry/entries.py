"""What is known of a statement before it is imported, and the list of all of them."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, overload

from theorysim.engine.registry.headers import MAIN, ReadingName
from theorysim.tabular import Tabular


@dataclass(frozen=True)
class Entry:
    """A statement as the registry knows it.

    Attributes:
        id: paper and name, such as "overtraining/theorem-4.7".
        paper: the slug of the paper.
        kind: theorem, lemma, equation, ..., or experiment.
        title: first line of the docstring.
        aliases: other names of the statement, without the paper.
        readings: the readings, the printed one first.
        path: the file.
        module: the module's name; "" for a single file.
        problem: why the file cannot be read, naming the line; "" where it can.
        attribute: what the file calls it: "theorem", unless the file states several.
    """

    id: str
    paper: str
    kind: str
    title: str
    aliases: tuple[str, ...]
    readings: tuple[ReadingName, ...]
    path: Path
    module: str
    problem: str = ""
    attribute: str = MAIN

    @property
    def is_experiment(self) -> bool:
        """Whether it is an empirical statement, which is reproduced and not attacked."""
        return self.kind == "experiment"

    @property
    def name(self) -> str:
        """The id without the paper."""
        return self.id.removeprefix(f"{self.paper}/")

    @property
    def handle(self) -> str:
        """What a command calls it: the id, or its place in a user's own file."""
        return self.id if self.module else shlex.quote(self.place(os.path.relpath(self.path)))

    def place(self, file: str) -> str:
        """Which statement of a file it is, as a command takes it: rates.py, rates.py::momentum."""
        return file if self.attribute == MAIN else f"{file}::{self.attribute}"

    @property
    def headline(self) -> str:
        """The title, or why the file cannot be read."""
        return f"cannot be read: {self.problem}" if self.problem else self.title

    def names(self) -> tuple[str, ...]:
        """Every name, with its paper, that the statement answers to."""
        return (self.id, *(f"{self.paper}/{alias.lower()}" for alias in self.aliases))


@dataclass(frozen=True, repr=False)
class Catalogue(Sequence[Entry], Tabular):
    """Statements in natural order of paper and name: a sequence that prints one per line."""

    entries: tuple[Entry, ...]

    def papers(self) -> tuple[str, ...]:
        """The slugs of the papers."""
        return tuple(dict.fromkeys(entry.paper for entry in self.entries))

    def of(self, paper: str) -> Catalogue:
        """The statements of one paper."""
        return Catalogue(tuple(entry for entry in self.entries if entry.paper == paper))

    def rows(self) -> Iterator[Mapping[str, Any]]:
        """One row per statement."""
        for entry in self.entries:
            yield {
                "statement": entry.id,
                "paper": entry.paper,
                "kind": entry.kind,
                "title": entry.headline,
                "aliases": ", ".join(entry.aliases),
                "readings": ", ".join(reading.name for reading in entry.readings),
            }

    def __len__(self) -> int:
        return len(self.entries)

    @overload
    def __getitem__(self, index: int) -> Entry: ...

    @overload
    def __getitem__(self, index: slice) -> Catalogue: ...

    def __getitem__(self, index: int | slice) -> Entry | Catalogue:
        if isinstance(index, slice):
            return Catalogue(self.entries[index])
        return self.entries[index]

    def __str__(self) -> str:
        width = max((len(entry.id) for entry in self.entries), default=0)
        rows = [f"{entry.id:<{width}}  {entry.headline}" for entry in self.entries]
        return "\n".join(rows) if rows else "no statements"

    __repr__ = __str__
