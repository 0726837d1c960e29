"""Few units have a small preactivation: at most C m n_Q R / (kappa delta), not C m n_Q R / delta.

Lemma 5 of Liu et al. (2019): with probability 1 - delta, sum_i |{r: |<w_r(0), x_i>| <= R}| <=
C m n_Q R / delta for some positive C. Du et al. (2019) have kappa = 1; here w_r(0) ~ N(0, kappa^2)
and the chance of the event is erf(R / (sqrt(2) kappa)) <= 2 R / (sqrt(2 pi) kappa). Eq. 20 (with
n_P, for one i) has the kappa. Printed beside them: <w_r, x> and w_r have "the same Gaussian"
distribution, so that |<w_r, x>| <= R and |w_r| <= R have the same chance.
"""

from __future__ import annotations

import jax.numpy as jnp

from theorysim.claims import (
    Corrected,
    Mutant,
    Printed,
    Reading,
    Real,
    Size,
    Theorem,
    equal,
    exists_constant,
    with_probability,
)
from theorysim.numerics.products import dot
from theorysim.theorems.transferability._problem import problem_space, target
from theorysim.theorems.transferability._training import started

SMALL_SCALES = (1.0, 0.1, 0.01, 1e-3)


def simulate(x, key):
    """How many preactivations and how many weight vectors are at most R, as shares."""
    weights = started(x, key).weights
    values = dot(target(x).inputs, weights.T)
    return {
        "count": jnp.sum(jnp.abs(values) <= x.radius).astype(float),
        "share": jnp.mean((jnp.abs(values) <= x.radius).astype(float)),
        "share of units": jnp.mean((jnp.linalg.norm(weights, axis=1) <= x.radius).astype(float)),
    }


def _scale(power: int):
    return lambda r: r.x.width * r.x.q * r.x.radius / (r.x.failure * r.x.kappa**power)


def _order(power: int):
    return exists_constant(
        "sum_i |S_i| <= C m n_Q R / delta",
        lambda r: jnp.quantile(r.sim["count"], 1 - r.x.failure),
        _scale(power),
        over={"kappa": SMALL_SCALES, "failure": (0.5, 0.25, 0.125)},
    )


def _markov(constant: float):
    return with_probability(
        "with C = sqrt(2 / pi) / kappa",
        lambda r: r.sim["count"],
        lambda r: constant * jnp.sqrt(2 / jnp.pi) * _scale(1)(r),
        at_least=lambda r: 1 - r.x.failure,
    )


theorem = Theorem(
    space=problem_space(
        width=Size(512, high=65536),
        kappa=Real(1e-3, 10, log=True),
        radius=Real(1e-4, 1, log=True),
        failure=Real(0.05, 0.5, log=True),
    ),
    simulate=simulate,
    claims=(_order(0),),
    readings=(
        Reading(
            "corrected",
            Corrected(""),
            claims=(_order(1), _markov(1.0)),
            primary=True,
            note="C m n_Q R / (kappa delta): the initial scale is lost in print",
        ),
        Reading(
            "the same Gaussian",
            Printed("", ""),
            claims=(
                equal(
                    "P(|<w_r, x>| <= R) = P(|w_r| <= R)",
                    lambda r: r.mean(r.sim["share"]),
                    lambda r: r.mean(r.sim["share of units"]),
                ),
            ),
            note="the norm of w_r has the law of kappa times chi with d degrees of freedom",
        ),
    ),
    mutants=(Mutant("a tenth of the typical number", claims=(_order(0), _markov(0.01))),),
    keys=256,
    instances=16,
    mutant_instances=16,
)
