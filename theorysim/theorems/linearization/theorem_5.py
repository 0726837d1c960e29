"""The risk of ridge regression lies between two bounds from the extreme eigenvalues of the kernel.

Theorem 5 of Afzal et al. (2025): (sigma |y| / (sigma + lambda_max))^2 <= R <= (sigma |y| /
(sigma + lambda_min))^2. Its proof takes R averaged over the n inputs and loses the 1/n on the way:
the bounds hold for the summed risk, and are attained by targets along the extreme eigenvectors, so
that the strict line of the proof fails there. The target is y - f0 where the model starts at
outputs f0, and where the squared error is averaged in training, n sigma stands for sigma. What is
printed is tried at f0 = 0, where y is the target, so that no refutation of it rests on f0. Half of
the kernels are singular, as those of few parameters are.
"""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.systems import kernel_ridge
from theorysim.theorems.linearization import _ridge as ridge


class Bounded(NamedTuple):
    """The bounds, and ||(I - B) U^T y||^2."""

    bounds: kernel_ridge.Bounds
    display: Float[Array, ""]


@cache
def _simulate(averaged: bool = False, from_start: bool = True) -> Callable:
    """Outputs f0 + J w of the trained linear model."""

    def simulate(x: claims.Instance, key) -> Float[Array, " n"]:
        start = x.outputs if from_start else jnp.zeros_like(x.outputs)
        tuned = ridge.tuned_outputs(ridge.jacobian(x), x.targets - start, x.sigma, averaged)
        return start + tuned

    return simulate


def _predict(of_gap: bool = True, averaged: bool = False, fitted: bool = False) -> Callable:
    """`fitted`: a mutant's display, ||B U^T y||^2."""

    def predict(x: claims.Instance) -> Bounded:
        gap = x.targets - x.outputs if of_gap else x.targets
        gram = ridge.kernel(ridge.jacobian(x))
        sigma = x.n * x.sigma if averaged else x.sigma
        spectrum = ridge.eigenvalues(x)
        shares = jnp.where(fitted, spectrum, x.sigma) / (spectrum + x.sigma)
        display = jnp.sum((shares * (x.basis.T @ gap)) ** 2)
        return Bounded(kernel_ridge.risk_bounds(gram, gap, sigma), display)

    return predict


def _simulate_extreme(x: claims.Instance, key) -> Float[Array, "2 n"]:
    """Errors of models trained on the eigenvectors of lambda_max and of lambda_min."""
    ends = x.basis[:, 0], x.basis[:, -1]
    jacobian = ridge.jacobian(x)
    return jnp.stack([ridge.tuned_outputs(jacobian, end, x.sigma) - end for end in ends])


def _predict_extreme(x: claims.Instance) -> Float[Array, " 2"]:
    """lambda_min(I - B)^2 and lambda_max(I - B)^2, times ||U^T y||^2 = 1."""
    spectrum = ridge.eigenvalues(x)[jnp.array([0, -1])]
    return (x.sigma / (x.sigma + spectrum)) ** 2


def _risk(r) -> Float[Array, ""]:
    """||f0 + J w - y||^2."""
    return jnp.sum((r.sim - r.x.targets) ** 2, axis=-1)


def _several_inputs(r) -> Float[Array, ""]:
    """A mean over one input is its sum, and attains both ends."""
    return jnp.asarray(r.x.n - 2.0)


def _claims(divided: bool = False, swapped: bool = False, strict: bool = False) -> tuple:
    """`divided`: the risk is averaged over inputs; `strict` is asked of several."""

    def risk(r):
        return _risk(r) / r.x.n if divided else _risk(r)

    ends = (1, 0) if swapped else (0, 1)
    parts = {"strict": strict, "where": _several_inputs if strict else None}
    return (
        claims.at_least("lower bound", risk, lambda r: r.theory.bounds[ends[0]], **parts),
        claims.at_most("upper bound", risk, lambda r: r.theory.bounds[ends[1]], **parts),
    )


THEOREM = claims.Printed(
    "slides, Section 4, Theorem 5, and its proof",
    "(sigma |y*| / (sigma + lambda_max(K)))^2 <= R(theta) <= (sigma |y*| / (sigma + "
    "lambda_min(K)))^2, R(theta) = (1/n) sum_i L(f(x_i), y_i)",
)

