"""For all signs there are features that rank-one fine-tuning makes orthonormal.

Claim 2 of Dayi and Chen (2024): for d > 1 + k(k+1)/2 there are unit w_i and u orthogonal to them
with <w_i + c_i u, w_j + c_j u> = 0 for i != j, that is <w_i, w_j> = -c_i c_j. Constructed as in the
proof: 1/sqrt(k) on a coordinate of one's own and one coordinate per pair.
"""

from __future__ import annotations

import jax.numpy as jnp

from theorysim.claims import Instance, Mutant, Real, Size, Space, Theorem, equal
from theorysim.theorems.low_rank import _construction as construction
from theorysim.theorems.low_rank._problem import sign


def _simulate(flip: float):
    def simulate(x: Instance, key):
        signs = sign(x.signs)
        rows = construction.features(signs, flip)
        u = construction.direction(x.k)
        moved = rows + jnp.outer(signs, u) / jnp.sqrt(x.k)
        lengths = jnp.linalg.norm(moved, axis=1)
        return {
            "lengths": jnp.linalg.norm(rows, axis=1),
            "inside": rows @ u,
            "gram": moved @ moved.T / jnp.outer(lengths, lengths),
        }

    return simulate


theorem = Theorem(
    space=Space(k=Size(4, low=2, high=40), signs=Real(-1, 1, shape="k")),
    simulate=_simulate(1.0),
    claims=(
        equal("unit features", lambda r: r.sim["lengths"], lambda r: 1.0),
        equal("u is orthogonal to them", lambda r: 1 + r.sim["inside"], lambda r: 1.0),
        equal("orthonormal neurons", lambda r: 1 + r.sim["gram"], lambda r: 1 + jnp.eye(r.x.k)),
    ),
    mutants=(Mutant("<w_i, w_j> = +c_i c_j", simulate=_simulate(-1.0)),),
)
