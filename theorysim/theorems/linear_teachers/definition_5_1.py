"""Balanced weights stay balanced, and a near zero start balances them.

Definition 5.1 of Shachaf et al. (2021), Eq. 4, for three layers: 0-balanced weights stay so while
they are pretrained and fine-tuned; gradient flow conserves W_j^T W_j - W_(j+1) W_(j+1)^T from any
start. From the prose: a near zero random initialisation achieves 0-balancedness, here relative to
the weights that pretraining reached, and leaves a first layer that knows theta_S alone.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.numerics.products import dot
from theorysim.systems import deep_linear_network as network
from theorysim.theorems.linear_teachers import _deep as deep
from theorysim.theorems.linear_teachers import _problem as problem

DEPTH = 3
SCALES = (1e-1, 1e-2, 1e-3)


def _balanced(x: claims.Instance, key) -> network.Layers:
    return deep.balanced(x, key, DEPTH, x.scale * x.start)


def _random(x: claims.Instance, key) -> network.Layers:
    return network.gaussian_layers(key, x.d, (x.d,) * (DEPTH - 1), x.scale)


def _trained(x: claims.Instance, layers: network.Layers, samples, teacher) -> network.Layers:
    labels = dot(samples, teacher)
    return deep.flows({DEPTH: layers}, samples, labels, x.tolerance_scale)[DEPTH]


def _pretrained(x: claims.Instance, layers: network.Layers) -> network.Layers:
    """The path of pretraining on d samples, orthogonal ones."""
    return _trained(x, layers, jnp.sqrt(float(x.d)) * x.frame, problem.source(x))


class Products(NamedTuple):
    """Both sides of Eq. 4 for one j, along a path."""

    left: Float[Array, "times d_j d_j"]
    """W_j^T W_j"""
    right: Float[Array, "times d_j d_j"]
    """W_(j+1) W_(j+1)^T"""


class NearZero(NamedTuple):
    """What pretraining from a random start leaves, relative to the weights that it reached."""

    imbalance: Float[Array, ""]
    strayed: Float[Array, ""]
    """W_1's part outside theta_S"""


def _transposed(layer: Float[Array, "*times a b"]) -> Float[Array, "*times b a"]:
    return jnp.swapaxes(layer, -1, -2)


def _products(layers: network.Layers) -> list[Products]:
    return [
        Products(dot(_transposed(layer), layer), dot(after, _transposed(after)))
        for layer, after in pairwise(layers)
    ]


def _misplaced(layers: network.Layers) -> list[Products]:
    """A mutant's: W_j W_j^T and W_(j+1)^T W_(j+1)."""
    return [
        Products(dot(layer, _transposed(layer)), dot(_transposed(after), after))
        for layer, after in pairwise(layers)
    ]


def _simulate(start: Callable, products: Callable = _products) -> Callable:
    """Both sides of Eq. 4 along pretraining and then fine-tuning, for every j."""

    def simulate(x: claims.Instance, key) -> list[Products]:
        before = _pretrained(x, start(x, key))
        ready = jax.tree.map(lambda leaf: leaf[-1], before)
        after = _trained(x, ready, problem.data(x), problem.target(x))
        both = jax.tree.map(lambda *parts: jnp.concatenate(parts), before, after)
        return products(both)

    return simulate


def simulate_small(x: claims.Instance, key) -> NearZero:
    layers = jax.tree.map(lambda leaf: leaf[-1], _pretrained(x, _random(x, key)))
    along = jnp.outer(x.source_direction, dot(x.source_direction, layers[0]))
    strayed = jnp.linalg.norm(layers[0] - along) / jnp.linalg.norm(layers[0])
    return NearZero(network.imbalance(layers), strayed)


def _eq_4(j: int):
    return claims.equal(
        f"Eq. 4, j = {j}",
        lambda r: r.sim[j - 1].left,
        lambda r: r.sim[j - 1].right,
        statement="W_j^T W_j = W_(j+1) W_(j+1)^T",
    )


def _difference(r, j: int) -> Float[Array, "times d_j d_j"]:
    """W_j^T W_j - W_(j+1) W_(j+1)^T."""
    return r.sim[j - 1].left - r.sim[j - 1].right


CONSERVED = tuple(
    claims.equal(
        f"conserved, j = {j}",
        lambda r, j=j: _difference(r, j),
        lambda r, j=j: _difference(r, j)[:1],
    )
    for j in (1, 2)
)


def _vanishes(name: str, quantity: Callable):
    return claims.tends_to(name, quantity, lambda r: 0.0, over={"scale": SCALES})


theorem = claims.Theorem(
    space=problem.problem_space(start=claims.UnitVector("d"), scale=claims.Real(1e-3, 1, log=True)),
    simulate=_simulate(_balanced),
    claims=tuple(_eq_4(j) for j in (1, 2)),
    source=claims.Printed(
        "Section 5, Definition 5.1, Eq. 4",
        "W_j(t)^T W_j(t) = W_(j+1)(t) W_(j+1)(t)^T for j in [L - 1]",
    ),
    readings=(
        claims.Reading(
            "any start",
            claims.Finding("the conservation law of gradient flow behind the definition"),
            simulate=_simulate(_random),
            claims=CONSERVED,
            note="gradient flow conserves the difference of both sides of Eq. 4 from any start",
        ),
        claims.Reading(
            "near zero random initialisation",
            claims.Printed(
                "Section 5, below Definition 5.1, and Section 5.2, below Theorem 5.5",
                "0-balanced, which can be achieved with a near zero random initialization; this "
                "property leads to the degeneracy of the output of the frozen k-layers",
            ),
            simulate=simulate_small,
            claims=(
                _vanishes("imbalance", lambda r: r.sim.imbalance),
                _vanishes("W_1 outside theta_S", lambda r: r.sim.strayed),
            ),
        ),
    ),
    mutants=(
        claims.Mutant("the transposes misplaced", simulate=_simulate(_balanced, _misplaced)),
        claims.Mutant(
            "a random start of any size",
            of=("near zero random initialisation",),
            simulate=lambda x, key: simulate_small(x.replace(scale=jnp.ones(())), key),
        ),
    ),
    instances=8,
    mutant_instances=8,
    integrates=True,
)
