"""The risk of ridge regression lies between two bounds from the extreme eigenvalues of the kernel.

Theorem 5 of Afzal et al. (2025): (sigma |y| / (sigma + lambda_max))^2 <= R <= (sigma |y| /
(sigma + lambda_min))^2. Its proof takes R averaged over the n inputs and loses the 1/n on the way:
the bounds hold for the summed risk. The target is y - f0 where the model starts at outputs f0, and
where the squared error is averaged in training, n sigma stands for sigma.
"""

from __future__ import annotations

import jax.numpy as jnp

from theorysim.claims import (
    Corrected,
    Gaussian,
    Instance,
    Mutant,
    Printed,
    Reading,
    Theorem,
    at_least,
    at_most,
    equal,
)
from theorysim.systems import kernel_ridge
from theorysim.theorems.linearization import _ridge as ridge


def _simulate(averaged: bool = False, from_start: bool = True):
    """Outputs f0 + J w of the trained linear model."""

    def simulate(x: Instance, key):
        start = x.outputs if from_start else jnp.zeros_like(x.outputs)
        tuned = ridge.tuned_outputs(ridge.jacobian(x), x.targets - start, x.sigma, averaged)
        return start + tuned

    return simulate


def _predict(of_gap: bool = True, averaged: bool = False):
    def predict(x: Instance):
        gap = x.targets - x.outputs if of_gap else x.targets
        gram = ridge.kernel(ridge.jacobian(x))
        sigma = x.n * x.sigma if averaged else x.sigma
        shares = x.sigma / (x.spectrum + x.sigma)
        return {
            "bounds": kernel_ridge.risk_bounds(gram, gap, sigma),
            "display": jnp.sum((shares * (x.basis.T @ gap)) ** 2),
        }

    return predict


def _risk(r):
    """||f0 + J w - y||^2."""
    return jnp.sum((r.sim - r.x.targets) ** 2, axis=-1)


def _claims(divided: bool = False, swapped: bool = False) -> tuple:
    """`divided`: the risk is averaged over inputs."""

    def risk(r):
        return _risk(r) / r.x.n if divided else _risk(r)

    ends = (1, 0) if swapped else (0, 1)
    return (
        at_least("lower bound", risk, lambda r: r.theory["bounds"][ends[0]]),
        at_most("upper bound", risk, lambda r: r.theory["bounds"][ends[1]]),
    )


theorem = Theorem(
    space=ridge.ridge_space(outputs=Gaussian("n")),
    simulate=_simulate(from_start=False),
    predict=_predict(of_gap=False),
    claims=_claims(divided=True),
    readings=(
        Reading(
            "corrected",
            Corrected(""),
            simulate=_simulate(),
            predict=_predict(),
            claims=_claims(),
            primary=True,
            note="R is the sum, not the mean, of squared errors, and the target is y - f0",
        ),
        Reading("R summed, f0 = 0", Printed("", ""), claims=_claims()),
        Reading(
            "R summed, y where f0 is not 0",
            Printed("", ""),
            simulate=_simulate(),
            claims=_claims(),
            note="a model that starts at f0 has y - f0 to learn",
        ),
        Reading(
            "R and the training loss averaged",
            Printed("", ""),
            simulate=_simulate(averaged=True),
            predict=_predict(),
            claims=_claims(divided=True),
            note="the primal problem averages squared errors: sigma stands where n sigma should",
        ),
        Reading(
            "training loss averaged, corrected",
            Corrected(""),
            simulate=_simulate(averaged=True),
            predict=_predict(averaged=True),
            claims=_claims(),
        ),
        Reading(
            "proof displays",
            Printed("", ""),
            claims=(equal("R = ||(I - B) U^T y||^2", _risk, lambda r: r.theory["display"]),),
        ),
    ),
    mutants=(
        Mutant(
            "the largest and the smallest eigenvalue swapped",
            claims=(
                *_claims(swapped=True),
                equal("R = ||(I - B) U^T y||^2", _risk, lambda r: 2 * r.theory["display"]),
            ),
        ),
    ),
)
