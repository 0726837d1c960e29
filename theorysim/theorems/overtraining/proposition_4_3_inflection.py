"""Under Gaussian noise the loss turns at the stage before the first feature that noise outweighs.

The text after Proposition 4.3 of Springer et al. (2025) takes the inflection point (Definition 4.2)
for the smallest n such that 2 d gamma^2 > pre_n. The loss rises from stage n - 1 to that n, so that
the definition puts the point at n - 1.
"""

from collections.abc import Callable

import jax.numpy as jnp

from theorysim import claims
from theorysim.systems.ideal_stages import inflection_point
from theorysim.theorems.overtraining import _perturbation as noise
from theorysim.theorems.overtraining import proposition_4_3 as proposition
from theorysim.theorems.overtraining._stages import ideal_modes


def simulate(x: claims.Instance, key):
    """L~(n) - L~(n - 1) at the ideal states, for n = 2, ..., d."""
    return proposition.increments(x, ideal_modes(x.scale * x.pre)[1:])


def _outweighed(r: claims.Run):
    """The smallest n with 2 d gamma^2 > pre_n."""
    return jnp.argmax(2 * r.x.d * noise.variance(r.x) > r.x.scale * r.x.pre) + 1


def _exists(r: claims.Run):
    """Nonnegative where 2 d gamma^2 > pre_d, strictly."""
    room = 2 * r.x.d * noise.variance(r.x) - r.x.scale * r.x.pre[-1]
    return jnp.where(room > 0, room, -1)


def _at(stage: Callable) -> tuple:
    point = lambda r: inflection_point(r.sim) + 1  # noqa: E731
    return (claims.equal("inflection point", point, stage, where=_exists),)


theorem = claims.Theorem(
    space=proposition.theorem.space,
    simulate=simulate,
    claims=_at(_outweighed),
    source=claims.Printed(
        "after Proposition 4.3", "the smallest n such that 2 d gamma^2 > sigma_n"
    ),
    printed="inflection point in the text",
    note="with Definition 4.2 it is the stage before that n",
    readings=(
        claims.corrected(
            "r = n - 1 for that n, and r = 1 where n = 1",
            name="inflection point, corrected",
            claims=_at(lambda r: jnp.maximum(_outweighed(r) - 1, 1)),
            note="the loss rises from stage n - 1 to stage n",
        ),
    ),
    mutants=(claims.Mutant("one stage late, as printed", claims=_at(_outweighed)),),
)
