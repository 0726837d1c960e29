"""What the pages say of one statement, gathered from the registry and from what was recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from theorysim.citation import Citation
from theorysim.claims.theorem import Theorem
from theorysim.claims.verdict import Verdict
from theorysim.engine.registry import Entry, citation, load
from theorysim.engine.registry.headers import docstring
from theorysim.engine.registry.ledger import errata
from theorysim.engine.registry.notation import Notation, notation_of, print_order
from theorysim.engine.registry.records import (
    attacks,
    fresh_verdicts,
    is_fresh,
    mutants,
    own_statements,
    stability,
)
from theorysim.engine.verify.recorded import from_record
from theorysim.engine.verify.report import ReadingReport, Report
from theorysim.errors import UsageError
from theorysim.report.answer import Answer, answer
from theorysim.report.stability import stability_in_words
from theorysim.scenes.catalogue import scene_of
from theorysim.scenes.scene import Scene
from theorysim.site.addresses import label, page_of


@dataclass(frozen=True)
class Named:
    """What has a page of its own: an entry of the registry."""

    entry: Entry

    @property
    def id(self) -> str:
        """Paper and name."""
        return self.entry.id

    @property
    def label(self) -> str:
        """What it is called: "Theorem 4.7"."""
        return label(self.entry.name)

    @property
    def page(self) -> str:
        """Its page."""
        return page_of(self.entry.id)

    @property
    def prose(self) -> str:
        """What its file says of it, below the title."""
        return docstring(self.entry.path, self.entry.attribute).partition("\n\n")[2]


@dataclass(frozen=True)
class Statement(Named):
    """A statement with all that is known of it.

    Attributes:
        record: its recorded verification; `report` and `said` are made of it.
        errata: the refuted claims of its printed readings, with their counterexamples.
        attack: how long its primary reading withstood the falsifier; None if it was not attacked.
        stability: whether its verdicts stay the same at other seeds and sizes; "" where that was
            not measured of its code.
        mutants: by reading, which small false variants there are and which claims refute them.
    """

    theorem: Theorem
    citation: Citation
    record: Mapping[str, Any]
    report: Report
    said: Answer
    notation: Notation
    scene: Scene | None
    errata: Sequence[Mapping[str, Any]]
    attack: Mapping[str, Any] | None
    stability: str
    mutants: Mapping[str, Mapping[str, Any]]

    @property
    def refuted(self) -> tuple[ReadingReport, ...]:
        """The printed readings that are refuted."""
        printed = (r for r in self.report.readings if r.source.kind == "printed")
        return tuple(r for r in printed if r.verdict is Verdict.VIOLATED)

    def counterexamples(self, reading: str) -> list[Mapping[str, Any]]:
        """The refuted claims of one reading, each with its counterexample."""
        return [line for line in self.errata if line["reading"] == reading]


def gather(only: str = "") -> list[Statement]:
    """The statements of this package whose ids contain the text, by paper in the order of print.

    Raises:
        UsageError: where there is none, or where a recorded verification is missing or stale.
    """
    chosen = [entry for entry in own_statements() if only in entry.id]
    entries = sorted(chosen, key=lambda entry: (entry.paper, print_order(entry)))
    if not entries:
        raise UsageError(f"no statement has {only!r} in its id; `theorysim list` shows all ids")
    records, refutations = fresh_verdicts(entries), errata()
    attacked, mutated, at_other_seeds = attacks(), mutants(), stability()
    return [
        _statement(
            entry,
            records[entry.id],
            [line for line in refutations if line["theorem"] == entry.id],
            attacked.get(entry.id),
            at_other_seeds.get(entry.id),
            mutated.get(entry.id, {}).get("readings", {}),
        )
        for entry in entries
    ]


def _statement(
    entry: Entry,
    record: Mapping[str, Any],
    refutations: Sequence[Mapping[str, Any]],
    attack: Mapping[str, Any] | None,
    at_other_seeds: Mapping[str, Any] | None,
    mutated: Mapping[str, Mapping[str, Any]],
) -> Statement:
    theorem, paper = load(entry), citation(entry)
    if paper is None:
        raise UsageError(f"{entry.path.parent} has no _paper.py that says which paper it is")
    report = from_record(record, theorem)
    notation = notation_of(entry)
    return Statement(
        entry=entry,
        theorem=theorem,
        citation=paper,
        record=record,
        report=report,
        said=answer(report, notation),
        notation=notation or Notation(""),
        scene=scene_of(entry.id),
        errata=refutations,
        attack=attack,
        stability=stability_in_words(at_other_seeds) if is_fresh(at_other_seeds, entry) else "",
        mutants=mutated,
    )
