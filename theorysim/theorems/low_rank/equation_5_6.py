"""The recursion of the overlap: drift of the population, noise of the sample, projection.

Eqs. 5 and 6 of Dayi and Chen (2024): u+ = u - eta grad L + Q^, grad L = grad Phi + E, and
m+ = m + eta h(m) (1 - m^2) + eta <E, u> + <Q^, u>. Appendix B writes it with Pi = |u - eta grad L|:
m+ = m - eta <grad Phi, u> - eta <E, u> - (1 - 1/Pi)(m - eta <grad L, u>); the proof of Lemma 9 has
both of these signs turned. Each is compared with a step in d dimensions by automatic
differentiation; h comes from Proposition 1.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from theorysim.claims import (
    Corrected,
    Gaussian,
    Instance,
    Mutant,
    Printed,
    Reading,
    Real,
    Theorem,
    equal,
)
from theorysim.systems import rank_one
from theorysim.systems.rank_one_overlap import speed
from theorysim.theorems.low_rank._problem import activation, learner, problem, problem_space, truth


def simulate(x: Instance, key):
    """The next overlap, and <grad L, u>, <Q^, u> and Pi of the step."""
    given, u, here = problem(x), truth(x), learner(x, x.start)
    sample = jax.random.normal(key, (x.d,))

    def loss(direction):
        student = (direction, given.student)
        return rank_one.sample_loss(given, activation(x).value, u, student, sample)

    slope = rank_one.outside(given.features, jax.grad(loss)(here))
    slope = slope - here * jnp.dot(here, slope)
    moved = here - x.rate * slope
    after = rank_one.unit(moved)
    return {
        "next": jnp.dot(after, u),
        "slope": jnp.dot(slope, u),
        "rest": jnp.dot(after - moved, u),
        "length": jnp.linalg.norm(moved),
    }


def _sides(noise: float, projection):
    """m + eta h (1 - m^2) + noise eta <E, u> + projection; <E, u> = <grad L, u> + h (1 - m^2)."""

    def side(r):
        drift = r.theory * (1 - r.x.start**2)
        error = r.sim["slope"] + drift
        moved = r.x.start + r.x.rate * drift + noise * r.x.rate * error
        return moved + projection(r)

    return (equal("the next overlap", lambda r: r.sim["next"], side),)


def _rest(r):
    return r.sim["rest"]


def _shrunk(r):
    """(1 - 1/Pi) (m - eta <grad L, u>)."""
    return (1 - 1 / r.sim["length"]) * (r.x.start - r.x.rate * r.sim["slope"])


theorem = Theorem(
    space=problem_space(
        start=Real(-0.99, 0.99), rate=Real(1e-3, 0.3, log=True), elsewhere=Gaussian("d")
    ),
    simulate=simulate,
    predict=lambda x: speed(problem(x), activation(x), x.start),
    claims=_sides(1.0, _rest),
    printed="Eqs. 5 and 6",
    readings=(
        Reading(
            "Appendix B",
            Printed("", ""),
            claims=_sides(-1.0, lambda r: -_shrunk(r)),
            primary=True,
            note="with -eta <grad Phi, u> = eta h(m) (1 - m^2)",
        ),
        Reading(
            "Eqs. 5 and 6, corrected",
            Corrected(""),
            claims=_sides(-1.0, _rest),
            note="noise enters as -eta E",
        ),
        Reading(
            "proof of Lemma 9",
            Printed("", ""),
            claims=_sides(1.0, _shrunk),
            note="both the noise and the projection have the opposite sign",
        ),
    ),
    mutants=(Mutant("twice the projection", claims=_sides(-1.0, lambda r: -2 * _shrunk(r))),),
    keys=4,
)
