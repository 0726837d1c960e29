"""The change of the ridge risk by added layers lies within a factor a of lambda_max's change.

Theorem 7 of Afzal et al. (2025): with kappa(K + sigma I) <= c, a = c / (1 - eta)^2 and q =
lambda_max(K + S + sigma I) / lambda_max(K + sigma I), q / a <= (R(K + S) / R(K))^(1/2) <= a q. The
statement puts no limit on eta and fails above 1, where a decreases; its proof supposes eta <= 1.
Because S is a Gram matrix, eta is not needed at all: 1 / (kappa q) <= ... <= kappa.
"""

import dataclasses
from collections.abc import Callable
from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.systems import kernel_ridge
from theorysim.theorems.linearization import _ridge as ridge


class Tuned(NamedTuple):
    """Outputs of the models trained to their optimum, without and with the layers."""

    before: Float[Array, " n"]
    after: Float[Array, " n"]


class Spectra(NamedTuple):
    """What the bounds consist of."""

    eta: Float[Array, ""]
    kappa: Float[Array, ""]
    q: Float[Array, ""]
    largest: Float[Array, ""]
    """lambda_max(K + sigma I)"""
    length: Float[Array, ""]
    """sigma ||y||"""


def _jacobians(x: claims.Instance):
    before, added = ridge.jacobian(x), ridge.candidate_jacobian(x)
    return before, added, jnp.concatenate([before, added], axis=1)


def simulate(x: claims.Instance, key) -> Tuned:
    before, _, together = _jacobians(x)
    return Tuned(*(ridge.tuned_outputs(j, x.targets, x.sigma) for j in (before, together)))


def predict(x: claims.Instance) -> Spectra:
    before, added, together = _jacobians(x)
    gram = ridge.kernel(before)
    largest, both = (jnp.linalg.norm(j, ord=2) ** 2 + x.sigma for j in (before, together))
    return Spectra(
        kernel_ridge.relative_size(gram, ridge.kernel(added)),
        kernel_ridge.condition_number(gram, x.sigma),
        both / largest,
        largest,
        x.sigma * jnp.linalg.norm(x.targets),
    )


def _predict_negative(x: claims.Instance) -> Spectra:
    """A mutant's: 1 + eta for 1 - eta and 1 - eta for 1 + eta."""
    found = predict(x)
    return found._replace(eta=-found.eta)


AT_MOST_ONE = {"eta <= 1": lambda x: 1 - predict(x).eta}


def _roots(r) -> list[Float[Array, ""]]:
    """The roots of R(K) and R(K + S)."""
    return [jnp.linalg.norm(outputs - r.x.targets, axis=-1) for outputs in r.sim]


def _ratio(r) -> Float[Array, ""]:
    """(R(K + S) / R(K))^(1/2)."""
    before, after = _roots(r)
    return after / before


def _a(r) -> Float[Array, ""]:
    return r.x.looseness * r.theory.kappa / (1 - r.theory.eta) ** 2


def _bounds(lower: Callable, upper: Callable) -> tuple:
    return claims.at_least("lower bound", _ratio, lower), claims.at_most(
        "upper bound", _ratio, upper
    )


SQUARES = claims.at_most(
    "(1 - eta)^2 <= (1 + eta)^(-2)",
    lambda r: (1 - r.theory.eta) ** 2,
    lambda r: (1 + r.theory.eta) ** -2,
)
DISPLAYS = (
    claims.at_least(
        "root of R(K + S), lower",
        lambda r: _roots(r)[1],
        lambda r: r.theory.length / ((1 + r.theory.eta) * r.theory.largest),
    ),
    claims.at_most(
        "root of R(K + S), upper",
        lambda r: _roots(r)[1] * (1 - r.theory.eta) * r.theory.largest,
        lambda r: r.theory.length * r.theory.kappa**2,
        statement="sigma |y| kappa / ((1 - eta) lambda_min(K + sigma I))",
    ),
    claims.at_least(
        "ratio, lower", _ratio, lambda r: r.theory.q / (r.theory.kappa * (1 + r.theory.eta) ** 2)
    ),
    claims.at_most(
        "ratio, upper",
        lambda r: (1 - r.theory.eta) ** 2 * _ratio(r),
        lambda r: r.theory.kappa * r.theory.q,
    ),
    SQUARES,
)


theorem = claims.Theorem(
    space=ridge.layer_space(looseness=claims.Real(1, 10, log=True)),
    simulate=simulate,
    predict=predict,
    claims=_bounds(lambda r: r.theory.q / _a(r), lambda r: _a(r) * r.theory.q),
    source=claims.Printed(
        "slides, Section 5, Theorem 7",
        "lambda_max(K + S + sigma I) / (a lambda_max(K + sigma I)) <= (R(theta u theta^) / "
        "R(theta))^(1/2) <= a lambda_max(K + S + sigma I) / lambda_max(K + sigma I), "
        "a = c / (1 - eta)^2",
    ),
    note="without the eta <= 1 of the proof a is small for large eta",
    readings=(
        claims.Reading(
            "proof slide, eta <= 1",
            claims.Printed("slides, Section 5, proof of Theorem 7", "suppose that 0 <= eta <= 1"),
            hypotheses=AT_MOST_ONE,
        ),
        claims.Reading(
            "corrected, any eta",
            claims.Corrected("1 / (kappa q) and kappa for the bounds, which no longer contain eta"),
            claims=_bounds(lambda r: 1 / (r.theory.kappa * r.theory.q), lambda r: r.theory.kappa),
            primary=True,
            note="kappa alone bounds the ratio, since S is semidefinite",
        ),
        claims.Reading(
            "proof displays",
            claims.Printed(
                "slides, Section 5, proof of Theorem 7",
                "sigma ||y*|| / ((1 + eta) lambda_max(K + sigma I)) <= R(theta u theta^)^(1/2) <= "
                "sigma ||y*|| kappa / ((1 - eta) lambda_min(K + sigma I)); "
                "suppose that 0 <= eta <= 1, then (1 - eta)^2 <= (1 + eta)^(-2)",
            ),
            claims=DISPLAYS,
            hypotheses=AT_MOST_ONE,
        ),
        claims.Reading(
            "proof display (1 - eta)^2 <= (1 + eta)^(-2), any eta",
            claims.Finding("a step of the proof beyond the eta <= 1 that it supposes"),
            claims=(SQUARES,),
            note="true up to eta = sqrt(2)",
        ),
    ),
    mutants=(
        claims.Mutant(
            "lower and upper bound swapped",
            claims=_bounds(lambda r: r.theory.kappa, lambda r: 1 / (r.theory.kappa * r.theory.q)),
        ),
        claims.Mutant(
            "1 - eta and 1 + eta swapped",
            of=("proof slide, eta <= 1", "proof displays"),
            predict=_predict_negative,
        ),
        claims.Mutant(
            "a square lost",
            of=("proof displays",),
            claims=(dataclasses.replace(SQUARES, lhs=lambda r: 1 - r.theory.eta),),
        ),
    ),
    mutant_instances=512,
)
