"""A more singular target Gram matrix means larger deviation for the worst labels, not for all.

Text below Theorem 2 of Liu et al. (2019): for data with many similar images "H_Q will be more
singular than common tasks, resulting in a larger deviation from the pretrained weight". The
deviation^2 is r^T H_Q^(-1) r. Two target inputs approach each other while the mismatch r stays:
labels that agree need less movement then, not more. The worst r of a given norm needs
|r| / sqrt(lambda_Q).
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from theorysim.claims import Corrected, Instance, Mutant, Reading, Real, Space, Theorem, increasing
from theorysim.numerics.kernels import tangent_gram
from theorysim.systems.two_layer_relu_limit import kernel_descent


def simulate(x: Instance, key):
    """Distances at shrinking angles: for the mismatch as given, and the largest of its norm."""
    angles = x.angle * 0.7 ** jnp.arange(8)

    def distance(angle, residual):
        inputs = jnp.array([[1.0, 0.0], [jnp.cos(angle), jnp.sin(angle)]])
        return kernel_descent(tangent_gram(inputs, inputs), residual, 1.0, jnp.inf).distance

    norm = jnp.linalg.norm(x.mismatch) / jnp.sqrt(2)
    several = [norm * jnp.array(signs) for signs in ((1.0, 1.0), (1.0, -1.0))]
    each = jax.vmap(distance, (0, None))
    return {
        "given": each(angles, x.mismatch),
        "worst": jnp.max(jnp.stack([each(angles, r) for r in several]), axis=0),
    }


def _claim(which: str, sign: float = 1.0) -> tuple:
    return (increasing("deviation as H_Q becomes singular", lambda r: sign * r.sim[which]),)


theorem = Theorem(
    space=Space(angle=Real(0.1, 1.5), mismatch=Real(-1, 1, shape=2)),
    simulate=simulate,
    claims=_claim("given"),
    readings=(
        Reading(
            "corrected",
            Corrected(""),
            claims=_claim("worst"),
            primary=True,
            note="true of the largest deviation over mismatches of a norm",
        ),
    ),
    mutants=(Mutant("smaller for the worst mismatch", claims=_claim("worst", -1.0)),),
)
