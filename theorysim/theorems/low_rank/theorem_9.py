"""A direction close to u gives a member of a linear family with small loss.

Theorem 9 of Dayi and Chen (2024), Appendix C: 1 - |<u, u^>| <= epsilon (k + xi^2) /
(2 C_sigma lambda_max^2 xi^2 k^2) implies that some h of L_lambda has E(f* - h)^2 <= epsilon. The
candidate of the proof, sum_i lambda_i s(<(w_i + xi c_i u^) / sqrt(A), x>), is checked for ReLU with
C_sigma = 1 and its loss in closed form, with every display on the way.
"""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.numerics.gaussian import relu
from theorysim.numerics.kernels import arc_cosine
from theorysim.systems.rank_one_overlap import population_loss
from theorysim.theorems.low_rank._problem import problem, problem_space


class Candidate(NamedTuple):
    """Of the candidate at 1 - m = x.gap: E(f* - h)^2, E(s(v_i) - s(v_i'))^2 of one neuron.

    Then the square of that neuron's distance from its candidate, and xi / sqrt(k) |u - u^|.
    """

    loss: Float[Array, ""]
    alone: Float[Array, ""]
    square: Float[Array, ""]
    apart: Float[Array, ""]


def simulate(x: claims.Instance, key) -> Candidate:
    """All in closed form."""
    given = problem(x)
    same = given._replace(student=given.teacher)
    kick = x.scale**2 / (x.k + x.scale**2)
    # 1 - cos(angle) = kick gap for the angle between v_i and its candidate; differences of duals
    # of nearly equal neurons would lose their digits.
    angle = 2 * jnp.arcsin(jnp.sqrt(kick * x.gap / 2))
    return Candidate(
        loss=population_loss(same, relu(), 1 - x.gap),
        alone=kick * x.gap - arc_cosine(angle) / jnp.pi,
        square=2 * kick * x.gap,
        apart=jnp.sqrt(2 * x.gap) * x.scale / jnp.sqrt(x.k),
    )


def _loss(largest=jnp.max):
    """The epsilon for which the hypothesis on 1 - m is an equality."""

    def epsilon(r: claims.Run):
        square = r.x.scale**2
        readout = largest(jnp.abs(r.x.readout)) ** 2
        return 2 * readout * square * r.x.k**2 / (r.x.k + square) * r.x.gap

    return claims.at_most("E(f* - h)^2 <= epsilon", lambda r: r.sim.loss, epsilon)


CAUCHY_SCHWARZ = claims.at_most(
    "P1: Cauchy-Schwarz over neurons",
    lambda r: r.sim.loss,
    lambda r: r.x.k * jnp.sum(r.x.readout**2) * r.sim.alone,
)
LIPSCHITZ = claims.at_most("P2: Lipschitz neurons", lambda r: r.sim.alone, lambda r: r.sim.square)
DISTANCE = claims.equal(
    "P3: their distance",
    lambda r: jnp.sqrt(r.sim.square),
    lambda r: r.sim.apart / jnp.sqrt(1 + r.x.scale**2 / r.x.k),
)

theorem = claims.Theorem(
    space=problem_space(gap=claims.Real(1e-4, 2, log=True)),
    simulate=simulate,
    claims=(_loss(), CAUCHY_SCHWARZ, LIPSCHITZ, DISTANCE),
    source=claims.Printed(
        "Theorem 9, Appendix C.2",
        "1 - |<u, u^>| <= epsilon (k + xi^2) / (2 C_sigma lambda_max^2 xi^2 k^2)",
    ),
    mutants=(
        claims.Mutant("lambda_min for lambda_max", claims=(_loss(jnp.min),)),
        claims.Mutant(
            "the k of Cauchy-Schwarz is lost",
            claims=(CAUCHY_SCHWARZ.against(lambda r: jnp.sum(r.x.readout**2) * r.sim.alone),),
        ),
        claims.Mutant(
            "the cube of the distance for its square",
            claims=(LIPSCHITZ.against(lambda r: r.sim.square**1.5),),
        ),
        claims.Mutant(
            "the division by sqrt(A) is lost", claims=(DISTANCE.against(lambda r: r.sim.apart),)
        ),
    ),
)
