"""Two different rank-one perturbations of one norm that give the same network.

Example 1 of Dayi and Chen (2024): k = d = 2, w_i = e_i, sigma(z) = z^2, lambda = 1,
u = (1, 1)/sqrt(2), u' = (1/sqrt(3), sqrt(6)/3), c = (-(1+sqrt(2))(2+sqrt(3)),
(1+sqrt(2))(sqrt(2)+sqrt(3))) and c' = -c.
"""

from __future__ import annotations

import jax.numpy as jnp

from theorysim.claims import (
    Gaussian,
    Instance,
    Mutant,
    Size,
    Space,
    Theorem,
    at_least,
    equal,
)


def _vectors(sign: float):
    """Neurons W + c u^T and W + c' u'^T with c' = sign c."""
    two, three = jnp.sqrt(2.0), jnp.sqrt(3.0)
    c = (1 + two) * jnp.array([-(2 + three), two + three])
    u, other = jnp.array([1.0, 1.0]) / two, jnp.array([1 / three, jnp.sqrt(6.0) / 3])
    return jnp.eye(2) + jnp.outer(c, u), jnp.eye(2) + sign * jnp.outer(c, other)


def _simulate(sign: float):
    def simulate(x: Instance, key):
        one, two = _vectors(sign)
        pairs = jnp.linalg.norm(one[:, None] - two[None], axis=-1)
        return {
            "outputs": [jnp.sum((rows @ x.input) ** 2) for rows in (one, two)],
            "apart": jnp.min(pairs),
            "norms": [jnp.linalg.norm(rows - jnp.eye(2)) for rows in (one, two)],
        }

    return simulate


theorem = Theorem(
    space=Space(d=Size(2, low=2, high=2), input=Gaussian("d", scale=10.0)),
    simulate=_simulate(-1.0),
    claims=(
        equal("C1: one network", lambda r: r.sim["outputs"][0], lambda r: r.sim["outputs"][1]),
        at_least("C2: the neurons differ", lambda r: r.sim["apart"], lambda r: 0.0, strict=True),
        equal("C3: one norm", lambda r: r.sim["norms"][0], lambda r: r.sim["norms"][1]),
    ),
    mutants=(Mutant("c' = c", simulate=_simulate(1.0)),),
    instances=16,
)
