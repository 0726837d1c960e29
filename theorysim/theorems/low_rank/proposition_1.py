"""The population gradient of the student's direction is -h(m) (u - u^ m), with h a power series.

Proposition 1 of Dayi and Chen (2024), Section 3.1 and Appendix A.1: m = <u^, u>,
h(m) = 2 sum_l (xi^2/k)^(l+1) (sum_s C(l+s, l) (l+s+1) mu_(l+s+1)^2 A^-(l+s+1) T(l, s)) m^l with
A = 1 + xi^2/k. The gradient is that of the mean loss over Gaussian inputs in d dimensions,
differentiated automatically; for activations of degree 4 a product Gauss-Hermite rule of 5 nodes
takes that mean exactly. With a kink the series is compared with the closed form within the
truncation error it names. How the appendix prints h is `appendix-a.1`.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.systems import rank_one
from theorysim.systems import rank_one_overlap as closed
from theorysim.theorems.low_rank import _problem as problems
from theorysim.theorems.low_rank._generic import GENERIC
from theorysim.theorems.low_rank._product_rule import product_rule

KINKED = 16


class Theory(NamedTuple):
    """h as printed and in closed form, and what they say of gradient and loss."""

    h: Float[Array, ""]
    closed: Float[Array, ""]
    gradient: Float[Array, " d"]
    loss: Float[Array, ""]


def _anywhere(x: claims.Instance) -> Float[Array, " d"]:
    """A unit vector that is not orthogonal to the features."""
    return rank_one.unit(problems.learner(x, x.overlap) + rank_one.unit(x.rows[0]))


def _simulate(stretch: bool = False, outside: bool = True):
    """The mean loss and its spherical gradient in u^.

    Neurons are not divided by sqrt(A) where `stretch`; u^ is off the features where `outside`.
    """

    def simulate(x: claims.Instance, key):
        given, u = problems.problem(x), problems.truth(x)
        here = problems.learner(x, x.overlap) if outside else _anywhere(x)
        length = jnp.sqrt(rank_one.square_length(given)) if stretch else 1.0
        inputs, shares = product_rule(x.d)

        def loss(direction):
            def of(sample):
                student = (direction, given.student)
                return rank_one.sample_loss(
                    given, lambda a: problems.series(x).value(length * a), u, student, sample
                )

            return jnp.sum(shares * jax.vmap(of)(inputs))

        value, slope = jax.value_and_grad(loss)(here)
        slope = rank_one.outside(given.features, slope) if outside else slope
        return value, slope - here * jnp.dot(here, slope)

    return simulate


def _predict(h_of, outside: bool = True):
    def predict(x: claims.Instance) -> Theory:
        given, chosen = problems.problem(x), problems.series(x)
        here = problems.learner(x, x.overlap) if outside else _anywhere(x)
        m = x.overlap if outside else here @ problems.truth(x)
        h = h_of(x, m)
        gradient = -h * (problems.truth(x) - here * m)
        exact = closed.speed(given, chosen, m)
        return Theory(h, exact, gradient, closed.population_loss(given, chosen, m))

    return predict


def _printed(x: claims.Instance, m) -> Float[Array, ""]:
    return closed.speed_series(problems.problem(x), problems.series(x), m, problems.DEGREES).value


def _odd_coefficients(parity: int):
    """Those of odd l, with T(l, s) as printed for l of that parity."""

    def coefficients(r: claims.Run) -> Float[Array, " odd"]:
        given = problems.problem(r.x)
        table = (
            closed.series_coefficients(given, problems.series(r.x), problems.DEGREES)
            * closed.moments(given, problems.DEGREES)[parity]
        )
        return jnp.sum(table, axis=1)[1::2]

    return claims.at_least("C4: odd coefficients", coefficients, lambda r: 0.0)


GRADIENT = claims.equal("C1: the gradient", lambda r: r.sim[1], lambda r: r.theory.gradient)
SERIES = claims.equal(
    "the series is the closed form", lambda r: r.theory.h, lambda r: r.theory.closed
)
LOSS = claims.equal("C3: the loss", lambda r: r.sim[0], lambda r: r.theory.loss)


def _cut(r: claims.Run, orders: int) -> closed.Series:
    given, chosen = problems.problem(r.x), problems.activation(r.x)
    return closed.speed_series(given, chosen, r.x.overlap, orders)


def _cut_off(orders: int):
    """The series cut off, with and without a bound on what it leaves out, encloses h."""

    def ends(r: claims.Run):
        cut, left_out = _cut(r, orders), _cut(r, KINKED).truncation
        return jnp.stack([cut.value + left_out, left_out - cut.value])

    def sides(r: claims.Run):
        h = closed.speed(problems.problem(r.x), problems.activation(r.x), r.x.overlap)
        return jnp.stack([h, -h])

    return claims.at_most("the series cut off", sides, ends)


theorem = claims.Theorem(
    space=problems.problem_space(
        k=claims.Size(3, high=4),
        d=claims.Size(5, low=5, high=7),
        overlap=claims.Real(-1, 1),
        elsewhere=claims.Gaussian("d"),
    ),
    simulate=_simulate(),
    predict=_predict(_printed),
    claims=(GRADIENT, SERIES, LOSS, _odd_coefficients(1)),
    source=claims.Printed(
        "Proposition 1, Section 3.1",
        "the population spherical gradient is -h(<u, u^>) (u - u^ <u^, u>)",
    ),
    readings=(
        claims.Reading(
            "at any u^ on the sphere",
            claims.Printed("Proposition 1, Section 3.1", "at any u^ in S^(d-1)"),
            simulate=_simulate(outside=False),
            predict=_predict(_printed, outside=False),
            hypotheses=GENERIC,
            claims=(GRADIENT,),
            note="the proof takes u^ orthogonal to the features, as Eq. 4 keeps it",
        ),
        claims.Reading(
            "at any u^ on the sphere, corrected",
            claims.Corrected("at any u^ that is orthogonal to the features, as in the proof"),
            claims=(GRADIENT,),
            note="as Eq. 4 keeps it",
        ),
        claims.Reading(
            "neurons not normalised (Eq. 4)",
            claims.Printed("Section 1.2.2", "(f*(x) - lambda^T s((W + xi c^ u^T) x))^2"),
            simulate=_simulate(stretch=True),
            hypotheses=GENERIC,
            claims=(GRADIENT,),
            note="Eq. 4 leaves out the division by sqrt(1 + xi^2/k) that the series assumes",
        ),
        claims.Reading(
            "neurons not normalised (Eq. 4), corrected",
            claims.Corrected("neurons of f* and of the student over sqrt(1 + xi^2/k)"),
            claims=(GRADIENT,),
            note="neurons of length one, as in the appendix",
        ),
        claims.Reading(
            "with a kink",
            claims.Printed(
                "Proposition 1, Section 3.1", "h(m) = 2 sum_l ..., a series without end"
            ),
            claims=(_cut_off(KINKED),),
        ),
    ),
    mutants=(
        claims.Mutant(
            "the factor 2 of the square is lost", predict=_predict(lambda x, m: _printed(x, m) / 2)
        ),
        claims.Mutant("the loss is halved", claims=(LOSS.scaled(0.5),)),
        claims.Mutant("T(l, s) of even l for odd l", claims=(_odd_coefficients(0),)),
        claims.Mutant("cut off after two orders", of=("with a kink",), claims=(_cut_off(2),)),
    ),
    instances=32,
)
