"""Balanced weights stay balanced.

Definition 5.1 of Shachaf et al. (2021), Eq. 4, for three layers: 0-balanced weights stay so while
they are pretrained and fine-tuned. definition-5.1-near-zero has starts that become 0-balanced.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.numerics.products import dot
from theorysim.theorems.linear_teachers import _deep as deep
from theorysim.theorems.linear_teachers import _problem as problem

DEPTH = 3


class Products(NamedTuple):
    """Both sides of Eq. 4 for one j along a path: W_j^T W_j and W_(j+1) W_(j+1)^T."""

    left: Float[Array, "times d_j d_j"]
    right: Float[Array, "times d_j d_j"]


def _balanced(x: claims.Instance, key) -> deep.Layers:
    return deep.balanced(x, key, DEPTH, x.scale * x.start)


def _sides(layer, after) -> Products:
    return Products(dot(layer.mT, layer), dot(after, after.mT))


def _misplaced(layer, after) -> Products:
    """A mutant's: W_j W_j^T and W_(j+1)^T W_(j+1)."""
    return Products(dot(layer, layer.mT), dot(after.mT, after))


def _simulate(start: Callable, sides: Callable = _sides) -> Callable:
    """Both sides of Eq. 4 along pretraining and then fine-tuning, for every j."""

    def simulate(x: claims.Instance, key) -> list[Products]:
        before = deep.pretraining(x, start(x, key))
        after = deep.stage(x, deep.last(before), problem.data(x), problem.target(x))
        both = jax.tree.map(lambda *parts: jnp.concatenate(parts), before, after)
        return [sides(*layers) for layers in pairwise(both)]

    return simulate


def _eq_4(j: int):
    return claims.equal(
        f"Eq. 4, j = {j}",
        lambda r: r.sim[j - 1].left,
        lambda r: r.sim[j - 1].right,
        statement="W_j^T W_j = W_(j+1) W_(j+1)^T",
    )


def _conserved(j: int):
    def difference(r) -> Float[Array, "times d_j d_j"]:
        return r.sim[j - 1].left - r.sim[j - 1].right

    return claims.equal(f"conserved, j = {j}", difference, lambda r: difference(r)[:1])


theorem = claims.Theorem(
    space=deep.start_space(),
    simulate=_simulate(_balanced),
    claims=(_eq_4(1), _eq_4(2)),
    source=claims.Printed("Definition 5.1, Eq. 4", "W_j(t)^T W_j(t) = W_(j+1)(t) W_(j+1)(t)^T"),
    readings=(
        claims.Reading(
            "any start",
            claims.Finding("the conservation law of gradient flow behind the definition"),
            simulate=_simulate(lambda x, key: deep.random_start(x, key, DEPTH)),
            claims=(_conserved(1), _conserved(2)),
            note="gradient flow conserves the difference of both sides of Eq. 4 from any start",
        ),
    ),
    mutants=(claims.Mutant("the transposes misplaced", simulate=_simulate(_balanced, _misplaced)),),
    instances=8,
    mutant_instances=8,
    integrates=True,
)
