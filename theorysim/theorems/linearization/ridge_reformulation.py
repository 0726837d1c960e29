"""Regularised training of the linearised model is ridge regression in the tangent kernel.

Section 4 of Afzal et al. (2025): the w that minimises (1/n) sum_i (phi_i . w - y~_i)^2 + sigma w^2,
y~ = y - f0 and sigma = lambda/2, is a combination of the features, and the optimal function is
printed as K(., x) [K + sigma I]^(-1) y. It lacks the n that the average brings (n sigma for sigma)
and f0, on both sides; one slide has f_w = phi . w, where f0 = 0. The printed formula is that of the
dual to the letter (ridge-dual), and that of the summed loss of Section 2 where f0 = 0.
"""

from collections.abc import Callable
from functools import cache

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.theorems.linearization import _reformulation as reformulation
from theorysim.theorems.linearization import _ridge as ridge


@cache
def _simulate(averaged: bool, pulled_to_zero: bool = True) -> Callable:
    """Training to the minimum; a mutant's pull is to the test input's features instead of zero."""

    def simulate(x: claims.Instance, key) -> reformulation.Tuned:
        rows, test = reformulation.features(x)
        weight = 1 / x.n if averaged else 1.0
        centre = 0.0 if pulled_to_zero else test

        def loss(w):
            errors = rows @ w - (x.targets - x.outputs)
            return weight * jnp.sum(errors**2) + x.sigma * jnp.sum((w - centre) ** 2)

        w = ridge.minimiser(loss, 2 * x.n)
        return reformulation.Tuned(x.outputs + rows @ w, x.test_output + test @ w, w)

    return simulate


def _from_zero(x: claims.Instance) -> claims.Instance:
    return x.replace(outputs=jnp.zeros_like(x.outputs), test_output=jnp.zeros_like(x.test_output))


def _spanned(r) -> Float[Array, " p"]:
    """w* projected to the span of the features."""
    basis = jnp.linalg.qr(reformulation.features(r.x)[0].T)[0]
    return basis @ (basis.T @ r.sim.w)


REPRESENTER = claims.equal("w* = sum_i a_i phi(x_i)", lambda r: r.sim.w, _spanned)
TWICE = reformulation.optimum(averaged=True, from_start=True, factor=2.0)

theorem = claims.Theorem(
    space=reformulation.space(),
    simulate=_simulate(averaged=True),
    predict=reformulation.optimum(),
    claims=(*reformulation.OPTIMAL, REPRESENTER),
    source=claims.Printed(
        reformulation.PLACE,
        "min_w (1/n) sum_i (phi(x_i)^T w - ~y_i)^2 + sigma |w|^2, w* = sum_i a_i phi(x_i), "
        "alpha* = [K(x*, x*) + sigma I]^(-1) y*, f*(.) = K(., x*) alpha*",
    ),
    note="alpha* lacks the n of the average and f0; that w* is a combination of features holds",
    readings=(
        claims.Reading(
            "a model that starts at zero",
            claims.Printed(
                reformulation.PLACE,
                "model f_w(x) = phi(x)^T w, min_w (1/n) sum_i (phi(x_i)^T w - ~y_i)^2 + sigma "
                "|w|^2, alpha* = [K(x*, x*) + sigma I]^(-1) y*, f*(.) = K(., x*) alpha*",
            ),
            simulate=lambda x, key: _simulate(averaged=True)(_from_zero(x), key),
            claims=reformulation.OPTIMAL,
            note="the average brings an n: n sigma for sigma",
        ),
        claims.Reading(
            "corrected",
            claims.Corrected("n sigma for sigma, y - f0 for y, and f0 added to f*"),
            predict=reformulation.optimum(averaged=True, from_start=True),
            primary=True,
            note="f0 + K(., x) [K + n sigma I]^(-1) (y - f0): n from the average, and f0 twice",
        ),
        claims.Reading(
            "summed loss of Section 2",
            claims.Corrected("the summed loss of Section 2, y - f0 for y, and f0 added to f*"),
            simulate=_simulate(averaged=False),
            predict=reformulation.optimum(from_start=True),
            note="for the summed loss sigma stands as printed",
        ),
        claims.Reading(
            "summed loss, formula without f0",
            claims.Finding("the printed formula for the summed loss of Section 2"),
            simulate=_simulate(averaged=False),
            note="where the pretrained model is not zero, f0 is missing",
        ),
    ),
    mutants=(
        claims.Mutant("lambda for sigma", predict=TWICE),
        claims.Mutant(
            "a pull to another point", simulate=_simulate(averaged=True, pulled_to_zero=False)
        ),
    ),
)
