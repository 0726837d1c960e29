"""A quantity that grows as a power of what climbs a ladder."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from theorysim.claims.evidence import RESOLVED_SHARE, Evidence, Judgement, Points
from theorysim.claims.kinds.base import Attack, Claim, Rungs, Side, only_ladder
from theorysim.claims.kinds.ladders import climb, fit_power, undefined_note, unresolved_note
from theorysim.claims.run import Run
from theorysim.claims.verdict import Verdict

# A fitted exponent known to within this decides nothing finer: the printed exponents of the field
# are multiples of 1/2.
EXPONENT_RESOLUTION = 0.25

RELATIONS = ("equal", "at_most", "at_least")


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
        if self.power_relation not in RELATIONS:
            raise ValueError(f"relation {self.power_relation!r}: expected one of {RELATIONS}")

    def slack(self, lhs: Any, rhs: Any) -> Any:
        """Room of a measured exponent (lhs) against the printed one (rhs)."""
        difference = lhs - rhs
        room = {"equal": -abs(difference), "at_most": -difference, "at_least": difference}
        return room[self.power_relation]

    def with_exponent(self, exponent: float) -> PowerLaw:
        """A mutant: another power."""
        return replace(self, exponent=exponent)

    def judge(self, evidence: Evidence) -> Judgement:
        """The printed power against the fitted one, which decides down to its half width."""
        ((variable, ladder),) = evidence.ladders.items()
        found = climb(ladder, _value)
        resolved = found.resolved
        fit = fit_power(found.rungs, found.quantity[resolved], found.systematic[resolved])
        room = self.slack(fit.exponent, self.exponent)
        if not fit.rows or np.isnan(fit.half_width):
            verdict, note = Verdict.INCONCLUSIVE, "no instance has a positive quantity on all rungs"
        elif room < -fit.half_width:
            verdict, note = Verdict.VIOLATED, ""
        elif found.undefined.any():
            verdict, note = Verdict.INCONCLUSIVE, undefined_note(found)
        elif fit.rows < RESOLVED_SHARE * found.applies_throughout.sum():
            verdict, note = Verdict.INCONCLUSIVE, unresolved_note(found, fit.rows)
        elif room > fit.half_width or fit.half_width <= EXPONENT_RESOLUTION:
            verdict, note = Verdict.HOLDS, ""
        else:
            verdict, note = Verdict.INCONCLUSIVE, "the exponent is not known well enough"
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
    `O(d ** exponent)`: the fitted exponent is at most the printed.
    """
    return PowerLaw(name, quantity, _unit, where, statement, False, over, exponent, relation)
