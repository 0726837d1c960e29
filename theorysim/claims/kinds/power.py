"""A quantity that grows as a power of what climbs a ladder."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from theorysim.claims.evidence import RESOLVED_SHARE, Evidence, Judgement, Points
from theorysim.claims.kinds.base import Attack, Claim, Rungs, Side, only_ladder
from theorysim.claims.kinds.ladders import (
    Climb,
    Fit,
    climb,
    fit_power,
    undefined_note,
    unresolved_note,
)
from theorysim.claims.run import Run
from theorysim.claims.verdict import Verdict

# A claim holds where the interval of the exponent ends this near to the printed one, beyond it. A
# bound that is attained has an interval that straddles it, however long the ladder: what is
# excluded is an exponent beyond this distance. Printed exponents are multiples of 1/16 or coarser.
RESOLUTION = {"equal": 0.1, "at_most": 0.05, "at_least": 0.05}


@dataclass(frozen=True, eq=False)
class PowerLaw(Claim):
    """A positive quantity (lhs, one number per instance) grows as variable ** exponent.

    Attributes:
        exponent: the printed power.
        power_relation: how the measured exponent relates to it: "equal", "at_most", "at_least".
    """

    exponent: float = 0.0
    power_relation: str = "equal"

    kind: ClassVar[str] = "scales_as"
    attack: ClassVar[Attack] = Attack.RESAMPLE
    has_slack: ClassVar[bool] = False

    def __post_init__(self):
        only_ladder(self.name, self.over)
        if self.power_relation not in RESOLUTION:
            expected = tuple(RESOLUTION)
            raise ValueError(f"relation {self.power_relation!r}: expected one of {expected}")

    def slack(self, lhs: Any, rhs: Any) -> Any:
        """Room of a measured exponent (lhs) against the printed one (rhs)."""
        difference = lhs - rhs
        room = {"equal": -abs(difference), "at_most": -difference, "at_least": difference}
        return room[self.power_relation]

    def with_exponent(self, exponent: float) -> PowerLaw:
        """A mutant: another power."""
        return replace(self, exponent=exponent)

    def judge(self, evidence: Evidence) -> Judgement:
        """The printed power against the interval of the fitted one."""
        ((variable, ladder),) = evidence.ladders.items()
        found = climb(ladder, _value)
        resolved = found.resolved
        fit = fit_power(found.rungs, found.quantity[resolved], found.systematic[resolved])
        room = self.slack(fit.exponent, self.exponent)
        verdict, note = self._verdict(found, fit, room)
        measured = f"measured {variable}^({fit.exponent:.3f} +- {fit.half_width:.3f})"
        return Judgement(
            verdict,
            "; ".join(filter(None, [measured, note])),
            lhs=fit.exponent,
            rhs=self.exponent,
            slack=room,
            error=fit.half_width,
            error_parts={"ladder": fit.half_width},
            checked=int(found.applies_throughout.sum()),
            resolved=fit.rows,
            path={"rungs": found.rungs, "quantity": found.quantity},
            row=0,
        )

    def _verdict(self, found: Climb, fit: Fit, room: float) -> tuple[Verdict, str]:
        beyond, resolution = fit.half_width - room, RESOLUTION[self.power_relation]
        if not fit.rows and found.undefined.any():
            return Verdict.INCONCLUSIVE, undefined_note(found)
        if not fit.rows or np.isnan(fit.half_width):
            return Verdict.INCONCLUSIVE, "no instance has a positive quantity on all rungs"
        if self.exponent and not found.moves[found.resolved].any():
            note = "the ladder does not move the quantity beyond its error: it shows no exponent"
            return Verdict.INCONCLUSIVE, note
        near = beyond <= resolution
        to_the_end = fit.sustains(self.exponent, surely=near)
        equal_within = near and self.power_relation == "equal" and not to_the_end
        if room < -fit.half_width and not equal_within:
            return self._missed(fit, to_the_end)
        if found.undefined.any():
            return Verdict.INCONCLUSIVE, undefined_note(found)
        if fit.rows < RESOLVED_SHARE * found.applies_throughout.sum():
            return Verdict.INCONCLUSIVE, unresolved_note(found, fit.rows)
        if beyond > resolution:
            note = f"it may be {beyond:.2g} beyond the printed power; {resolution:g} are allowed"
            return Verdict.INCONCLUSIVE, note
        return Verdict.HOLDS, f"to within {beyond:.2g} of the printed power" if beyond > 0 else ""

    def _missed(self, fit: Fit, to_the_end: bool) -> tuple[Verdict, str]:
        """Violated where the exponents stay away from the printed one.

        Those of m^-0.5 (1 - m^-0.5) are on their way to it. Of d^-1.5 (1 + c / d), which is off by
        less than powers are told apart by, scatter may hide that: the last must surely stay away.
        """
        if to_the_end:
            return Verdict.VIOLATED, ""
        if not fit.sustains(self.exponent):
            note = f"the exponents move towards the printed one, up to {fit.last:.3f}"
            return Verdict.INCONCLUSIVE, note
        end = f"{fit.last:.3f} +- {fit.last_half_width:.3f}"
        return Verdict.INCONCLUSIVE, f"missed by little, and the last exponent is {end}"


def _value(points: Points) -> tuple[np.ndarray, np.ndarray]:
    return points.lhs, np.ones_like(points.lhs)


def _unit(run: Run) -> Array:
    return jnp.ones(())


def scales_as(
    name: str,
    quantity: Side,
    *,
    over: Rungs,
    exponent: float,
    relation: str = "equal",
    where: Side | None = None,
    statement: str = "",
) -> PowerLaw:
    """A positive quantity (one number per instance) grows as `variable ** exponent`.

    `over={"d": (8, 16, 32)}` names the variable and its rungs. `relation="at_most"` reads
    `O(d ** exponent)`: the fitted exponent is at most the printed, to within 0.05 where its
    interval straddles it; powers are equal to within 0.1.
    """
    return PowerLaw(name, quantity, _unit, where, statement, False, over, exponent, relation)
