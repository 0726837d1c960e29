"""What certifying a theorem's claims returns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from theorysim.enclosures import Outcome
from theorysim.tabular import Tabular

# Formulas that are made for floating point drop terms below its rounding, some dozen of them.
FORMULA_ROUNDING = 64 * float(np.finfo(np.float64).eps)


def tiny_note(outcome: Outcome, relative: float) -> str:
    """A warning for a violation by so small a part of both sides; empty without need."""
    if outcome is not Outcome.VIOLATED or not relative < FORMULA_ROUNDING:
        return ""
    return (
        f"by {relative:.1e} of both sides only: it may come from terms that the formula drops "
        "because they are below the rounding of floating point"
    )


@dataclass(frozen=True)
class Tree:
    """How a part of a box was bisected until every leaf was certain.

    Attributes:
        piece: the sizes, integers and choices of the part, those that enter.
        program: the SHA-256 of the formula as a program of JAX.
        cuts: the coordinate and the number at which a box was halved, by its path from the whole
            part (""): "01" is the upper half of the lower half. What is not cut is a leaf.
    """

    piece: str
    program: str
    cuts: Mapping[str, tuple[int, float]]


@dataclass(frozen=True)
class Certificate:
    """What is certain of one claim.

    Attributes:
        lhs, rhs, slack: decimal enclosures of both sides at entry `place` of `instance`.
        precision: the bits that it took; `undecided` of the `entries` remain open.
        instance: the instance certified, or the violating one; it can be replayed.
        numbers: the same with every number spelled exactly, a decimal or the bits of a float.
        program: the SHA-256 of the formula as a program of JAX.
        random: whether the key of the instance enters: then it is a part of what was proved.
        trees: the bisections of a box that is certified.
        boxes, dropped, depth, left, resisting: of a box, as in `BoxOutcome`.
    """

    reading: str
    claim: str
    kind: str
    statement: str
    outcome: Outcome
    lhs: str = ""
    rhs: str = ""
    slack: str = ""
    place: tuple[int, ...] = ()
    precision: int = 0
    undecided: int = 0
    entries: int = 0
    instance: Mapping[str, Any] | None = None
    numbers: Mapping[str, Any] = field(default_factory=dict)
    program: str = ""
    random: bool = False
    trees: tuple[Tree, ...] = ()
    boxes: int = 0
    dropped: int = 0
    depth: int = 0
    left: float = 0.0
    resisting: Mapping[str, tuple[float, float]] | None = None
    note: str = ""

    @property
    def where(self) -> str:
        """The sizes and the numbers that it is about."""
        sizes = {} if self.instance is None else self.instance["sizes"]
        return _assignments({**sizes, **self.numbers})

    def __str__(self) -> str:
        head = f"{self.reading}, {self.claim}: {self.outcome}"
        if self.outcome is Outcome.UNSUPPORTED:
            return f"{head}: {self.note}"
        if self.boxes:
            head += f" (boxes examined: {self.boxes}, successive bisections: {self.depth})"
        if self.resisting is not None:
            ends = (f"{name} in [{a!r}, {b!r}]" for name, (a, b) in self.resisting.items())
            head += f"; {self.left:.2g} of the box is left: {', '.join(ends)}"
        if not self.slack:
            return head
        if self.boxes:
            head += f"\n    at {self.where}"
        if self.random and self.instance is not None:
            head += f"\n    for this key only: {self.instance['key']}"
        where = f" at entry {list(self.place)}" if self.place else ""
        sides = f"{self.lhs} against {self.rhs}{where}, slack {self.slack}"
        note = f"\n    {self.note}" if self.note else ""
        return f"{head}\n    {sides} ({self.precision} bits){note}"


def _assignments(numbers: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in numbers.items())


@dataclass(frozen=True)
class CertifyReport(Tabular):
    """The outcome of `certify`; `mode` is "instance" or "box", `box` the ranges of the latter.

    `given` is the box as it was asked for, `settings` are the bits and the budget.
    """

    theorem: str
    title: str
    mode: str
    primary: str
    certificates: tuple[Certificate, ...]
    box: Mapping[str, str] = field(default_factory=dict)
    given: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, int] = field(default_factory=dict)

    @property
    def decisive_readings(self) -> tuple[str, ...]:
        """The primary reading, where it is among them, else all readings."""
        names = tuple(dict.fromkeys(certificate.reading for certificate in self.certificates))
        return (self.primary,) if self.primary in names else names

    @property
    def outcome(self) -> Outcome:
        """Of the primary reading (or of the only one): one violation decides."""
        found = {c.outcome for c in self.certificates if c.reading in self.decisive_readings}
        order = (Outcome.VIOLATED, Outcome.UNDECIDED, Outcome.UNSUPPORTED, Outcome.OUTSIDE)
        return next((outcome for outcome in order if outcome in found), Outcome.CERTIFIED)

    @property
    def exit_code(self) -> int:
        """0 certified, 3 certified violated, 4 anything else."""
        return {Outcome.CERTIFIED: 0, Outcome.VIOLATED: 3}.get(self.outcome, 4)

    def certificate(self, reading: str, claim: str) -> Certificate:
        """The certificate of that claim."""
        return next(c for c in self.certificates if (c.reading, c.claim) == (reading, claim))

    @property
    def caption(self) -> str:
        """The theorem and what is certain of it."""
        where = "at this instance" if self.mode == "instance" else "on the box"
        return f"{self.theorem}, {' and '.join(self.decisive_readings)}: {self.outcome} {where}"

    def rows(self) -> Iterator[Mapping[str, Any]]:
        """One row per certificate."""
        shown = ("reading", "claim", "kind", "outcome", "lhs", "rhs", "slack", "precision", "note")
        for certificate in self.certificates:
            yield {name: str(getattr(certificate, name)) for name in shown}

    def as_json(self) -> dict[str, Any]:
        """The report as JSON data; enclosures are texts such as "[0.1 +/- 2.3e-20]".

        `replay` checks it again.
        """
        return {
            "theorem": self.theorem,
            "title": self.title,
            "mode": self.mode,
            "primary": self.primary,
            "outcome": str(self.outcome),
            "box": dict(self.box),
            "given": dict(self.given),
            "settings": dict(self.settings),
            "certificates": [
                {
                    **vars(c),
                    "outcome": str(c.outcome),
                    "place": list(c.place),
                    "trees": [vars(tree) for tree in c.trees],
                }
                for c in self.certificates
            ],
        }

    def __str__(self) -> str:
        lines = [self.caption]
        if self.mode == "instance":
            lines.append(f"  at {self.certificates[0].where}")
        else:
            lines.append(f"  {_assignments(self.box)}")
        return "\n".join(lines + [f"  {certificate}" for certificate in self.certificates])
