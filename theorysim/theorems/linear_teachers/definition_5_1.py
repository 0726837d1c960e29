"""Balanced weights stay balanced, and a near zero start balances them.

Definition 5.1 of Shachaf et al. (2021), Eq. 4, for three layers: 0-balanced weights stay so while
they are pretrained and fine-tuned; gradient flow conserves W_j^T W_j - W_(j+1) W_(j+1)^T from any
start. From the prose: a near zero random initialisation achieves 0-balancedness, here relative to
the weights that pretraining reached, and leaves a first layer that knows theta_S alone.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import jax
import jax.numpy as jnp

from theorysim.claims import (
    Instance,
    Mutant,
    Printed,
    Reading,
    Real,
    Theorem,
    UnitVector,
    equal,
    tends_to,
)
from theorysim.numerics.products import dot
from theorysim.systems import deep_linear_network as network
from theorysim.theorems.linear_teachers import _deep as deep
from theorysim.theorems.linear_teachers._problem import data, problem_space, source, target

DEPTH = 3
SCALES = (1e-1, 1e-2, 1e-3)


def _balanced(x: Instance, key) -> network.Layers:
    return deep.balanced(x, key, DEPTH, x.scale * x.start)


def _random(x: Instance, key) -> network.Layers:
    return network.gaussian_layers(key, x.d, (x.d,) * (DEPTH - 1), x.scale)


def _trained(x: Instance, layers: network.Layers, samples, teacher) -> network.Layers:
    labels = dot(samples, teacher)
    return deep.flows({DEPTH: layers}, samples, labels, x.tolerance_scale)[DEPTH]


def _pretrained(x: Instance, layers: network.Layers) -> network.Layers:
    """The path of pretraining on d samples, orthogonal ones."""
    return _trained(x, layers, jnp.sqrt(float(x.d)) * x.frame, source(x))


def _products(layers: network.Layers) -> list:
    """W_j^T W_j and W_(j+1) W_(j+1)^T for every j, along a path."""
    return [
        (dot(jnp.swapaxes(w, -1, -2), w), dot(after, jnp.swapaxes(after, -1, -2)))
        for w, after in pairwise(layers)
    ]


def _simulate(start: Callable) -> Callable:
    """Both sides of Eq. 4 along pretraining and then fine-tuning."""

    def simulate(x: Instance, key):
        before = _pretrained(x, start(x, key))
        ready = jax.tree.map(lambda leaf: leaf[-1], before)
        after = _trained(x, ready, data(x), target(x))
        both = jax.tree.map(lambda *parts: jnp.concatenate(parts), before, after)
        return _products(both)

    return simulate


def simulate_small(x: Instance, key):
    """Relative imbalance after pretraining from a random start, and W_1's part outside theta_S."""
    layers = jax.tree.map(lambda leaf: leaf[-1], _pretrained(x, _random(x, key)))
    along = jnp.outer(x.source_direction, dot(x.source_direction, layers[0]))
    strayed = jnp.linalg.norm(layers[0] - along) / jnp.linalg.norm(layers[0])
    return {"imbalance": network.imbalance(layers), "strayed": strayed}


def _eq_4(j: int, right: Callable):
    return equal(f"Eq. 4, j = {j}", lambda r: r.sim[j - 1][0], lambda r: right(r.sim[j - 1][1]))


def _difference(r, j: int):
    """W_j^T W_j - W_(j+1) W_(j+1)^T, next to the weights' own size."""
    left, right = r.sim[j - 1]
    return left - right


CONSERVED = tuple(
    equal(
        f"conserved, j = {j}",
        lambda r, j=j: _difference(r, j),
        lambda r, j=j: _difference(r, j)[:, :1],
    )
    for j in (1, 2)
)


def _vanishes(name: str, quantity: Callable):
    return tends_to(
        name,
        quantity,
        lambda r: 0.0,
        over={"scale": SCALES},
    )


theorem = Theorem(
    space=problem_space(start=UnitVector("d"), scale=Real(1e-3, 1, log=True)),
    simulate=_simulate(_balanced),
    claims=tuple(_eq_4(j, lambda right: right) for j in (1, 2)),
    readings=(
        Reading("any start", Printed("", ""), simulate=_simulate(_random), claims=CONSERVED),
        Reading(
            "near zero random initialisation",
            Printed("", ""),
            simulate=simulate_small,
            claims=(
                _vanishes("imbalance", lambda r: r.sim["imbalance"]),
                _vanishes("W_1 outside theta_S", lambda r: r.sim["strayed"]),
            ),
        ),
    ),
    mutants=(
        Mutant(
            "up to a factor of 1.001",
            claims=tuple(_eq_4(j, lambda right: 1.001 * right) for j in (1, 2)),
        ),
    ),
    instances=8,
    mutant_instances=8,
    integrates=True,
)
