"""Smaller or more quickly decaying features bring the inflection point forward.

After Proposition 4.3 of Springer et al. (2025): "smaller or more quickly decaying features will
induce a smaller inflection point". Features are multiplied by a decreasing sequence of factors of
at most one; the inflection point is that of Definition 4.2, or the last stage where the loss never
rises.
"""

from collections.abc import Callable

import jax.numpy as jnp

from theorysim import claims
from theorysim.systems.ideal_stages import inflection_point
from theorysim.theorems.overtraining import _perturbation as noise
from theorysim.theorems.overtraining import proposition_4_3 as proposition
from theorysim.theorems.overtraining._stages import ideal_modes


def _decayed(x: claims.Instance):
    """The features times decreasing factors."""
    return x.replace(pre=x.pre * jnp.cumprod(x.decay))


def simulate(x: claims.Instance, key):
    """L~(n) - L~(n - 1) at the ideal states, n = 2, ..., d, for both sequences of features."""
    return tuple(
        proposition.increments(y, ideal_modes(y.scale * y.pre)[1:]) for y in (x, _decayed(x))
    )


def _point(which: int) -> Callable:
    return lambda r: inflection_point(r.sim[which]) + 1


EARLIER = claims.at_most("inflection point", _point(1), _point(0))

theorem = claims.Theorem(
    space=noise.perturbation_space(
        d=claims.Size(4, low=2, high=32), decay=claims.Real(0.2, 1, log=True, shape="d")
    ),
    simulate=simulate,
    claims=(EARLIER,),
    source=claims.Printed(
        "after Proposition 4.3",
        "smaller or more quickly decaying features will induce a smaller inflection point",
    ),
    note="smaller means no larger: the point is an integer, and may stay",
    mutants=(claims.Mutant("they delay it", claims=(EARLIER.reversed(),)),),
)
