"""Some instance of the space has a property: what an assumption must be able to meet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from theorysim.claims.evidence import Evidence, Judgement, tabulate
from theorysim.claims.kinds.base import Attack, Claim, Side
from theorysim.claims.kinds.inequality import AtLeast
from theorysim.claims.verdict import Verdict


@dataclass(frozen=True, eq=False)
class Existence(Claim):
    """At some instance lhs >= rhs at every point; draws can show one, and never that none is."""

    kind: ClassVar[str] = "exists"
    attack: ClassVar[Attack] = Attack.RESAMPLE
    labels: ClassVar[tuple[str, str]] = ("margin", "needed")

    def slack(self, lhs: Any, rhs: Any) -> Any:
        """lhs - rhs."""
        return lhs - rhs

    def judge(self, evidence: Evidence) -> Judgement:
        """Holds with a witness; without one the draws exclude nothing."""
        points = tabulate(evidence.measurement)
        alike = AtLeast(self.name, self.lhs, self.rhs, strict=self.strict)
        holds = alike.states(points)[0]
        applies = points.applies.any(1)
        if not applies.any():
            return Judgement(Verdict.VACUOUS, "no point meets the claim's own condition")
        witnesses = applies & (holds | ~points.applies).all(1)
        room = np.where(points.applies, self.slack(points.lhs, points.rhs), np.inf)
        least = np.where(applies & ~np.isnan(room).any(1), room.min(1), -np.inf)
        row = int(np.argmax(np.where(witnesses, np.inf, least)))
        column = int(np.argmin(np.where(np.isnan(room[row]), np.inf, room[row])))
        return Judgement(
            Verdict.HOLDS if witnesses.any() else Verdict.INCONCLUSIVE,
            f"met at {witnesses.sum()} of {applies.sum()} drawn instances",
            lhs=float(points.lhs[row, column]),
            rhs=float(points.rhs[row, column]),
            slack=float(room[row, column]),
            error=float(points.error[row, column]),
            checked=int(applies.sum()),
            resolved=int(witnesses.sum()),
            row=row,
        )


def exists(
    name: str,
    lhs: Side,
    rhs: Side,
    *,
    strict: bool = False,
    where: Side | None = None,
    statement: str = "",
) -> Existence:
    """Some instance has lhs >= rhs (`strict`: lhs > rhs) at every point.

    It holds with a witness, and is inconclusive without one: the falsifier cannot refute it.
    """
    return Existence(name, lhs, rhs, where, statement, strict)
