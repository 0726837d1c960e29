"""Smaller or more quickly decaying features bring the inflection point forward.

After Proposition 4.3 of Springer et al. (2025): "smaller or more quickly decaying features will
induce a smaller inflection point". Smaller features are no larger one by one, in whatever order
they decay; more quickly decaying ones are multiplied by a decreasing sequence of factors. The
inflection point is that of Definition 4.2, or the last stage where the loss never rises.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.systems.ideal_stages import inflection_point
from theorysim.theorems.overtraining import _perturbation as noise
from theorysim.theorems.overtraining import proposition_4_3 as proposition
from theorysim.theorems.overtraining._stages import ideal_modes


class Rises(NamedTuple):
    """L~(n) - L~(n - 1) at the ideal states, n = 2, ..., d, of each sequence of features."""

    given: Float[Array, "keys d-1"]
    smaller: Float[Array, "keys d-1"]
    decaying: Float[Array, "keys d-1"]
    of_equal_sum: Float[Array, "keys d-1"]


def _smaller(x: claims.Instance):
    """Features times factors of at most one, and none larger than the one before."""
    return jax.lax.cummin(x.pre * x.decay)


def _decaying(x: claims.Instance):
    """The same first features, and the others times decreasing factors."""
    kept = jnp.arange(x.d) < x.kept
    return x.pre * jnp.cumprod(jnp.where(kept, 1.0, x.decay))


def simulate(x: claims.Instance, key) -> Rises:
    def rises(pre):
        return proposition.increments(x.replace(pre=pre), ideal_modes(x.scale * pre)[1:])

    decaying = _decaying(x)
    of_equal_sum = decaying * jnp.sum(x.pre) / jnp.sum(decaying)
    return Rises(*map(rises, (x.pre, _smaller(x), decaying, of_equal_sum)))


def _earlier(name: str, of: Callable):
    """The inflection point comes no later."""
    return claims.at_most(
        name, lambda r: inflection_point(of(r.sim)) + 1, lambda r: inflection_point(r.sim.given) + 1
    )


SMALLER = _earlier("of smaller features", lambda sim: sim.smaller)
DECAYING = _earlier("of more quickly decaying features", lambda sim: sim.decaying)

theorem = claims.Theorem(
    space=noise.perturbation_space(
        d=claims.Size(4, low=2, high=32),
        decay=claims.Real(0.2, 1, log=True, shape="d"),
        kept=claims.Integer(1, "d"),
    ),
    simulate=simulate,
    claims=(SMALLER, DECAYING),
    source=claims.Printed(
        "after Proposition 4.3",
        "smaller or more quickly decaying features will induce a smaller inflection point",
    ),
    note="smaller means no larger: the point is an integer, and may stay. The first feature stays",
    readings=(
        claims.Reading(
            "of the same sum",
            claims.Finding("more quickly decaying features of the same sum, so of a larger first"),
            claims=(_earlier("of more quickly decaying features", lambda sim: sim.of_equal_sum),),
            note="what decays more quickly at the same sum begins larger, and may delay it",
        ),
    ),
    mutants=(
        claims.Mutant("they delay it", claims=(SMALLER.reversed(), DECAYING.reversed())),
        claims.Mutant(
            "and of a larger first",
            claims=(_earlier(DECAYING.name, lambda sim: sim.of_equal_sum),),
        ),
    ),
    instances=400,
)
