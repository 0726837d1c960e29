"""Two sides whose distance vanishes as a ladder is climbed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from theorysim.claims.evidence import (
    EQUALITY_RESOLUTION,
    RESOLVED_SHARE,
    Evidence,
    Judgement,
    Points,
)
from theorysim.claims.kinds.base import Attack, Claim, Rungs, Side, only_ladder
from theorysim.claims.kinds.ladders import (
    Climb,
    Fit,
    climb,
    fit_power,
    undefined_note,
    unresolved_note,
)
from theorysim.claims.verdict import Verdict

# A limit counts as reached where the last error is below this share of the first distance, and as
# approached where what the distance tends to is.
LIMIT_RESOLUTION = 0.1


@dataclass(frozen=True, eq=False)
class Limit(Claim):
    """|lhs - rhs| (its largest entry) tends to 0 over the one ladder of `over`."""

    kind: ClassVar[str] = "tends_to"
    attack: ClassVar[Attack] = Attack.RESAMPLE
    has_slack: ClassVar[bool] = False

    def __post_init__(self):
        only_ladder(self.name, self.over)

    def slack(self, lhs: Any, rhs: Any) -> Any:
        """-|lhs - rhs|."""
        return -abs(lhs - rhs)

    def judge(self, evidence: Evidence) -> Judgement:
        """Zero is approached if the distance falls along the ladder and its fall does not slow.

        A distance that settles at a constant falls ever more slowly in log-log: the exponent
        between the last two rungs is then below half of the overall one, and in the end nearly
        zero.
        """
        ((variable, ladder),) = evidence.ladders.items()
        found = climb(ladder, _distance)
        rungs, distance, error = found.rungs, found.quantity, found.error
        reached = found.applies_throughout & (distance[:, -1] <= error[:, -1])
        direction = 1.0 if rungs[-1] > rungs[0] else -1.0
        fitted = found.resolved & ~reached
        fit = fit_power(rungs**direction, distance[fitted])
        resolved = int((reached & _resolves(found)).sum()) + fit.rows
        verdict, note = self._verdict(found, fit, reached, fitted, resolved)
        floor = _floor(rungs, distance[fitted])
        if verdict is Verdict.HOLDS and floor > LIMIT_RESOLUTION:
            verdict, note = Verdict.INCONCLUSIVE, f"it may come to rest at {floor:.0%} of the first"
        elif verdict is Verdict.HOLDS and fit.rows:
            note = f"excludes a rest above {LIMIT_RESOLUTION:.0%} of the first distance"
        power = f"distance ~ {variable}^({direction * fit.exponent:.3f} +- {fit.half_width:.3f})"
        worst = int(np.nanargmax(np.where(np.isnan(distance[:, -1]), -1, distance[:, -1])))
        return Judgement(
            verdict,
            "; ".join(filter(None, [power if fit.rows else "", note])),
            lhs=float(distance[worst, -1]),
            rhs=0.0,
            slack=-float(distance[worst, -1]),
            error=float(error[worst, -1]),
            error_parts={"ladder": fit.half_width, "numerical": float(error[worst, -1])},
            checked=int(found.applies_throughout.sum()),
            resolved=resolved,
            path={"rungs": rungs, "quantity": distance},
            row=worst,
        )

    def _verdict(
        self, found: Climb, fit: Fit, reached: np.ndarray, fitted: np.ndarray, resolved: int
    ) -> tuple[Verdict, str]:
        """The verdict, and a note where the fitted power does not say why."""
        applies = found.applies_throughout
        if fit.rows and (fit.exponent - fit.half_width >= 0 or fit.settles):
            return Verdict.VIOLATED, ""
        if found.undefined.any():
            return Verdict.INCONCLUSIVE, undefined_note(found)
        partly = found.applies.any(1) & ~applies
        if partly.any():
            share = f"{partly.sum()} of {len(partly)} instances"
            return Verdict.INCONCLUSIVE, f"for {share} the claim applies on some rungs only"
        if (applies & ~reached & ~fitted).any():
            return Verdict.INCONCLUSIVE, "some distances exceed their errors on some rungs only"
        if not resolved or resolved < RESOLVED_SHARE * applies.sum():
            return Verdict.INCONCLUSIVE, unresolved_note(found, resolved)
        if not fit.rows:
            return Verdict.HOLDS, "the limit is reached to within the error"
        if fit.exponent + fit.half_width < 0 and fit.last <= fit.exponent / 2:
            return Verdict.HOLDS, ""
        return Verdict.INCONCLUSIVE, ""


def _floor(rungs: np.ndarray, distance: np.ndarray) -> float:
    """What c + a * rung^-p tends to, as a share of its first value; 0 without distances.

    Through the first rung, the last and their geometric mean: powers have none, and what falls as
    slowly as 1 / log n is not told from what comes to rest.
    """
    if not len(distance):
        return 0.0
    along = np.log(rungs) * (1 if rungs[-1] > rungs[0] else -1)
    mean = np.mean(np.log(distance / distance[:, :1]), axis=0)
    middle = float(np.exp(np.interp((along[0] + along[-1]) / 2, along, mean)))
    last = float(np.exp(mean[-1]))
    bend = 1 + last - 2 * middle
    return (last - middle**2) / bend if bend > 0 else 1.0


def _distance(points: Points) -> tuple[np.ndarray, np.ndarray]:
    return np.abs(points.lhs - points.rhs), np.ones_like(points.lhs)


def _resolves(found: Climb) -> np.ndarray:
    """Per instance, whether the last error would have shown a distance that stays.

    It is far below the first distance, or a small share of the sides.
    """
    first = np.where(found.quantity[:, 0] > found.error[:, 0], found.quantity[:, 0], 0.0)
    enough = np.maximum(LIMIT_RESOLUTION * first, EQUALITY_RESOLUTION * found.scale[:, -1])
    return found.error[:, -1] <= enough


def tends_to(
    name: str,
    lhs: Side,
    rhs: Side,
    *,
    over: Rungs,
    where: Side | None = None,
    statement: str = "",
) -> Limit:
    """|lhs - rhs| (its largest entry) shrinks to zero over the ladder `{variable: rungs}`."""
    return Limit(name, lhs, rhs, where, statement, over=over)
