"""What the pages say of one experiment, gathered from the registry and from its recorded runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from theorysim.citation import Citation
from theorysim.claims.experiment import Experiment
from theorysim.claims.source import Printed
from theorysim.claims.verdict import Verdict
from theorysim.engine.registry import Entry, citation, load
from theorysim.engine.registry.notation import print_order
from theorysim.engine.registry.records import fresh_experiments, own_experiments
from theorysim.engine.reproduce.reproduce import OURS, WORDS
from theorysim.errors import UsageError
from theorysim.scenes.catalogue import picture_of
from theorysim.scenes.picture import Picture
from theorysim.site.documents import documents
from theorysim.site.figures import Figure
from theorysim.site.statements import Named


@dataclass(frozen=True)
class Shown:
    """One claim on an experiment: the word for its verdict, and the nulls that show it, too."""

    name: str
    formula: str
    verdict: Verdict
    line: Mapping[str, Any]

    @property
    def word(self) -> str:
        """What its runs say of the figure."""
        return WORDS[self.verdict]

    @property
    def nulls(self) -> list[str]:
        """The nulls that show it nevertheless."""
        return [name for name, verdict in self.line["nulls"].items() if verdict == Verdict.HOLDS]


@dataclass(frozen=True)
class Rerun(Named):
    """An experiment with what was recorded of its runs and of those of its nulls."""

    theorem: Experiment
    citation: Citation
    line: Mapping[str, Any]
    claims: Sequence[Shown]
    picture: Picture | None
    figure: Figure | None

    @property
    def words(self) -> str:
        """What its paper says that it shows; empty where the paper does not say it."""
        source = self.theorem.primary().source
        return source.words if isinstance(source, Printed) else ""


def gather_experiments(only: str = "") -> list[Rerun]:
    """The experiments of this package whose ids contain the text, by paper in the order of print.

    Raises:
        UsageError: where the record of one is missing or stale.
    """
    chosen = [entry for entry in own_experiments() if only in entry.id]
    lines = fresh_experiments(chosen)
    ordered = sorted(chosen, key=lambda entry: (entry.paper, print_order(entry)))
    return [_rerun(entry, lines[entry.id]) for entry in ordered]


def _rerun(entry: Entry, line: Mapping[str, Any]) -> Rerun:
    theorem, paper = load(entry), citation(entry)
    if paper is None or not isinstance(theorem, Experiment):
        raise UsageError(f"{entry.path.parent} has no _paper.py that says which paper it is")
    stated = {claim.name: claim.statement for claim in theorem.primary().claims}
    claims = [
        Shown(
            each["name"] + OURS * (not each["printed"]),
            stated[each["name"]],
            Verdict(each["verdict"]),
            each,
        )
        for each in line["claims"]
    ]
    return Rerun(entry, theorem, paper, line, claims, picture_of(entry.id), _figure(entry.id))


def _figure(id: str) -> Figure | None:
    """The recorded picture, which has one pixel for one of the page."""
    from PIL import Image

    file = f"records/experiments/{id.replace('/', '-')}.png"
    path = Path(documents(), file)
    if not path.is_file():
        return None
    with Image.open(path) as image:
        return Figure(file, *image.size)