theorem = claims.Theorem(
    space=ridge.ridge_space(outputs=claims.Gaussian("n")),
    simulate=_simulate(from_start=False),
    predict=_predict(of_gap=False),
    claims=_claims(divided=True),
    source=THEOREM,
    note="the proof loses its 1/n on the way: a mean of squared errors is below the lower bound",
    readings=(
        claims.Reading(
            "R summed, as in Section 2",
            claims.Printed(
                "slides, Section 4, Theorem 5, with the empirical risk of Section 2",
                "(sigma |y*| / (sigma + lambda_max(K)))^2 <= R(theta) <= (sigma |y*| / (sigma + "
                "lambda_min(K)))^2, R~(theta) = sum_i L(f(x_i), y_i)",
            ),
            claims=_claims(),
            note="what stands on the proof's slide is a mean",
        ),
        claims.Reading(
            "corrected",
            claims.Corrected("R is the sum of squared errors, and y - f0 stands for y"),
            simulate=_simulate(),
            predict=_predict(),
            claims=_claims(),
            primary=True,
            note="R is the sum, not the mean, of squared errors, and the target is y - f0",
        ),
        claims.Reading(
            "R summed, y where f0 is not 0",
            claims.Finding("the printed target where the model does not start at zero"),
            simulate=_simulate(),
            claims=_claims(),
            note="a model that starts at f0 has y - f0 to learn",
        ),
        claims.Reading(
            "R and the training loss averaged",
            claims.Printed(
                "slides, Section 4, Theorem 5 with the problem that it solves",
                "min_w (1/n) sum_i (phi(x_i)^T w - ~y_i)^2 + sigma |w|^2; (sigma |y*| / (sigma + "
                "lambda_max(K)))^2 <= R(theta) <= (sigma |y*| / (sigma + lambda_min(K)))^2",
            ),
            simulate=_simulate(averaged=True, from_start=False),
            claims=_claims(divided=True),
            note="the primal problem averages squared errors: sigma stands where n sigma should",
        ),
        claims.Reading(
            "R and the training loss averaged, corrected",
            claims.Corrected(
                "n sigma for sigma, R is the sum of squared errors, y - f0 stands for y"
            ),
            simulate=_simulate(averaged=True),
            predict=_predict(averaged=True),
            claims=_claims(),
            note="averaging the training loss multiplies sigma by n",
        ),
        claims.Reading(
            "proof displays",
            claims.Printed(
                "slides, Section 4, proof of Theorem 5",
                "R(theta) = (1/n) ||(I - Sigma (Sigma + sigma I)^(-1)) U^T y*||^2",
            ),
            claims=(claims.equal("R = ||(I - B) U^T y||^2", _risk, lambda r: r.theory.display),),
        ),
        claims.Reading(
            "proof, strict middle line",
            claims.Printed(
                "slides, Section 4, proof of Theorem 5",
                "lambda_min(I - B)^2 ||U^T y*||^2 < R(theta) < lambda_max(I - B)^2 ||U^T y*||^2",
            ),
            claims=_claims(divided=True, strict=True),
            note="the 1/n of the line above is gone, with which a mean is below the lower bound",
        ),
        claims.Reading(
            "proof, strict middle line, corrected",
            claims.Corrected("R is the sum of squared errors, and <= stands for <"),
            claims=_claims(),
            note="for a model that starts at zero, where the target is y",
        ),
        claims.Reading(
            "targets along extreme eigenvectors",
            claims.Finding("that both bounds are attained, so that neither is strict"),
            simulate=_simulate_extreme,
            predict=_predict_extreme,
            claims=(
                claims.equal(
                    "R = lambda_ext(I - B)^2",
                    lambda r: jnp.sum(r.sim**2, axis=-1),
                    lambda r: r.theory,
                ),
            ),
        ),
    ),
    mutants=(
        claims.Mutant(
            "the largest and the smallest eigenvalue swapped",
            of=("corrected", "R summed, as in Section 2"),
            claims=_claims(swapped=True),
        ),
        claims.Mutant(
            "B for I - B", of=("proof displays",), predict=_predict(of_gap=False, fitted=True)
        ),
        claims.Mutant(
            "a square lost",
            of=("targets along extreme eigenvectors",),
            predict=lambda x: jnp.sqrt(_predict_extreme(x)),
        ),
    ),
)
