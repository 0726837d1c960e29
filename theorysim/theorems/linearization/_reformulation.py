"""What the statements on training as ridge regression share: features, and the optimal function.

Section 4 of Afzal et al. (2025): f* = K(., x) [K + sigma I]^(-1) y, at the training inputs and at a
test input.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.systems import kernel_ridge
from theorysim.theorems.linearization import _ridge as ridge

PLACE = "slides, Section 4, 'Fine-tuning can be defined as RKHS'"


class Tuned(NamedTuple):
    """The tuned model at the training inputs and at a test input, and its parameters."""

    train: Float[Array, " n"]
    test: Float[Array, ""]
    w: Float[Array, " p"]


def space(**parts: claims.Field) -> claims.Space:
    """Features, and the outputs that a model starts with."""
    return ridge.ridge_space(
        more=claims.Gaussian("n", "n"),
        test=claims.Gaussian("n", 2),
        outputs=claims.Gaussian("n"),
        test_output=claims.Gaussian(),
        # A mean over one input is its sum.
        n=claims.Size(3, low=2, high=16),
        **parts,
    )


def features(x: claims.Instance) -> tuple[Float[Array, "n p"], Float[Array, " p"]]:
    """Features as rows: n training inputs and one test input.

    Twice as many dimensions as inputs, or where there are few parameters, half as many.
    """
    more = jnp.where(x.few > 0, 0, x.more)
    return jnp.concatenate([ridge.jacobian(x), more], axis=1), jnp.ravel(x.test)


def optimum(
    averaged: bool = False, from_start: bool = False, factor: float = 1.0
) -> Callable[[claims.Instance], Tuned]:
    """f* and w* of a = [K + sigma I]^(-1) y; `factor` multiplies sigma."""

    def predict(x: claims.Instance) -> Tuned:
        rows, test = features(x)
        outputs, test_output = (x.outputs, x.test_output) if from_start else (0.0, 0.0)
        sigma = factor * (x.n * x.sigma if averaged else x.sigma)
        a = kernel_ridge.coefficients(ridge.kernel(rows), x.targets - outputs, sigma)
        w = rows.T @ a
        return Tuned(outputs + rows @ w, test_output + test @ w, w)

    return predict


OPTIMAL = (
    claims.equal("f* on the training inputs", lambda r: r.sim.train, lambda r: r.theory.train),
    claims.equal("f* on a test input", lambda r: r.sim.test, lambda r: r.theory.test),
    claims.equal("w* = sum_i alpha*_i phi(x_i)", lambda r: r.sim.w, lambda r: r.theory.w),
)
