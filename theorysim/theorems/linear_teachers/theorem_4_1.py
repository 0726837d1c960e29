"""Linear regression keeps the source outside the span of the data and learns the target inside.

Theorem 4.1 of Shachaf et al. (2021), Eqs. 1 and 2, with the two observations below it and the exact
weights after every step. Sigma is printed as the covariance of D, which is not assumed to be
centred; the risk is the quadratic form of the second moment of D.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.numerics.products import dot
from theorysim.systems import linear_regression as regression
from theorysim.theorems.linear_teachers import _problem as problem

RECORDS = 20


def _rate(x: claims.Instance):
    return x.rate_share * regression.largest_learning_rate(problem.data(x))


def _descent(x: claims.Instance, start, teacher):
    labels = dot(problem.data(x), teacher)
    every = x.steps // RECORDS
    return regression.train(problem.data(x), labels, start, _rate(x), every * RECORDS, every=every)


class Descent(NamedTuple):
    """Along gradient descent; `shifted_risk` is that of teachers which are both shifted."""

    weights: Float[Array, "d times"]
    outputs: Float[Array, "n times"]
    risk: Float[Array, " times"]
    shifted_risk: Float[Array, " times"]


class Limit(NamedTuple):
    """gamma and its risk; the exact path; P_perp theta_S and X P_par theta_T."""

    gamma: Float[Array, " d"]
    risk: Float[Array, ""]
    path: Float[Array, "d times"]
    kept: Float[Array, "d 1"]
    labels: Float[Array, " n"]


def _simulate(shifts_source: bool = True) -> Callable:
    def simulate(x: claims.Instance, key) -> Descent:
        path = _descent(x, problem.source(x), problem.target(x))
        shifted_target = problem.target(x) + x.shift + dot(x.seen, problem.data(x))
        shifted = _descent(x, problem.source(x) + shifts_source * x.shift, shifted_target)
        return Descent(
            problem.last_axis_time(path),
            problem.last_axis_time(dot(path, problem.data(x).T)),
            problem.risk(x, path, problem.target(x)),
            problem.risk(x, shifted, shifted_target),
        )

    return simulate


def _predict(
    form: Callable,
    kept: Callable = problem.outside,
    learned: Callable = problem.inside,
    rate: float = 1.0,
) -> Callable:
    def predict(x: claims.Instance) -> Limit:
        times = x.steps // RECORDS * jnp.arange(RECORDS + 1)
        path = regression.gradient_descent(*problem.task(x), rate * _rate(x), times)
        return Limit(
            kept(x, problem.source(x)) + learned(x, problem.target(x)),
            form(x, kept(x, problem.target(x) - problem.source(x))),
            problem.last_axis_time(path.weights),
            kept(x, problem.source(x))[:, None],
            dot(problem.data(x), learned(x, problem.target(x))),
        )

    return predict


def _outside_path(r) -> Float[Array, "d times"]:
    basis = regression.row_space(problem.data(r.x))
    return r.sim.weights - dot(basis, dot(basis.T, r.sim.weights))


theorem = claims.Theorem(
    space=problem.problem_space(
        steps=claims.Size(2000, low=RECORDS, high=200_000),
        rate_share=claims.Real(0.1, 0.95),
        shift=claims.Gaussian("d"),
        seen=claims.Gaussian("n"),
        **problem.distribution_fields(),
    ),
    simulate=_simulate(),
    predict=_predict(problem.covariance_form),
    claims=(
        claims.equal(
            "gamma (Eq. 1)",
            lambda r: r.limit(r.sim.weights),
            lambda r: r.theory.gamma,
            statement="gamma = P_perp theta_S + P_par theta_T",
        ),
        claims.equal(
            "R(gamma) (Eq. 2)",
            lambda r: r.limit(r.sim.risk),
            lambda r: r.theory.risk,
            statement="R(gamma) = ||Sigma^(1/2) P_perp (theta_T - theta_S)||^2",
        ),
        claims.equal("weights after t steps", lambda r: r.sim.weights, lambda r: r.theory.path),
        claims.equal("observation 1: outside the data", _outside_path, lambda r: r.theory.kept),
        claims.equal(
            "observation 1: inside the data",
            lambda r: r.limit(r.sim.outputs),
            lambda r: r.theory.labels,
        ),
        claims.equal(
            "observation 2: only P_perp Delta",
            lambda r: r.limit(r.sim.risk),
            lambda r: r.limit(r.sim.shifted_risk),
            statement="R(gamma) is the same for theta_S + v, theta_T + v + X^T u",
        ),
    ),
    source=claims.Printed(
        "Section 4.1, Theorem 4.1, Eqs. 1 and 2, and the text below it",
        "gamma = P_perp theta_S + P_par theta_T, R(gamma) = "
        "||Sigma^(1/2) P_perp (theta_T - theta_S)||^2",
    ),
    note="Eq. 2 takes the covariance of D, which is not assumed to be centred",
    readings=(
        claims.Reading(
            "corrected",
            claims.Corrected("Sigma is the second moment of D"),
            predict=_predict(problem.moment_form),
            primary=True,
            note="Sigma is the second moment of D, its covariance only where D is centred",
        ),
    ),
    mutants=(
        claims.Mutant(
            "projections swapped",
            predict=_predict(problem.moment_form, kept=problem.inside, learned=problem.outside),
        ),
        claims.Mutant("half of the learning rate", predict=_predict(problem.moment_form, rate=0.5)),
        claims.Mutant("the target alone is shifted", simulate=_simulate(shifts_source=False)),
    ),
)
