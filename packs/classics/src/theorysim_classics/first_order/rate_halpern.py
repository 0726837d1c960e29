"""Halpern's iteration makes the residual of a nonexpansive map 2 R / (N + 1).

Lieder (2021), Theorem 2.1: x_(k+1) = x_0 / (k + 2) + (1 - 1 / (k + 2)) T x_k reaches
|x_N - T x_N| <= 2 |x_0 - x*| / (N + 1). Attained by a map of one variable.
"""

import jax.numpy as jnp

from theorysim import claims
from theorysim.numerics.descent import iterate_to
from theorysim_classics.first_order import _nonexpansive as maps
from theorysim_classics.first_order._tight import too_small


def simulate(x: claims.Instance, key):
    """The residual at the end."""
    apply, start = maps.operator(x), maps.start(x)

    def step(state):
        k, w = state
        return k + 1, start / (k + 2) + (1 - 1 / (k + 2)) * apply(w)

    end = iterate_to(step, (0.0, start), x.steps)[1]
    return jnp.linalg.norm(end - apply(end))


def predict(x: claims.Instance):
    return 2 * x.distance / (x.steps + 1)


RATE = claims.at_most("|x_N - T x_N|", lambda r: r.sim, lambda r: r.theory)

theorem = claims.Theorem(
    space=maps.space(),
    simulate=simulate,
    predict=predict,
    claims=(RATE,),
    source=claims.Printed("Lieder 2021, Theorem 2.1", "|x_N - T x_N| <= 2 |x_0 - x*| / (N + 1)"),
    mutants=(too_small(RATE),),
    instances=512,
    mutant_instances=16384,
)
