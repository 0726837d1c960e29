"""The population gradient of the student's direction is -h(m) (u - u^ m), with h a power series.

Proposition 1 of Dayi and Chen (2024), Section 3.1 and Appendix A.1: m = <u^, u>,
h(m) = 2 sum_l (xi^2/k)^(l+1) (sum_s C(l+s, l) (l+s+1) mu_(l+s+1)^2 A^-(l+s+1) T(l, s)) m^l with
A = 1 + xi^2/k. The gradient is that of the mean loss over Gaussian inputs in d dimensions,
differentiated automatically; for activations of degree 4 a product Gauss-Hermite rule of 5 nodes
takes that mean exactly. With a kink the series is compared with the closed form within the
truncation error it names. The appendix prints h in three more ways.
"""

from __future__ import annotations

from functools import reduce

import jax
import jax.numpy as jnp
import numpy as np

from theorysim.claims import (
    Gaussian,
    Instance,
    Mutant,
    Printed,
    Reading,
    Real,
    Run,
    Size,
    Theorem,
    at_least,
    at_most,
    equal,
)
from theorysim.systems import rank_one
from theorysim.systems.rank_one_overlap import (
    correlations,
    moments,
    population_loss,
    series_coefficients,
    speed,
    speed_series,
)
from theorysim.theorems.low_rank._problem import (
    DEGREES,
    activation,
    learner,
    problem,
    problem_space,
    series,
    truth,
)

KINKED = 16


def _inputs(d: int):
    """Nodes and weights of the product rule, exact for polynomials of degree 2 DEGREES - 1."""
    points, weights = np.polynomial.hermite_e.hermegauss(DEGREES)
    grid = np.stack(np.meshgrid(*d * [points], indexing="ij"), axis=-1).reshape(-1, d)
    shares = reduce(np.multiply.outer, d * [weights / weights.sum()])
    return grid, shares.ravel()


def _simulate(stretch: bool):
    """The population loss and its spherical gradient."""

    def simulate(x: Instance, key):
        given, u, here = problem(x), truth(x), learner(x, x.overlap)
        length = jnp.sqrt(rank_one.square_length(given)) if stretch else 1.0
        inputs, shares = _inputs(x.d)

        def loss(direction):
            def of(sample):
                student = (direction, given.student)
                return rank_one.sample_loss(
                    given, lambda a: series(x).value(length * a), u, student, sample
                )

            return jnp.sum(shares * jax.vmap(of)(inputs))

        value, slope = jax.value_and_grad(loss)(here)
        slope = rank_one.outside(given.features, slope)
        return {"loss": value, "gradient": slope - here * jnp.dot(here, slope)}

    return simulate


def _predict(h_of):
    def predict(x: Instance):
        h, given, chosen = h_of(x), problem(x), series(x)
        return {
            "h": h,
            "closed": speed(given, chosen, x.overlap),
            "gradient": -h * (truth(x) - learner(x, x.overlap) * x.overlap),
            "loss": population_loss(given, chosen, x.overlap),
        }

    return predict


def _printed(x: Instance):
    return speed_series(problem(x), series(x), x.overlap, DEGREES).value


def _appendix(base):
    """2 xi^2 sum_ij l_i l_j c_i c^_j sum_p p mu_p^2 base^-p (G_ij + xi^2 c_i c^_j m)^(p-1)."""

    def h(x: Instance):
        given, chosen = problem(x), series(x)
        a = rank_one.square_length(given)
        p = jnp.arange(1, DEGREES)
        weights = p * jnp.square(chosen.coefficients(DEGREES)[1:])
        inner = correlations(given, x.overlap)[..., None] * a / base(x)
        terms = jnp.sum(weights * inner ** (p - 1), axis=-1) / base(x)
        kicks = jnp.outer(given.readout * given.teacher, given.readout * given.student)
        return 2 * x.scale**2 * jnp.sum(kicks * terms)

    return h


def _odd_coefficients(r: Run):
    given, chosen = problem(r.x), series(r.x)
    table = series_coefficients(given, chosen, DEGREES) * moments(given, DEGREES)[1]
    return jnp.sum(table, axis=1)[1::2]


CLAIMS = (
    equal("C1: the gradient", lambda r: r.sim["gradient"], lambda r: r.theory["gradient"]),
    equal("the series is the closed form", lambda r: r.theory["h"], lambda r: r.theory["closed"]),
    equal("C3: the loss", lambda r: r.sim["loss"], lambda r: r.theory["loss"]),
    at_least("C4: odd coefficients", _odd_coefficients, lambda r: 0.0),
)


def _cut_off(r: Run):
    """h of an activation with a kink, and its series cut off after KINKED orders."""
    given, chosen = problem(r.x), activation(r.x)
    return speed(given, chosen, r.x.overlap), speed_series(given, chosen, r.x.overlap, KINKED)


def _within(share: float):
    """The series with and without the truncation error encloses h."""

    def ends(r: Run):
        cut = _cut_off(r)[1]
        return jnp.stack([cut.value + share * cut.truncation, share * cut.truncation - cut.value])

    def sides(r: Run):
        h = _cut_off(r)[0]
        return jnp.stack([h, -h])

    return at_most("the series cut off", sides, ends)


theorem = Theorem(
    aliases=("condition-1",),
    space=problem_space(
        k=Size(3, high=4), d=Size(5, low=5, high=7), overlap=Real(-1, 1), elsewhere=Gaussian("d")
    ),
    simulate=_simulate(False),
    predict=_predict(_printed),
    claims=CLAIMS,
    readings=(
        Reading(
            "display before h (A.1)",
            Printed("", ""),
            predict=_predict(_appendix(lambda x: 1 + x.scale**2 / x.k)),
            claims=CLAIMS[:2],
        ),
        Reading(
            "display that defines h (A.1)",
            Printed("", ""),
            predict=_predict(_appendix(lambda x: 1 + x.scale**2)),
            claims=CLAIMS[:2],
            note="1 + xi^2 for 1 + xi^2/k",
        ),
        Reading(
            "without the factor 2 (A.3.2, A.5.1)",
            Printed("", ""),
            predict=_predict(lambda x: _printed(x) / 2),
            claims=CLAIMS[:2],
            note="the factor 2 of the square is lost",
        ),
        Reading(
            "neurons not normalised (Eq. 4)",
            Printed("", ""),
            simulate=_simulate(True),
            claims=CLAIMS[:1],
            note="Eq. 4 leaves out the division by sqrt(1 + xi^2/k) that the series assumes",
        ),
        Reading("with a kink", Printed("", ""), claims=(_within(1.0),)),
    ),
    mutants=(
        Mutant(
            "half the gradient, twice the loss, negative coefficients",
            predict=_predict(lambda x: _printed(x) / 2),
            claims=(
                *CLAIMS[:2],
                equal(CLAIMS[2].name, CLAIMS[2].lhs, lambda r: 2 * r.theory["loss"]),
                at_least(CLAIMS[3].name, lambda r: -_odd_coefficients(r), lambda r: 0.0),
                _within(0.0),
            ),
        ),
    ),
    instances=32,
)
