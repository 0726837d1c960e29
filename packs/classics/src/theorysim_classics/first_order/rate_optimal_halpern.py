"""The optimal Halpern iteration of contractions: (1 + 1 / gamma) R / (1 + gamma + ... + gamma^N).

Park and Ryu (2022), Corollary 3.3: for a map T that contracts by 1 / gamma, x_(k+1) =
x_0 / phi_(k+1) + (1 - 1 / phi_(k+1)) T x_k with phi_k = 1 + gamma^2 + ... + gamma^(2 k) reaches
|x_N - T x_N| <= (1 + 1 / gamma) R / (1 + gamma + ... + gamma^N). Attained in one variable.
"""

import jax.numpy as jnp

from theorysim import claims
from theorysim.numerics.descent import iterate_to
from theorysim_classics.first_order import _nonexpansive as maps
from theorysim_classics.first_order._tight import too_small


def simulate(x: claims.Instance, key):
    """The residual at the end."""
    nonexpansive, start = maps.operator(x), maps.start(x)

    def step(state):
        power, total, w = state
        power = power * x.growth**2
        total = total + power
        return power, total, start / total + (1 - 1 / total) * nonexpansive(w) / x.growth

    one = jnp.ones_like(x.growth)
    end = iterate_to(step, (one, one, start), x.steps)[2]
    return jnp.linalg.norm(end - nonexpansive(end) / x.growth)


def predict(x: claims.Instance):
    powers = jnp.sum(x.growth ** jnp.arange(x.steps + 1))
    return (1 + 1 / x.growth) / powers * x.distance


RATE = claims.at_most("|x_N - T x_N|", lambda r: r.sim, lambda r: r.theory)

theorem = claims.Theorem(
    space=maps.space(steps=3, growth=claims.Real(1, 2)),
    simulate=simulate,
    predict=predict,
    claims=(RATE,),
    source=claims.Printed(
        "Park and Ryu 2022, Corollary 3.3",
        "|x_N - T x_N| <= (1 + 1 / gamma) |x_0 - x*| / (1 + gamma + ... + gamma^N)",
    ),
    mutants=(too_small(RATE),),
    instances=512,
    mutant_instances=16384,
)
