"""In the limit of infinite depth the risk forgets the norm of the source.

Eq. 7 of Shachaf et al. (2021) and the prose below it: the risk is ||Sigma^(1/2) P_perp (theta_T - k
theta_S)||^2 with k = ||P_par theta_T|| / ||P_par theta_S||, so it depends on the direction of the
source only and scales with the square of the target's norm. The limit of the flow at any depth is
Theorem 5.2's (checked there). Sigma is printed as the covariance of D; see Theorem 4.1.
"""

from __future__ import annotations

from collections.abc import Callable

from theorysim.claims import Corrected, Instance, Mutant, Reading, Real, Theorem, equal, tends_to
from theorysim.systems import deep_linear_limit as deep_limit
from theorysim.theorems.linear_teachers._problem import (
    covariance_form,
    data,
    distribution_fields,
    moment_form,
    norm_ratio,
    outside,
    problem_space,
    risk,
    source,
    target,
)


def simulate(x: Instance, key):
    """Risks of the limit in time: at the depth, at infinite depth, and with rescaled teachers."""

    def at_infinity(start, teacher):
        return risk(x, deep_limit.infinite_depth_limit(data(x), start, teacher), teacher)

    finite = deep_limit.limit(data(x), source(x), target(x), x.depth)
    return {
        "finite": risk(x, finite, target(x)),
        "infinite": at_infinity(source(x), target(x)),
        "source rescaled": at_infinity(x.factor * source(x), target(x)),
        "target rescaled": at_infinity(source(x), x.factor * target(x)),
    }


def _predict(form: Callable, coefficient: Callable = norm_ratio) -> Callable:
    return lambda x: form(x, outside(x, target(x) - coefficient(x) * source(x)))


theorem = Theorem(
    space=problem_space(
        depth=Real(1, 1e6, log=True), factor=Real(1e-3, 1e3, log=True), **distribution_fields()
    ),
    simulate=simulate,
    predict=_predict(covariance_form),
    claims=(
        equal("R(beta) (Eq. 7)", lambda r: r.sim["infinite"], lambda r: r.theory),
        tends_to(
            "depth to infinity",
            lambda r: r.sim["finite"],
            lambda r: r.theory,
            over={"depth": (10, 100, 1e3, 1e4)},
        ),
        equal("any norm of theta_S", lambda r: r.sim["source rescaled"], lambda r: r.theory),
        equal(
            "square of the norm of theta_T",
            lambda r: r.sim["target rescaled"],
            lambda r: r.x.factor**2 * r.theory,
        ),
    ),
    readings=(
        Reading(
            "corrected",
            Corrected(""),
            predict=_predict(moment_form),
            primary=True,
            note="Sigma is the second moment of D, its covariance only where D is centred",
        ),
    ),
    mutants=(Mutant("the source keeps its norm", predict=_predict(moment_form, lambda x: 1.0)),),
)
