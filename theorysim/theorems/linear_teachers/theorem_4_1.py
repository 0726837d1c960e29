"""Linear regression keeps the source outside the span of the data and learns the target inside.

Theorem 4.1 of Shachaf et al. (2021), Eqs. 1 and 2, with the two observations below it and the exact
weights after every step. Sigma is printed as the covariance of D, which is not assumed to be
centred; the risk is the quadratic form of the second moment of D.
"""

from __future__ import annotations

from collections.abc import Callable

import jax.numpy as jnp

from theorysim.claims import (
    Corrected,
    Gaussian,
    Instance,
    Mutant,
    Reading,
    Real,
    Size,
    Theorem,
    equal,
)
from theorysim.numerics.products import dot
from theorysim.systems import linear_regression as regression
from theorysim.theorems.linear_teachers._problem import (
    covariance_form,
    data,
    distribution_fields,
    inside,
    last_axis_time,
    moment_form,
    outside,
    problem_space,
    risk,
    source,
    target,
)

RECORDS = 20


def _rate(x: Instance):
    return x.rate_share * regression.largest_learning_rate(data(x))


def _descent(x: Instance, start, teacher):
    labels = dot(data(x), teacher)
    every = x.steps // RECORDS
    return regression.train(data(x), labels, start, _rate(x), every * RECORDS, every=every)


def simulate(x: Instance, key):
    """Weights and risk along gradient descent, for both teachers and for both of them shifted."""
    path = _descent(x, source(x), target(x))
    seen = dot(x.seen, data(x))
    shifted_target = target(x) + x.shift + seen
    shifted = _descent(x, source(x) + x.shift, shifted_target)
    return {
        "weights": last_axis_time(path),
        "outputs": last_axis_time(dot(path, data(x).T)),
        "risk": risk(x, path, target(x)),
        "shifted_risk": risk(x, shifted, shifted_target),
    }


def _predict(form: Callable, kept: Callable = outside, learned: Callable = inside) -> Callable:
    def predict(x: Instance):
        times = x.steps // RECORDS * jnp.arange(RECORDS + 1)
        path = regression.gradient_descent(data(x), source(x), target(x), _rate(x), times)
        return {
            "gamma": kept(x, source(x)) + learned(x, target(x)),
            "risk": form(x, kept(x, target(x) - source(x))),
            "path": last_axis_time(path.weights),
            "kept": kept(x, source(x))[:, None],
            "labels": dot(data(x), learned(x, target(x))),
        }

    return predict


def _outside_path(r):
    basis = regression.row_space(data(r.x))
    path = r.sim["weights"]
    return path - dot(basis, dot(basis.T, path))


theorem = Theorem(
    space=problem_space(
        steps=Size(2000, low=RECORDS, high=200_000),
        rate_share=Real(0.1, 0.95),
        shift=Gaussian("d"),
        seen=Gaussian("n"),
        **distribution_fields(),
    ),
    simulate=simulate,
    predict=_predict(covariance_form),
    claims=(
        equal(
            "gamma (Eq. 1)",
            lambda r: r.limit(r.sim["weights"]),
            lambda r: r.theory["gamma"],
            statement="gamma = P_perp theta_S + P_par theta_T",
        ),
        equal(
            "R(gamma) (Eq. 2)",
            lambda r: r.limit(r.sim["risk"]),
            lambda r: r.theory["risk"],
            statement="R(gamma) = ||Sigma^(1/2) P_perp (theta_T - theta_S)||^2",
        ),
        equal("weights after t steps", lambda r: r.sim["weights"], lambda r: r.theory["path"]),
        equal("observation 1: outside the data", _outside_path, lambda r: r.theory["kept"]),
        equal(
            "observation 1: inside the data",
            lambda r: r.limit(r.sim["outputs"]),
            lambda r: r.theory["labels"],
        ),
        equal(
            "observation 2: only P_perp Delta",
            lambda r: r.limit(r.sim["risk"]),
            lambda r: r.limit(r.sim["shifted_risk"]),
            statement="R(gamma) is the same for theta_S + v, theta_T + v + X^T u",
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
    mutants=(
        Mutant("teachers swapped", predict=_predict(moment_form, kept=inside, learned=outside)),
    ),
)
