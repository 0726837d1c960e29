"""A constant that serves all instances, whatever climbs its ladders."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from theorysim.claims.evidence import Evidence, Judgement, Points, tabulate
from theorysim.claims.kinds.base import Attack, Claim, Rungs, Side, check_rungs
from theorysim.claims.kinds.ladders import Climb, climb, fit_power, worst_point
from theorysim.claims.verdict import Verdict

# Smallest growth of a constant, as a power of its rung, that counts as growth.
GROWTH_RESOLUTION = 0.1


@dataclass(frozen=True, eq=False)
class BoundedConstant(Claim):
    """There is a constant c with lhs <= c * rhs at all instances and on all rungs of `over`."""

    kind: ClassVar[str] = "exists_constant"
    attack: ClassVar[Attack] = Attack.ENLARGE
    has_slack: ClassVar[bool] = False
    ratio_limit: ClassVar[float] = math.inf

    def __post_init__(self):
        if not self.over:
            raise ValueError(f"{self.name}: name what the constant must not depend on in `over`")
        check_rungs(self.name, self.over)

    def slack(self, lhs: Any, rhs: Any) -> Any:
        """rhs - lhs: the room that the constant 1 leaves."""
        return rhs - lhs

    def judge(self, evidence: Evidence) -> Judgement:
        """Whether the smallest constant that serves all instances stays bounded on all ladders."""
        here, *_, applies = worst_point(tabulate(evidence.measurement), _constant)
        largest = np.where(applies & ~np.isnan(here), here, -np.inf)
        row = int(np.argmax(largest))
        verdicts, notes = [], [f"smallest constant {largest[row]:.4g} here"]
        paths, room = {}, np.inf
        for variable, ladder in evidence.ladders.items():
            found = climb(ladder, _constant)
            verdict, constants, growth = _boundedness(found)
            verdicts.append(verdict)
            room = min(room, -growth)
            listed = ", ".join(f"{constant:.3g}" for constant in constants)
            rungs = ", ".join(f"{rung:g}" for rung in found.rungs)
            notes.append(f"over {variable} {rungs}: {listed}")
            paths |= {f"{variable}_rungs": found.rungs, f"{variable}_constants": constants}
        order = (Verdict.VIOLATED, Verdict.INCONCLUSIVE, Verdict.HOLDS)
        return Judgement(
            min(verdicts, key=order.index),
            "; ".join(notes),
            lhs=float(largest[row]),
            slack=float(room),
            error=GROWTH_RESOLUTION,
            error_parts={"ladder": GROWTH_RESOLUTION},
            checked=int(applies.sum()),
            resolved=int((applies & ~np.isnan(here)).sum()),
            path=paths,
            row=row,
        )


def _constant(points: Points) -> tuple[np.ndarray, np.ndarray]:
    """The smallest c >= 0 with lhs <= c * rhs; infinite where none is, NaN for a negative scale."""
    positive = points.rhs > 0
    unit = np.where(positive, points.rhs, 1.0)
    without = np.where(points.lhs > points.error, np.inf, 0.0)
    value = np.where(positive, points.lhs / unit, np.where(points.rhs == 0, without, np.nan))
    return value, unit


def _boundedness(found: Climb) -> tuple[Verdict, np.ndarray, float]:
    """Whether the smallest constant of all instances stays bounded; it per rung, and its growth.

    It must do so with its errors added, and grow even with its errors subtracted.
    """
    known = np.where(np.isnan(found.quantity), -np.inf, found.quantity)
    with np.errstate(invalid="ignore"):  # an infinite constant with an infinite error
        low, constants, high = (
            np.max(known + shift, axis=0) for shift in (-found.error, 0.0, found.error)
        )
    verdict, growth = _bounded(found.rungs, constants)
    if verdict is Verdict.VIOLATED and (
        np.isposinf(constants).any() or _bounded(found.rungs, low)[0] is Verdict.VIOLATED
    ):
        return verdict, constants, growth
    blank = found.undefined.any() or not found.applies.any(0).all()
    if verdict is Verdict.HOLDS and not blank and _bounded(found.rungs, high)[0] is Verdict.HOLDS:
        return verdict, constants, growth
    return Verdict.INCONCLUSIVE, constants, growth


def _bounded(rungs: np.ndarray, constants: np.ndarray) -> tuple[Verdict, float]:
    """Whether the smallest constant stays bounded as the ladder is climbed, and its growth."""
    if np.any(np.isposinf(constants)):
        return Verdict.VIOLATED, np.inf
    if not np.all(np.isfinite(constants)):
        return Verdict.INCONCLUSIVE, np.nan
    if np.all(constants <= 0):
        return Verdict.HOLDS, -np.inf
    distance = np.exp(np.abs(np.log(rungs / rungs[0])))
    fit = fit_power(distance, np.maximum(constants, np.finfo(float).tiny)[None])
    growth, last = fit.exponent, fit.last
    if growth <= GROWTH_RESOLUTION or last <= GROWTH_RESOLUTION:
        return Verdict.HOLDS, growth
    if last >= growth / 2 and growth - fit.half_width > GROWTH_RESOLUTION:
        return Verdict.VIOLATED, growth
    return Verdict.INCONCLUSIVE, growth


def exists_constant(
    name: str,
    lhs: Side,
    scale: Side,
    *,
    over: Rungs,
    where: Side | None = None,
    statement: str = "",
) -> BoundedConstant:
    """There is a constant c with lhs <= c * scale for all instances and all values of `over`.

    The smallest c per rung is reported; the claim holds where it stays bounded over the ladder of
    every quantified variable, one at a time.
    """
    return BoundedConstant(name, lhs, scale, where, statement, over=over)
