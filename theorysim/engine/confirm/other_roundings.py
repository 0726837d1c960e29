"""Whether a violation is still there in Monte Carlo arithmetic, where every rounding errs anew."""

from __future__ import annotations

from functools import lru_cache

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from theorysim.claims.instance import Instance, SizeItems, size_items
from theorysim.engine.confirm.suspect import Answer, Case, Finding, Suspect
from theorysim.engine.measure.errors import (
    ROUNDING_SAFETY,
    replace_tolerance_scale,
    runs,
    simulation_keys,
)
from theorysim.jaxprs.monte_carlo_arithmetic import perturb_rounding

# How often the sides are computed with other roundings. A result that was rounded once errs alike
# in all of them with a chance of 2^-7.
LANES = 8

MEANS = "Monte Carlo arithmetic"


def look_with_other_roundings(case: Case, suspects: list[Suspect]) -> list[Finding]:
    """Whether each suspect violates its claim beyond what its roundings make of it.

    The estimate of rounding is that of a measurement: a multiple of the largest change of both
    sides along the whole path, here under other directions of every single rounding.
    """
    program = _program(case, size_items(suspects[0].instance))
    x = jax.tree.map(lambda *leaves: np.stack(leaves), *(s.instance for s in suspects))
    lhs, rhs = program(x, np.stack([np.asarray(s.key) for s in suspects]))
    return [
        _judged(case, suspect, np.asarray(left), np.asarray(right))
        for suspect, left, right in zip(suspects, lhs, rhs, strict=True)
    ]


@lru_cache(maxsize=64)
def _program(case: Case, sizes: SizeItems):
    """Both sides in every lane, compiled once per claim and sizes."""
    del sizes
    theorem, reading, claim = case.theorem, case.reading, case.claim

    def sides(lane: Array, x: Instance, key_data: Array) -> tuple[Array, Array]:
        del lane  # it enters the directions of all roundings
        keys = simulation_keys(jax.random.wrap_key_data(key_data), theorem.keys)
        x = replace_tolerance_scale(x, 1.0 if theorem.integrates else jnp.nan)
        lhs, rhs = claim.sides(runs((reading,), x, keys)[reading.name])
        return jnp.ravel(lhs), jnp.ravel(rhs)

    lanes = jnp.arange(1.0, 1 + LANES)
    several = jax.vmap(perturb_rounding(sides), (0, None, None))
    return jax.jit(jax.vmap(lambda x, key_data: several(lanes, x, key_data)))


def _judged(case: Case, suspect: Suspect, lhs: np.ndarray, rhs: np.ndarray) -> Finding:
    points = suspect.points
    applies = points.applies[0]
    spread = sum(
        float(np.max(np.abs(lanes - plain)[:, applies]))
        for lanes, plain in ((lhs, points.lhs), (rhs, points.rhs))
    )
    least = ROUNDING_SAFETY * spread + points.non_rounding_error[0]
    with np.errstate(invalid="ignore"):
        room = np.max(case.claim.slack(lhs, rhs), axis=0)
        violated = suspect.violated & (room < -least)
    if not violated.any():
        return Finding(Answer.VANISHED, MEANS)
    return Finding(Answer.VIOLATED, MEANS, int(np.argmin(np.where(violated, room, np.inf))))
