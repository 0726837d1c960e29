"""Regularised training of the linearised model is ridge regression in the tangent kernel.

Section 4 of Afzal et al. (2025): the w that minimises (1/n) sum_i (phi_i . w - y~_i)^2 + sigma w^2,
y~ = y - f0 and sigma = lambda/2, is a combination of the features, and the optimal function is
printed as K(., x) [K + sigma I]^(-1) y. It lacks the n that the average brings (n sigma for sigma)
and f0, on both sides. The printed formula is that of the dual to the letter, where the whole vector
of errors stands inside of the sum over i, and that of the summed loss of Section 2 where f0 = 0.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.systems import kernel_ridge
from theorysim.theorems.linearization import _ridge as ridge


class Tuned(NamedTuple):
    """The tuned model at the training inputs and at a test input, and its parameters."""

    train: Float[Array, " n"]
    test: Float[Array, ""]
    w: Float[Array, " p"]


def _features(x: claims.Instance) -> tuple[Float[Array, "n p"], Float[Array, " p"]]:
    """Features as rows: n training inputs in twice as many dimensions, and one test input."""
    return jnp.concatenate([ridge.jacobian(x), x.more], axis=1), jnp.ravel(x.test)


def _simulate(averaged: bool, pulled_to_zero: bool = True) -> Callable:
    """Training to the minimum; a mutant's pull is to the test input's features instead of zero."""

    def simulate(x: claims.Instance, key) -> Tuned:
        rows, test = _features(x)
        weight = 1 / x.n if averaged else 1.0
        centre = 0.0 if pulled_to_zero else test

        def loss(w):
            errors = rows @ w - (x.targets - x.outputs)
            return weight * jnp.sum(errors**2) + x.sigma * jnp.sum((w - centre) ** 2)

        w = ridge.minimiser(loss, 2 * x.n)
        return Tuned(x.outputs + rows @ w, x.test_output + test @ w, w)

    return simulate


def simulate_dual(x: claims.Instance, key) -> Tuned:
    """The function a^T K(x, .) of the a that minimises the dual as it is printed."""
    rows, test = _features(x)
    gram = ridge.kernel(rows)

    def loss(a):
        whole = jnp.sum((a @ gram - x.targets) ** 2)
        return jnp.mean(jnp.full(x.n, whole)) + x.sigma * a @ gram @ a

    a = ridge.minimiser(loss, x.n)
    return Tuned(gram @ a, test @ rows.T @ a, rows.T @ a)


def _predict(averaged: bool = False, from_start: bool = False, factor: float = 1.0) -> Callable:
    """f* and w* of a = [K + sigma I]^(-1) y; `factor` multiplies sigma."""

    def predict(x: claims.Instance) -> Tuned:
        rows, test = _features(x)
        outputs, test_output = (x.outputs, x.test_output) if from_start else (0.0, 0.0)
        sigma = factor * (x.n * x.sigma if averaged else x.sigma)
        a = kernel_ridge.coefficients(ridge.kernel(rows), x.targets - outputs, sigma)
        w = rows.T @ a
        return Tuned(outputs + rows @ w, test_output + test @ w, w)

    return predict


def _spanned(r) -> Float[Array, " p"]:
    """w* projected to the span of the features."""
    basis = jnp.linalg.qr(_features(r.x)[0].T)[0]
    return basis @ (basis.T @ r.sim.w)


FUNCTION = (
    claims.equal("f* on the training inputs", lambda r: r.sim.train, lambda r: r.theory.train),
    claims.equal("f* on a test input", lambda r: r.sim.test, lambda r: r.theory.test),
)
INSERTED = claims.equal("w* = sum_i alpha*_i phi(x_i)", lambda r: r.sim.w, lambda r: r.theory.w)
REPRESENTER = claims.equal("w* = sum_i a_i phi(x_i)", lambda r: r.sim.w, _spanned)

theorem = claims.Theorem(
    space=ridge.ridge_space(
        n=claims.Size(3, low=2, high=16),
        more=claims.Gaussian("n", "n"),
        test=claims.Gaussian("n", 2),
        outputs=claims.Gaussian("n"),
        test_output=claims.Gaussian(),
    ),
    simulate=_simulate(averaged=True),
    predict=_predict(),
    claims=(*FUNCTION, INSERTED, REPRESENTER),
    source=claims.Printed(
        "slides, Section 4, 'Fine-tuning can be defined as RKHS'",
        "min_w (1/n) sum_i (phi(x_i)^T w - ~y_i)^2 + sigma |w|^2, w* = sum_i a_i phi(x_i), "
        "alpha* = [K(x*, x*) + sigma I]^(-1) y*, f*(.) = K(., x*) alpha*",
    ),
    note="alpha* lacks the n of the average and f0; that w* is a combination of features holds",
    readings=(
        claims.Reading(
            "corrected",
            claims.Corrected("n sigma for sigma, y - f0 for y, and f0 added to f*"),
            predict=_predict(averaged=True, from_start=True),
            primary=True,
            note="f0 + K(., x) [K + n sigma I]^(-1) (y - f0): n from the average, and f0 twice",
        ),
        claims.Reading(
            "summed loss of Section 2",
            claims.Corrected("the summed loss of Section 2, y - f0 for y, and f0 added to f*"),
            simulate=_simulate(averaged=False),
            predict=_predict(from_start=True),
            note="for the summed loss sigma stands as printed",
        ),
        claims.Reading(
            "summed loss, formula without f0",
            claims.Finding("the printed formula for the summed loss of Section 2"),
            simulate=_simulate(averaged=False),
            note="where the pretrained model is not zero, f0 is missing",
        ),
        claims.Reading(
            "dual to the letter",
            claims.Printed(
                "slides, Section 4, 'Fine-tuning can be defined as RKHS'",
                "min_alpha (1/n) sum_i |alpha^T K(., x*) - y*|^2 + sigma alpha^T K alpha",
            ),
            simulate=simulate_dual,
            claims=(*FUNCTION, INSERTED),
        ),
    ),
    mutants=(
        claims.Mutant(
            "lambda for sigma", predict=_predict(averaged=True, from_start=True, factor=2.0)
        ),
        claims.Mutant(
            "lambda for sigma in the dual", of=("dual to the letter",), predict=_predict(factor=2.0)
        ),
        claims.Mutant(
            "a pull to another point", simulate=_simulate(averaged=True, pulled_to_zero=False)
        ),
    ),
)
