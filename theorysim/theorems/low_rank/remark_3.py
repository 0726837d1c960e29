"""As the perturbation outgrows the features, h is that of a generalised linear model.

Remark 3 of Dayi and Chen (2024), xi = xi_bar sqrt(k), xi_bar -> infinity: the terms of h with s >=
1 vanish, and h(m) tends to sum_l l mu_(l+1)^2 m^l, up to a constant. Decided for c = c^ =
(1/sqrt(k), ...), lambda = 1/k, as in the special case of Section 1.1, and activations of degree 4
on random features. The limit is 2 sum_l (l+1) mu_(l+1)^2 m^l: at m = 0 the printed one loses mu_1.
Of an activation of information exponent l*, the least l >= 1 with mu_l != 0, h at initialisation is
said to scale as d^(-l*/2). Decided for Hermite polynomials at m = d^(-1/2), the size of a random
unit vector's overlap, and xi_bar = 10^4, where the features are lost.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.numerics.gaussian import from_coefficients
from theorysim.systems import rank_one
from theorysim.systems.rank_one_overlap import moments, series_coefficients, speed
from theorysim.theorems.low_rank._problem import DEGREES, features, problem_space, series

RUNGS = (4.0, 16.0, 64.0, 256.0)  # xi_bar
DIMENSIONS = (16.0, 64.0, 256.0, 1024.0)  # of the inputs
ORDERS = np.arange(DEGREES - 1)  # l
LARGE = 1e4  # xi_bar without features


def _problem(x: claims.Instance) -> rank_one.RankOne:
    ones = jnp.ones(x.k)
    scale = x.xi_bar * jnp.sqrt(x.k)
    return rank_one.from_signs(features(x), ones / x.k, ones, ones, scale)


def simulate(x: claims.Instance, key) -> tuple[Array, Array]:
    """h(m) in closed form, and its terms with s >= 1 for every l."""
    given = _problem(x)
    table = series_coefficients(given, series(x), DEGREES)
    weights = table * moments(given, DEGREES)[np.arange(DEGREES) % 2]
    return speed(given, series(x), x.overlap), jnp.sum(weights[:, 1:], axis=1)


def at_initialisation(x: claims.Instance, key) -> Float[Array, ""]:
    """h(d^(-1/2)) of the Hermite polynomial of order l*."""
    hermite = from_coefficients(jax.nn.one_hot(x.order, DEGREES, dtype=float))
    return speed(_problem(x.replace(xi_bar=LARGE)), hermite, x.dimension**-0.5)


def _predict(shift: float, factor: float):
    """factor sum_l (l + shift) mu_(l+1)^2 m^l."""

    def predict(x: claims.Instance) -> Float[Array, ""]:
        weights = (ORDERS + shift) * x.mu[1:] ** 2
        return factor * jnp.polyval(weights[::-1], x.overlap)

    return predict


def _features_vanish(size: float = 0.0) -> claims.Claim:
    return claims.tends_to(
        "C1: terms with s >= 1", lambda r: r.sim[1], lambda r: size, over={"xi_bar": RUNGS}
    )


def _start(shift: float) -> claims.Claim:
    """h at initialisation over d^(-(l* - shift)/2) does not move with d."""
    return claims.scales_as(
        "C3: h at initialisation",
        lambda r: r.sim * r.x.dimension ** ((r.x.order - shift) / 2),
        over={"dimension": DIMENSIONS},
        exponent=0,
        statement="over its printed power of d",
    )


LIMIT = claims.tends_to("C2: h(m)", lambda r: r.sim[0], lambda r: r.theory, over={"xi_bar": RUNGS})

theorem = claims.Theorem(
    space=problem_space(
        overlap=claims.Real(-1, 1),
        xi_bar=claims.Real(RUNGS[0], RUNGS[-1], log=True),
        order=claims.Integer(1, DEGREES - 1),
        dimension=claims.Real(DIMENSIONS[0], DIMENSIONS[-1], log=True),
    ),
    simulate=simulate,
    predict=_predict(0.0, 1.0),
    claims=(_features_vanish(), LIMIT),
    source=claims.Printed(
        "Remark 3, Section 3.1",
        "sum_(s >= 1) ... T(l, s) -> 0; h(m) around 0 ~ sum_(l >= 0) l mu_(l+1)(sigma)^2 m^l",
    ),
    note="the coefficient of m^l is 2 (l+1) mu_(l+1)^2",
    readings=(
        claims.corrected(
            "2 (l + 1) mu_(l+1)^2 for l mu_(l+1)^2",
            predict=_predict(1.0, 2.0),
            note="with 2 (l+1) mu_(l+1)^2 for l mu_(l+1)^2 it is the limit",
        ),
        claims.Reading(
            "at initialisation",
            claims.Printed(
                "Remark 3, Section 3.1",
                "with information exponent l*, h at initialisation scales as 1 / d^(l*/2)",
            ),
            simulate=at_initialisation,
            claims=(_start(0.0),),
            note="the first term of h has m^(l*-1), which is d^(-(l*-1)/2); the print would be "
            "right if l* were the least l with mu_(l+1) != 0",
        ),
        claims.Reading(
            "at initialisation, corrected",
            claims.Corrected("1 / d^((l*-1)/2) for 1 / d^(l*/2)"),
            simulate=at_initialisation,
            claims=(_start(1.0),),
            note="h is 2 l* mu_(l*)^2 m^(l*-1), a constant where l* = 1",
        ),
    ),
    mutants=(
        claims.Mutant("the factor 2 is lost", predict=_predict(1.0, 1.0)),
        claims.Mutant("terms of size 1", claims=(_features_vanish(1.0),)),
        claims.Mutant("d^(-(l*-2)/2)", of=("at initialisation, corrected",), claims=(_start(2.0),)),
    ),
    instances=16,
)
