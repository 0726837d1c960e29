"""The change of the ridge risk by added layers lies within a factor a of lambda_max's change.

Theorem 7 of Afzal et al. (2025): with kappa(K + sigma I) <= c, a = c / (1 - eta)^2 and q =
lambda_max(K + S + sigma I) / lambda_max(K + sigma I), q / a <= (R(K + S) / R(K))^(1/2) <= a q. The
statement puts no limit on eta and fails above 1, where a decreases; its proof supposes eta <= 1.
Because S is a Gram matrix, eta is not needed at all: 1 / (kappa q) <= ... <= kappa.
"""

from __future__ import annotations

import jax.numpy as jnp

from theorysim.claims import (
    Corrected,
    Instance,
    Mutant,
    Printed,
    Reading,
    Real,
    Theorem,
    at_least,
    at_most,
)
from theorysim.systems import kernel_ridge
from theorysim.theorems.linearization import _ridge as ridge


def _jacobians(x: Instance):
    before, added = ridge.jacobian(x), ridge.candidate_jacobian(x)
    return before, added, jnp.concatenate([before, added], axis=1)


def simulate(x: Instance, key):
    """Outputs of the models trained to their optimum, without and with the layers."""
    before, _, together = _jacobians(x)
    return [ridge.tuned_outputs(j, x.targets, x.sigma) for j in (before, together)]


def predict(x: Instance):
    before, added, together = _jacobians(x)
    gram = ridge.kernel(before)
    largest, both = (jnp.linalg.norm(j, ord=2) ** 2 + x.sigma for j in (before, together))
    return {
        "eta": kernel_ridge.relative_size(gram, ridge.kernel(added)),
        "kappa": kernel_ridge.condition_number(gram, x.sigma),
        "q": both / largest,
        "largest": largest,
        "length": x.sigma * jnp.linalg.norm(x.targets),
    }


def eta(x: Instance):
    return predict(x)["eta"]


def _roots(r):
    """The roots of R(K) and R(K + S)."""
    return [jnp.linalg.norm(outputs - r.x.targets, axis=-1) for outputs in r.sim]


def _ratio(r):
    """(R(K + S) / R(K))^(1/2)."""
    before, after = _roots(r)
    return after / before


def _a(r):
    return r.x.looseness * r.theory["kappa"] / (1 - r.theory["eta"]) ** 2


LOWER, UPPER = "lower bound", "upper bound"
DISPLAYS = (
    at_least(
        "root of R(K + S), lower",
        lambda r: _roots(r)[1],
        lambda r: r.theory["length"] / ((1 + r.theory["eta"]) * r.theory["largest"]),
    ),
    at_most(
        "root of R(K + S), upper",
        lambda r: _roots(r)[1] * (1 - r.theory["eta"]) * r.theory["largest"],
        lambda r: r.theory["length"] * r.theory["kappa"] ** 2,
        statement="sigma |y| kappa / ((1 - eta) lambda_min(K + sigma I))",
    ),
    at_least(
        "ratio, lower",
        _ratio,
        lambda r: r.theory["q"] / (r.theory["kappa"] * (1 + r.theory["eta"]) ** 2),
    ),
    at_most(
        "ratio, upper",
        lambda r: (1 - r.theory["eta"]) ** 2 * _ratio(r),
        lambda r: r.theory["kappa"] * r.theory["q"],
    ),
    at_most(
        "(1 - eta)^2 <= (1 + eta)^(-2)",
        lambda r: (1 - r.theory["eta"]) ** 2,
        lambda r: (1 + r.theory["eta"]) ** -2,
    ),
)


theorem = Theorem(
    space=ridge.layer_space(looseness=Real(1, 10, log=True)),
    simulate=simulate,
    predict=predict,
    claims=(
        at_least(LOWER, _ratio, lambda r: r.theory["q"] / _a(r)),
        at_most(UPPER, _ratio, lambda r: _a(r) * r.theory["q"]),
    ),
    readings=(
        Reading(
            "proof slide, eta <= 1", Printed("", ""), hypotheses={"eta <= 1": lambda x: 1 - eta(x)}
        ),
        Reading(
            "corrected, any eta",
            Corrected(""),
            claims=(
                at_least(LOWER, _ratio, lambda r: 1 / (r.theory["kappa"] * r.theory["q"])),
                at_most(UPPER, _ratio, lambda r: r.theory["kappa"]),
            ),
            primary=True,
            note="printed without eta <= 1; kappa alone bounds the ratio, since S is semidefinite",
        ),
        Reading(
            "proof displays",
            Printed("", ""),
            claims=DISPLAYS,
            hypotheses={"eta <= 1": lambda x: 1 - eta(x)},
        ),
        Reading(
            "proof display (1 - eta)^2 <= (1 + eta)^(-2), any eta",
            Printed("", ""),
            claims=DISPLAYS[-1:],
            note="true up to eta = sqrt(2)",
        ),
    ),
    mutants=(
        Mutant(
            "the risk follows lambda_max within the root of kappa",
            claims=(
                at_least(LOWER, _ratio, lambda r: r.theory["q"] / jnp.sqrt(r.theory["kappa"])),
                at_most(UPPER, _ratio, lambda r: jnp.sqrt(r.theory["kappa"]) * r.theory["q"]),
            ),
        ),
    ),
)
