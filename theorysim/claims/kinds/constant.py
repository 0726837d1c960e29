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

# A slow growth is excluded where a constant shows less than this share of it (in logarithms): a
# constant that follows it is not told from it.
EXCLUDED_SHARE = 0.9

# A constant whose exponents grow from rung to rung outgrows every power. Its first step must show
# more than what largest values of draws differ by.
CLEAR_FACTOR = 2.0


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
            verdict, constants, growth, high = _boundedness(found)
            verdicts.append(verdict)
            room = min(room, -growth)
            listed = ", ".join(f"{constant:.3g}" for constant in constants)
            rungs = ", ".join(f"{rung:g}" for rung in found.rungs)
            notes.append(f"over {variable} {rungs}: {listed}")
            notes.append(_exclusion(variable, found.rungs, high))
            notes += [found.why] if found.why else []
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


def _boundedness(found: Climb) -> tuple[Verdict, np.ndarray, float, np.ndarray]:
    """Whether the smallest constant of all instances stays bounded; it per rung, and its growth.

    It must do so with its errors added (returned last), and grow even with its errors subtracted.
    """
    known = np.where(np.isnan(found.quantity), -np.inf, found.quantity)
    with np.errstate(invalid="ignore"):  # an infinite constant with an infinite error
        low, constants, high = (
            np.max(known + shift, axis=0) for shift in (-found.error, 0.0, found.error)
        )
    verdict, growth = _bounded(found.rungs, constants)
    grows = verdict is Verdict.VIOLATED and (
        np.isposinf(constants).any() or _bounded(found.rungs, low)[0] is Verdict.VIOLATED
    )
    blank = found.undefined.any() or not found.applies.any(0).all()
    rests = verdict is Verdict.HOLDS and _bounded(found.rungs, high)[0] is Verdict.HOLDS
    if not grows and (blank or not rests):
        verdict = Verdict.INCONCLUSIVE
    return verdict, constants, growth, high


def _bounded(rungs: np.ndarray, constants: np.ndarray) -> tuple[Verdict, float]:
    """Whether the smallest constant stays bounded as the ladder is climbed, and its growth.

    It is bounded where its later half grows less than every slow growth would, and it grows where
    its power is sustained to the end, or its exponents increase from rung to rung.
    """
    if np.any(np.isposinf(constants)):
        return Verdict.VIOLATED, np.inf
    if not np.all(np.isfinite(constants)):
        return Verdict.INCONCLUSIVE, np.nan
    if np.all(constants <= 0):
        return Verdict.HOLDS, -np.inf
    positive = np.maximum(constants, np.finfo(float).tiny)
    fit = fit_power(_distance(rungs), positive[None])
    if all(_excludes(positive, slow) for slow in _slow_growths(rungs).values()):
        return Verdict.HOLDS, fit.exponent
    power = fit.exponent - fit.half_width > GROWTH_RESOLUTION
    sustained = power and fit.sustains()
    faster = np.all(np.diff(fit.steps) > 0) and positive[1] >= CLEAR_FACTOR * positive[0]
    return (Verdict.VIOLATED if sustained or faster else Verdict.INCONCLUSIVE), fit.exponent


def _distance(rungs: np.ndarray) -> np.ndarray:
    """How far a rung is from the first, as a factor of at least 1."""
    return np.exp(np.abs(np.log(rungs / rungs[0])))


def _slow_growths(rungs: np.ndarray) -> dict[str, np.ndarray]:
    """The slowest growths that a bounded constant must be told from, by their names in {n}.

    The logarithm of the variable (of its inverse, where the ladder goes down) is taken to be 1 at
    least on the first rung, and the iterated one likewise.
    """
    distance = _distance(rungs)
    first = abs(np.log(rungs[0])) if (rungs[0] > 1) == (rungs[-1] > rungs[0]) else 0.0
    logarithm = np.log(distance) + max(first, 1.0)
    power = distance**GROWTH_RESOLUTION
    iterated = 1 + np.log(logarithm)
    return {f"{{n}}^{GROWTH_RESOLUTION:g}": power, "log {n}": logarithm, "log log {n}": iterated}


def _excludes(constants: np.ndarray, slow: np.ndarray) -> bool:
    """Whether constants grow clearly less than a slow growth over the later half of the ladder."""
    late = [-1, (len(constants) - 1) // 2]
    grown, expected = (float(np.subtract(*np.log(series[late]))) for series in (constants, slow))
    return grown < EXCLUDED_SHARE * expected


def _exclusion(variable: str, rungs: np.ndarray, constants: np.ndarray) -> str:
    """Which slow growths the ladder excludes, and which not."""
    n = variable if rungs[-1] > rungs[0] else f"(1/{variable})"
    known = np.all(np.isfinite(constants))
    positive = np.maximum(np.where(known, constants, 1), np.finfo(float).tiny)
    shares: dict[bool, list[str]] = {True: [], False: []}
    for name, slow in _slow_growths(rungs).items():
        shares[bool(known) and _excludes(positive, slow)].append(name.format(n=n))
    words = {True: "excludes growth like", False: "does not exclude"}
    return " and ".join(
        f"{words[sort]} {', '.join(names)}" for sort, names in shares.items() if names
    )


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
