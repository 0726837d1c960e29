"""The population recursion of the overlap and its contraction.

Section 3.1 of Dayi and Chen (2024), unnumbered: m+ = m + eta h(m) (1 - m^2), so
|1 - m+| / |1 - m| = |1 - eta h(m) (1 + m)|; where h(m) >= s, m >= 0 and eta h(m) <= 1/2, the factor
is at most 1 - eta s. Descent of the population loss on the sphere has this step to first order in
eta only: the projection adds a second order, which is bounded.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.systems import rank_one
from theorysim.systems.rank_one_overlap import population_loss, speed
from theorysim.theorems.low_rank._problem import activation, learner, problem, problem_space, truth


def _rate(x: claims.Instance):
    """eta with eta |h(m)| = x.rate_share / 2."""
    return x.rate_share / 2 / jnp.abs(speed(problem(x), activation(x), x.overlap))


def simulate(x: claims.Instance, key) -> tuple[Array, ...]:
    """|1 - m+| / |1 - m| of descent of the population loss, before and after the projection."""
    here, u = learner(x, x.overlap), truth(x)

    def loss(direction):
        return population_loss(problem(x), activation(x), jnp.dot(direction, u))

    slope = jax.grad(loss)(here)
    slope = slope - here * jnp.dot(here, slope)
    moved = here - _rate(x) * slope
    after = jnp.stack([jnp.dot(moved, u), jnp.dot(rank_one.unit(moved), u)])
    return tuple(jnp.abs(1 - after) / (1 - x.overlap))


def predict(x: claims.Instance) -> Float[Array, ""]:
    """eta h(m)."""
    return _rate(x) * speed(problem(x), activation(x), x.overlap)


def _factor(r: claims.Run):
    """|1 - eta h(m) (1 + m)|."""
    return jnp.abs(1 - r.theory * (1 + r.x.overlap))


def _second_order(r: claims.Run):
    """(eta h)^2 (1 - m^2) / 2 times |m + eta h (1 - m^2)|, over 1 - m."""
    m = r.x.overlap
    shift = r.theory**2 * (1 - m**2) / 2 * jnp.abs(m + r.theory * (1 - m**2))
    return shift / (1 - m)


FACTOR = claims.equal("C1: the factor", lambda r: r.sim[0], _factor)
GEOMETRIC = claims.at_most(
    "C2: at most 1 - eta s",
    lambda r: r.sim[0],
    lambda r: 1 - r.theory,
    where=lambda r: jnp.minimum(r.x.overlap, r.theory),
)
NEAR = claims.at_most(
    "C1 on the sphere, to second order", lambda r: jnp.abs(r.sim[1] - _factor(r)), _second_order
)

theorem = claims.Theorem(
    space=problem_space(
        overlap=claims.Real(-0.99, 0.99),
        rate_share=claims.Real(0.001, 1, log=True),
        elsewhere=claims.Gaussian("d"),
    ),
    simulate=simulate,
    predict=predict,
    claims=(FACTOR, GEOMETRIC),
    printed="without the projection",
    source=claims.Printed(
        "Section 3.1, after Eq. 5", "|1 - m_(t+1)| / |1 - m_t| = |1 - eta h(m_t) (1 + m_t)|"
    ),
    readings=(
        claims.Reading(
            "for the step on the sphere",
            claims.Finding("the step that the recursion leaves out"),
            claims=(NEAR,),
            note="the projection moves m by less than (eta h)^2 (1 - m^2) |m+| / 2",
        ),
    ),
    mutants=(
        claims.Mutant(
            "1 - m for 1 + m; 1 - 2 eta s",
            claims=(
                FACTOR.against(lambda r: jnp.abs(1 - r.theory * (1 - r.x.overlap))),
                GEOMETRIC.against(lambda r: 1 - 2 * r.theory),
            ),
        ),
    ),
)
