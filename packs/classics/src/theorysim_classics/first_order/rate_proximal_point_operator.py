"""The steps of the proximal point method shrink to sqrt((1 - 1/N)^(N-1) / N) R.

Gu and Yang (2020), Section 4, for maximal monotone operators: |x_N - x_(N-1)|^2 <=
(1 - 1/N)^(N-1) / N |x_0 - x*|^2. Attained by rotations of the plane.
"""

import jax.numpy as jnp

from theorysim import claims
from theorysim.numerics.descent import iterate_to
from theorysim_classics.first_order import _nonexpansive as maps
from theorysim_classics.first_order._tight import too_small


def simulate(x: claims.Instance, key):
    """The squared length of the last step."""
    before = iterate_to(maps.resolvent(x), maps.start(x), x.steps - 1)
    return jnp.sum((maps.resolvent(x)(before) - before) ** 2)


def predict(x: claims.Instance):
    return (1 - 1 / x.steps) ** (x.steps - 1) / x.steps * x.distance**2


RATE = claims.at_most("|x_N - x_(N-1)|^2", lambda r: r.sim, lambda r: r.theory)

theorem = claims.Theorem(
    space=maps.space(),
    simulate=simulate,
    predict=predict,
    claims=(RATE,),
    source=claims.Printed(
        "Gu and Yang 2020, Section 4",
        "|x_N - x_(N-1)|^2 <= (1 - 1/N)^(N-1) / N |x_0 - x*|^2",
    ),
    mutants=(
        too_small(RATE),
        claims.Mutant("1 / (e N)", predict=lambda x: x.distance**2 / (jnp.e * x.steps)),
    ),
    instances=512,
    mutant_instances=4096,
)
