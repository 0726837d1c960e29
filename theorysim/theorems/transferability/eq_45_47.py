"""The residual before fine-tuning is the mismatch of the tasks plus errors.

Below Eq. 45 of Liu et al. (2019), "using equation 22": y_Q - u_Q(P) = y_Q - (Z_Q(0)^T (Z_P(0)
H_P^(-1) y_P + eps) + eps') - u_Q(0) = y_Q - y_(P->Q) + (H_PQ^T - Z_Q(0)^T Z_P(0)) H_P^(-1) y_P -
Z_Q(0)^T eps - eps' + u_Q(0): the second line has u_Q(0) with the wrong sign. Eq. 47 calls the
errors eps_4, and Eq. 48 bounds what they change: | r^T H^(-1) r - e^T H^(-1) e | <=
(2 |eps_4| |e| + |eps_4|^2) / lambda_Q. Beside Eq. 43 "the maximum eigenvalue of H_Q is 1/lambda_Q".
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from theorysim.claims import (
    Corrected,
    Instance,
    Mutant,
    Printed,
    Reading,
    Real,
    Theorem,
    at_most,
    equal,
)
from theorysim.numerics.products import dot
from theorysim.theorems.transferability import _training as training
from theorysim.theorems.transferability._problem import (
    HYPOTHESES,
    cross_gram,
    mismatch,
    problem_space,
    smallest,
    solve,
    source,
    source_gram,
    target,
    target_gram,
)


def simulate(x: Instance, key):
    """Real outputs before and after pretraining, and the paper's error terms."""
    path = training.paths(x, training.started(x, key))
    start, end, inputs = path.source[0], path.source[-1], target(x).inputs
    outputs = [training.outputs(w, path.signs, inputs) for w in (start, end)]
    change = training.vec(end - start)
    z_target = training.features(start, path.signs, inputs)
    coefficients = solve(source_gram(x), x.source_labels)
    lead = dot(training.features(start, path.signs, source(x).inputs), coefficients)
    return {
        "residual": x.target_labels - outputs[1],
        "u(0)": outputs[0],
        "lead": dot(z_target.T, lead),
        "Z eps": dot(z_target.T, change - lead),
        "eps'": outputs[1] - outputs[0] - dot(z_target.T, change),
    }


def _first_line(r):
    s = r.sim
    return r.x.target_labels - s["lead"] - s["Z eps"] - s["eps'"] - s["u(0)"]


def _second_line(sign: float):
    def line(r):
        deviation = dot(cross_gram(r.x).T, solve(source_gram(r.x), r.x.source_labels))
        errors = deviation - r.sim["lead"] - r.sim["Z eps"] - r.sim["eps'"]
        return mismatch(r.x) + errors + sign * r.sim["u(0)"]

    return line


def _change_of_form(r):
    """r^T H^(-1) r - e^T H^(-1) e as a product."""
    gram, e = target_gram(r.x), mismatch(r.x)

    def product(residual):
        return jnp.abs(jnp.sum((residual - e) * solve(gram, residual + e)))

    return jax.vmap(product)(r.sim["residual"])


def _bound_of_form(factor: float):
    def bound(r):
        e = mismatch(r.x)
        error = jnp.linalg.norm(r.sim["residual"] - e, axis=1)
        both = 2 * error * jnp.linalg.norm(e) + error**2
        return factor * both / smallest(target_gram(r.x))

    return bound


def _claims(sign: float, factor: float) -> tuple:
    return (
        equal("first line", lambda r: r.sim["residual"], lambda r: factor * _first_line(r)),
        equal("second line", lambda r: r.sim["residual"], _second_line(sign)),
        at_most("Eq. 48: what the errors change", _change_of_form, _bound_of_form(factor)),
    )


LARGEST = equal(
    "the maximum eigenvalue",
    lambda r: jnp.linalg.eigvalsh(target_gram(r.x))[-1],
    lambda r: 1 / smallest(target_gram(r.x)),
)

theorem = Theorem(
    space=problem_space(**training.SIZES, kappa=training.KAPPA, rate_share=Real(0.05, 0.95)),
    hypotheses=HYPOTHESES,
    simulate=simulate,
    claims=_claims(1.0, 1.0),
    aliases=("eq-45", "eq-47", "eq-48", "eq-43"),
    readings=(
        Reading(
            "corrected",
            Corrected(""),
            claims=_claims(-1.0, 1.0),
            primary=True,
            note="minus u_Q(0) in both lines",
        ),
        Reading(
            "Eq. 43: lambda_max(H_Q) = 1 / lambda_Q",
            Printed("", ""),
            claims=(LARGEST,),
            note="1 / lambda_Q is the largest eigenvalue of the inverse",
        ),
    ),
    mutants=(Mutant("without u_Q(0), a tenth of the bound", claims=_claims(0.0, 0.1)),),
    instances=32,
    mutant_instances=32,
)
