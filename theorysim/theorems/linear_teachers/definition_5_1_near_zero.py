"""A near zero start balances the weights, and leaves a first layer that knows the source alone.

Prose below Definition 5.1 and Theorem 5.5 of Shachaf et al. (2021), for three layers: a near zero
random initialisation achieves 0-balancedness, here relative to the weights that pretraining
reached, and the degeneracy of what frozen layers can output.
"""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.numerics.products import dot
from theorysim.systems.deep_linear_network import imbalance
from theorysim.theorems.linear_teachers import _deep as deep

DEPTH = 3


class NearZero(NamedTuple):
    """The imbalance and W_1's part outside theta_S, relative to the weights."""

    imbalance: Float[Array, ""]
    strayed: Float[Array, ""]


def simulate(x: claims.Instance, key) -> NearZero:
    layers = deep.last(deep.pretraining(x, deep.random_start(x, key, DEPTH)))
    along = jnp.outer(x.source_direction, dot(x.source_direction, layers[0]))
    strayed = jnp.linalg.norm(layers[0] - along) / jnp.linalg.norm(layers[0])
    return NearZero(imbalance(layers), strayed)


def simulate_any_size(x: claims.Instance, key) -> NearZero:
    return simulate(x.replace(scale=jnp.ones(())), key)


def _vanishes(name: str, part: str):
    quantity = lambda r: getattr(r.sim, part)  # noqa: E731
    return claims.tends_to(name, quantity, lambda r: 0.0, over={"scale": (1e-1, 1e-2, 1e-3)})


theorem = claims.Theorem(
    space=deep.start_space(),
    simulate=simulate,
    claims=(_vanishes("imbalance", "imbalance"), _vanishes("W_1 outside theta_S", "strayed")),
    printed="near zero random initialisation",
    source=claims.Printed(
        "Section 5, below Definition 5.1, and Section 5.2, below Theorem 5.5",
        "0-balanced, which can be achieved with a near zero random initialization; this "
        "property leads to the degeneracy of the output of the frozen k-layers",
    ),
    mutants=(claims.Mutant("a random start of any size", simulate=simulate_any_size),),
    instances=8,
    mutant_instances=8,
    integrates=True,
)
