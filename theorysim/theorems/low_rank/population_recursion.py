"""The population recursion of the overlap and its contraction.

Section 3.1 of Dayi and Chen (2024), unnumbered: m+ = m + eta h(m) (1 - m^2), so
|1 - m+| / |1 - m| = |1 - eta h(m) (1 + m)|; where h(m) >= s, m >= 0 and eta h(m) <= 1/2, the factor
is at most 1 - eta s. Descent of the population loss on the sphere has this step to first order in
eta only: the projection adds a second order, which the corrected reading bounds.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from theorysim.claims import (
    Gaussian,
    Instance,
    Mutant,
    Printed,
    Reading,
    Real,
    Theorem,
    at_most,
    equal,
)
from theorysim.systems import rank_one
from theorysim.systems.rank_one_overlap import population_loss, speed
from theorysim.theorems.low_rank._problem import activation, learner, problem, problem_space, truth


def _rate(x: Instance):
    """eta with eta |h(m)| = x.rate_share / 2."""
    return x.rate_share / 2 / jnp.abs(speed(problem(x), activation(x), x.overlap))


def simulate(x: Instance, key):
    """1 - m after a step of projected gradient descent of the population loss on the sphere."""
    here, u = learner(x, x.overlap), truth(x)

    def loss(direction):
        return population_loss(problem(x), activation(x), jnp.dot(direction, u))

    slope = jax.grad(loss)(here)
    slope = slope - here * jnp.dot(here, slope)
    moved = here - _rate(x) * slope
    return {"flat": 1 - jnp.dot(moved, u), "sphere": 1 - jnp.dot(rank_one.unit(moved), u)}


def _predict(share: float):
    def predict(x: Instance):
        h = speed(problem(x), activation(x), x.overlap)
        return {"h": h, "factor": 1 - share * _rate(x) * h * (1 + x.overlap)}

    return predict


def _factor(which: str):
    return lambda r: jnp.abs(r.sim[which]) / (1 - r.x.overlap)


def _second_order(r):
    """|h|^2 eta^2 (1 - m^2) / 2 times |m + eta h (1 - m^2)| bounds the shift by the projection."""
    step = _rate(r.x) * r.theory["h"]
    square = step**2 * (1 - r.x.overlap**2)
    return square / 2 * jnp.abs(r.x.overlap + step * (1 - r.x.overlap**2)) / (1 - r.x.overlap)


def _claims(which: str, share: float):
    return (
        equal("C1: the factor", _factor(which), lambda r: jnp.abs(r.theory["factor"])),
        at_most(
            "C2: at most 1 - eta s",
            _factor(which),
            lambda r: 1 - share * _rate(r.x) * r.theory["h"],
            where=lambda r: jnp.minimum(r.x.overlap, r.theory["h"]),
        ),
    )


NEAR = at_most(
    "C1 on the sphere, to second order",
    lambda r: jnp.abs(_factor("sphere")(r) - jnp.abs(r.theory["factor"])),
    _second_order,
)

theorem = Theorem(
    space=problem_space(
        overlap=Real(-0.99, 0.99), rate_share=Real(0.001, 1, log=True), elsewhere=Gaussian("d")
    ),
    simulate=simulate,
    predict=_predict(1.0),
    claims=_claims("sphere", 1),
    printed="for the step on the sphere",
    readings=(
        Reading(
            "without the projection",
            Printed("", ""),
            claims=(*_claims("flat", 1), NEAR),
            primary=True,
            note="the recursion is that of the step before its projection, which moves it by less "
            "than (eta h)^2 (1 - m^2) |m+| / 2",
        ),
    ),
    mutants=(
        Mutant(
            "twice the step",
            predict=_predict(2.0),
            claims=(
                *_claims("flat", 3),
                at_most(NEAR.name, NEAR.lhs, lambda r: 0.01 * _second_order(r)),
            ),
        ),
    ),
)
