"""The moments of the gradient are bounded, of each sample's and of the population's.

Condition 2 of Dayi and Chen (2024), Section 3.1, for p = 1: for some V >= 1 the sample's gradient L
has E|L|^2 / d and E<L, u>^2 at most mu_1 V, the population's |grad Phi|^2 is at most V, at every
overlap (here at 5 of them). The moments are means over inputs in d dimensions, which the reduced
chain draws; the population's gradient has length |h(m)| sqrt(1 - m^2) (Proposition 1).
"""

import jax
import jax.numpy as jnp

from theorysim import claims
from theorysim.systems import rank_one_chain as chain
from theorysim.theorems.low_rank.condition_3 import SETTING, condition_space

OVERLAPS, DRAWS = 5, 256


def _overlaps():
    return jnp.linspace(0.0, 1.0, OVERLAPS)


def moment(x: claims.Instance):
    """The larger one of E|L|^2 / d and E<L, u>^2, at its worst overlap."""
    given, value = SETTING.reduced(x), SETTING.activation().value

    def at(overlap):
        samples = chain.draw(given, x.dimension, jax.random.key(0), DRAWS)
        state = chain.begin(given, overlap)
        take = jax.vmap(lambda sample: chain.step(given, value, (0.0, None), state, sample)[1])
        made = take(samples)
        return jnp.maximum(jnp.mean(made.square) / x.dimension, jnp.mean(made.towards**2))

    return jnp.max(jax.vmap(at)(_overlaps()))


def drift(x: claims.Instance):
    """The largest |grad Phi|^2."""
    m = _overlaps()
    return jnp.max(SETTING.speed(SETTING.problem(x), m) ** 2 * (1 - m**2))


CONDITION_2 = claims.Assumption(
    "Condition 2",
    claims.Printed(
        "Condition 2, Section 3.1",
        "d^-p E|L|^2p, E<L, u>^2p <= (mu_p V_k)^p for all p; |grad Phi(u^)|^2 <= V_k; V_k >= 1",
    ),
    {
        "Condition 2: V >= 1": lambda x: x.variance - 1,
        "Condition 2: E|L|^2 / d, E<L, u>^2 <= mu_1 V": lambda x: (
            x.constant * x.variance - moment(x)
        ),
        "Condition 2: |grad Phi|^2 <= V": lambda x: x.variance - drift(x),
    },
)

CLAIMS = CONDITION_2.can_be_met()

theorem = claims.Theorem(
    space=condition_space(),
    simulate=lambda x, key: x.variance,
    claims=CLAIMS,
    source=CONDITION_2.source,
    survivors=claims.unrefutable(CLAIMS),
)
