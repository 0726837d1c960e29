"""Regularised training of the linearised model is ridge regression in the tangent kernel.

Section 4 of Afzal et al. (2025): the w that minimises (1/n) sum_i (phi_i . w - y~_i)^2 + sigma w^2,
y~ = y - f0 and sigma = lambda/2, is a combination of the features, and the optimal function is
printed as K(., x) [K + sigma I]^(-1) y. It lacks the n that the average brings (n sigma for sigma)
and f0, on both sides. The printed formula is that of the dual to the letter, where the whole vector
of errors stands inside of the sum over i, and that of the summed loss of Section 2.
"""

from __future__ import annotations

import jax.numpy as jnp

from theorysim.claims import Corrected, Gaussian, Instance, Mutant, Printed, Reading, Theorem, equal
from theorysim.systems import kernel_ridge
from theorysim.theorems.linearization import _ridge as ridge


def _features(x: Instance):
    """Features as rows: n training inputs in twice as many dimensions, and one test input."""
    return jnp.concatenate([ridge.jacobian(x), x.more], axis=1), jnp.ravel(x.test)


def _simulate(averaged: bool):
    """The tuned model at the training inputs and at the test input, and its parameters."""

    def simulate(x: Instance, key):
        rows, test = _features(x)
        weight = 1 / x.n if averaged else 1.0

        def loss(w):
            errors = rows @ w - (x.targets - x.outputs)
            return weight * jnp.sum(errors**2) + x.sigma * jnp.sum(w**2)

        w = ridge.minimiser(loss, 2 * x.n)
        return {"train": x.outputs + rows @ w, "test": x.test_output + test @ w, "w": w}

    return simulate


def simulate_dual(x: Instance, key):
    """The function a^T K(x, .) of the a that minimises the dual as it is printed."""
    rows, test = _features(x)
    gram = ridge.kernel(rows)

    def loss(a):
        whole = jnp.sum((a @ gram - x.targets) ** 2)
        return jnp.mean(jnp.full(x.n, whole)) + x.sigma * a @ gram @ a

    a = ridge.minimiser(loss, x.n)
    return {"train": gram @ a, "test": test @ rows.T @ a, "w": rows.T @ a}


def _predict(averaged: bool, from_start: bool = True, factor: float = 1.0):
    def predict(x: Instance):
        rows, test = _features(x)
        outputs, test_output = (x.outputs, x.test_output) if from_start else (0.0, 0.0)
        sigma = factor * (x.n * x.sigma if averaged else x.sigma)
        a = kernel_ridge.coefficients(ridge.kernel(rows), x.targets - outputs, sigma)
        w = rows.T @ a
        return {"train": outputs + rows @ w, "test": test_output + test @ w, "w": w}

    return predict


CLAIMS = (
    equal("f* on the training inputs", lambda r: r.sim["train"], lambda r: r.theory["train"]),
    equal("f* on a test input", lambda r: r.sim["test"], lambda r: r.theory["test"]),
    equal("w* = sum_i a_i phi(x_i)", lambda r: r.sim["w"], lambda r: r.theory["w"]),
)


theorem = Theorem(
    space=ridge.ridge_space(
        n=ridge.Size(3, low=2, high=16),
        more=Gaussian("n", "n"),
        test=Gaussian("n", 2),
        outputs=Gaussian("n"),
        test_output=Gaussian(),
    ),
    simulate=_simulate(averaged=True),
    predict=_predict(averaged=False, from_start=False),
    claims=CLAIMS,
    readings=(
        Reading(
            "corrected",
            Corrected(""),
            predict=_predict(averaged=True),
            primary=True,
            note="f0 + K(., x) [K + n sigma I]^(-1) (y - f0): n from the average, and f0 twice",
        ),
        Reading(
            "summed loss of Section 2",
            Printed("", ""),
            simulate=_simulate(False),
            predict=_predict(False),
        ),
        Reading(
            "summed loss, formula without f0",
            Printed("", ""),
            simulate=_simulate(False),
            note="where the pretrained model is not zero, f0 is missing",
        ),
        Reading("dual to the letter", Printed("", ""), simulate=simulate_dual),
    ),
    mutants=(Mutant("lambda for sigma", predict=_predict(averaged=True, factor=2.0)),),
)
