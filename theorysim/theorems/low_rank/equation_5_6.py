"""The recursion of the overlap: drift of the population, noise of the sample, projection.

Eqs. 5 and 6 of Dayi and Chen (2024): u+ = u - eta grad L + Q^, grad L = grad Phi + E, and
m+ = m + eta h(m) (1 - m^2) + eta <E, u> + <Q^, u>. Appendix B writes it with Pi = |u - eta grad L|:
m+ = m - eta <grad Phi, u> - eta <E, u> - (1 - 1/Pi)(m - eta <grad L, u>); the proof of Lemma 9 has
both of these signs turned. Each is compared with a step in d dimensions by automatic
differentiation; h comes from Proposition 1. The drift cancels from its sum with the noise:
that the noise has mean 0 is `condition-1`.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.systems import rank_one
from theorysim.systems.rank_one_overlap import speed
from theorysim.theorems.low_rank._generic import GENERIC
from theorysim.theorems.low_rank._problem import activation, learner, problem, problem_space, truth


class Step(NamedTuple):
    """The next overlap, and what makes it: <grad L, u>, <Q^, u> and Pi."""

    next: Float[Array, ""]
    slope: Float[Array, ""]
    rest: Float[Array, ""]
    length: Float[Array, ""]


def simulate(x: claims.Instance, key) -> Step:
    """A step on the sphere, with a fresh sample."""
    given, u, here = problem(x), truth(x), learner(x, x.start)
    sample = jax.random.normal(key, (x.d,))

    def loss(direction):
        student = (direction, given.student)
        return rank_one.sample_loss(given, activation(x).value, u, student, sample)

    slope = rank_one.spherical_gradient(loss, given.features, here)
    moved = here - x.rate * slope
    after = rank_one.unit(moved)
    length = jnp.linalg.norm(moved)
    return Step(jnp.dot(after, u), jnp.dot(slope, u), jnp.dot(after - moved, u), length)


def _drift(r: claims.Run):
    """h(m) (1 - m^2) = -<grad Phi, u>."""
    return r.theory * (1 - r.x.start**2)


def _next(noise: float, projection):
    """m+ = m + eta h (1 - m^2) + noise eta <E, u> + projection, <E, u> = <grad L - grad Phi, u>."""

    def side(r: claims.Run):
        error = r.sim.slope + _drift(r)
        return r.x.start + r.x.rate * (_drift(r) + noise * error) + projection(r)

    return claims.equal("the next overlap", lambda r: r.sim.next, side)


def _shrinkage(r: claims.Run):
    """(1 - 1/Pi) (m - eta <grad L, u>)."""
    return (1 - 1 / r.sim.length) * (r.x.start - r.x.rate * r.sim.slope)


theorem = claims.Theorem(
    space=problem_space(
        start=claims.Real(-0.99, 0.99),
        rate=claims.Real(1e-3, 0.3, log=True),
        elsewhere=claims.Gaussian("d"),
    ),
    simulate=simulate,
    predict=lambda x: speed(problem(x), activation(x), x.start),
    claims=(_next(1.0, lambda r: r.sim.rest),),
    hypotheses=GENERIC,
    printed="Eqs. 5 and 6",
    source=claims.Printed(
        "Eqs. 5 and 6, Section 3.1", "m_(t+1) = m_t + eta h (1 - m_t^2) + eta <E_t, u> + Q_t"
    ),
    note="the noise of the gradient enters as -eta <E, u>",
    readings=(
        claims.Reading(
            "Appendix B",
            claims.Printed(
                "Appendix B.1",
                "m_(t+1) = m_t - eta grad Phi - eta <E, u> - (1 - 1/Pi_t)(m_t - eta <grad L, u>)",
            ),
            claims=(_next(-1.0, lambda r: -_shrinkage(r)),),
            hypotheses={},
            primary=True,
            note="with -eta <grad Phi, u> = eta h(m) (1 - m^2)",
        ),
        claims.Reading(
            "Eqs. 5 and 6, corrected",
            claims.Corrected("-eta <E, u> for +eta <E, u>"),
            claims=(_next(-1.0, lambda r: r.sim.rest),),
            hypotheses={},
            note="the noise enters as -eta E",
        ),
        claims.Reading(
            "proof of Lemma 9",
            claims.Printed(
                "Proof of Lemma 9, Appendix B.3", "+ eta sum <E_j, u> + sum (1 - 1/r_j)(...)"
            ),
            claims=(_next(1.0, _shrinkage),),
            note="both the noise and the projection have the opposite sign",
        ),
        claims.Reading(
            "proof of Lemma 9, corrected",
            claims.Corrected("- eta sum <E_j, u> - sum (1 - 1/r_j)(...), both for +"),
            claims=(_next(-1.0, lambda r: -_shrinkage(r)),),
            hypotheses={},
            note="as in Appendix B.1",
        ),
    ),
    mutants=(
        claims.Mutant("noise added, as in Eq. 6", claims=(_next(1.0, lambda r: -_shrinkage(r)),)),
        claims.Mutant("projection added", claims=(_next(-1.0, _shrinkage),)),
    ),
    keys=4,
)
