"""How far a polynomial moves between two points, and between two correlated Gaussians.

Remark 2 of Dayi and Chen (2024), for p(x) = sum_n a_n x^n of degree s: |p(g_1) - p(g_2)| is at most
s max(|g_1|^(s-1), |g_1|^(s-2)|g_2|, ..., |g_2|^(s-1)) (sum_n |a_n|) |g_1 - g_2|, n from 1. The
maximum has the powers of total degree s - 1 only: near 0 it is small while p(x) = x moves by its
whole distance. With max(1, |g_1|, |g_2|)^(s-1) it holds.
"""

from __future__ import annotations

import jax.numpy as jnp

from theorysim.claims import (
    Corrected,
    Instance,
    Mutant,
    Reading,
    Real,
    Size,
    Space,
    Theorem,
    at_most,
)


def simulate(x: Instance, key):
    powers = jnp.arange(1, x.s + 1)
    values = [jnp.sum(x.coefficients * point**powers) for point in x.points]
    return jnp.abs(values[0] - values[1])


def _predict(factor: float, floor: float):
    def predict(x: Instance):
        size = jnp.maximum(floor, jnp.max(jnp.abs(x.points))) ** (x.s - 1)
        moved = jnp.abs(x.points[0] - x.points[1])
        return factor * x.s * size * jnp.sum(jnp.abs(x.coefficients)) * moved

    return predict


theorem = Theorem(
    space=Space(
        s=Size(3, high=12), coefficients=Real(-2, 2, shape="s"), points=Real(-3, 3, shape=2)
    ),
    simulate=simulate,
    predict=_predict(1.0, 0.0),
    claims=(at_most("C1: |p(g_1) - p(g_2)|", lambda r: r.sim, lambda r: r.theory),),
    readings=(
        Reading(
            "corrected",
            Corrected(""),
            predict=_predict(1.0, 1.0),
            primary=True,
            note="lower powers of p move by more than the top power near 0: max(1, |g_1|, |g_2|)",
        ),
    ),
    mutants=(Mutant("without the factor s", predict=_predict(1 / 9, 0.0)),),
    instances=256,
)
