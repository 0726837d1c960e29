"""Where the teachers differ in norm only, infinite depth finds the target and one layer does not.

Theorem 5.3 of Shachaf et al. (2021), Eq. 8, for theta_T = alpha theta_S, by default with a single
sample. The single layer is trained by gradient descent; the limit of deeper networks is Theorem
5.2's (checked there). Sigma is printed as the covariance of D; see Theorem 4.1. The strict part of
the statement (the risk of one layer is not zero) fails only where P_perp theta_S = 0 or alpha = 1.
"""

from __future__ import annotations

from collections.abc import Callable

from theorysim.claims import (
    Corrected,
    Instance,
    Mutant,
    Printed,
    Reading,
    Real,
    Size,
    Theorem,
    at_least,
    equal,
    scales_as,
    tends_to,
)
from theorysim.numerics.products import dot
from theorysim.systems import deep_linear_limit as deep_limit
from theorysim.systems import linear_regression as regression
from theorysim.theorems.linear_teachers._problem import (
    covariance_form,
    data,
    distribution_fields,
    last_axis_time,
    moment_form,
    outside,
    problem_space,
    risk,
    source,
)

STEPS, EVERY = 1000, 50
DEPTHS = (10, 100, 1e3, 1e4)


def _target(x: Instance):
    return x.alpha * source(x)


def simulate(x: Instance, key):
    """Risk along descent of one layer, and of the limit in time at the depth and at infinity."""
    rate = x.rate_share * regression.largest_learning_rate(data(x))
    labels = dot(data(x), _target(x))
    path = regression.train(data(x), labels, source(x), rate, STEPS, every=EVERY)
    finite = deep_limit.limit(data(x), source(x), _target(x), x.depth)
    infinite = deep_limit.infinite_depth_limit(data(x), source(x), _target(x))
    return {
        "one layer": last_axis_time(risk(x, path, _target(x))),
        "finite": risk(x, finite, _target(x)),
        "infinite": risk(x, infinite, _target(x)),
    }


def _predict(form: Callable, deep: Callable = lambda x: 0.0, factor: float = 1.0) -> Callable:
    def predict(x: Instance):
        shared = form(x, outside(x, _target(x)))
        one_layer = factor * ((x.alpha - 1) / x.alpha) ** 2 * shared
        return {"deep": deep(x) * shared, "one layer": one_layer}

    return predict


theorem = Theorem(
    space=problem_space(
        n=Size(1, high=64),
        alpha=Real(0.1, 10, log=True),
        depth=Real(1, 1e4, log=True),
        rate_share=Real(0.1, 0.95),
        **distribution_fields(),
    ),
    simulate=simulate,
    predict=_predict(covariance_form),
    claims=(
        equal("R(beta) = 0", lambda r: r.sim["infinite"], lambda r: r.theory["deep"]),
        tends_to(
            "R(beta) as L grows",
            lambda r: r.sim["finite"],
            lambda r: r.theory["deep"],
            over={"depth": DEPTHS},
        ),
        equal(
            "R(gamma) (Eq. 8)",
            lambda r: r.limit(r.sim["one layer"]),
            lambda r: r.theory["one layer"],
        ),
        at_least(
            "R(gamma) is not 0", lambda r: r.limit(r.sim["one layer"]), lambda r: 0.0, strict=True
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
        Reading(
            "rate in the depth",
            Printed("", ""),
            claims=(
                scales_as(
                    "R(beta) ~ L^-2",
                    lambda r: r.sim["finite"],
                    over={"depth": (1e3, 2e3, 4e3, 8e3)},
                    exponent=-2,
                ),
            ),
        ),
    ),
    mutants=(
        Mutant(
            "one layer's risk at any depth",
            predict=_predict(moment_form, lambda x: ((x.alpha - 1) / x.alpha) ** 2, 0.5),
        ),
    ),
)
