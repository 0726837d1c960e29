"""For linear teachers the first term of Theorem 6.1 is at most their distance over sqrt(n).

Corollary 6.3 of Shachaf et al. (2021): Theorem 6.1 with Corollary 6.2 for its first term, so the
factor is 2 * 3 = 6; with the best factor of Corollary 6.2 it is 4. The step from the one term to
the other is what is checked, at infinite width as in Theorem 6.1, from outputs <x, theta_S>
(Assumption 3.2). The bound of the risk itself could not fail at sizes that run: up to 36 samples a
network that is not trained at all stays below 6 ||theta_T - theta_S|| / sqrt(n). That fine-tuning
improves as the distance of the teachers decreases is corollary-6.3-distance.
"""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.numerics.products import dot
from theorysim.theorems.linear_teachers import _kernel_regime as regime


class Terms(NamedTuple):
    """The first terms of Eq. 11 and, but for its factor, of the corollary."""

    complexity: Float[Array, ""]
    distance: Float[Array, ""]
    """||theta_T - theta_S|| / sqrt(n)"""


def simulate(x: claims.Instance, key) -> Terms:
    samples = regime.rows(key, x.n, x.d, x.spread)
    difference = x.target_norm * x.target_direction - x.source_norm * x.source_direction
    start = regime.fine_tuning(dot(samples, difference), samples)
    return Terms(2 * start.complexity, jnp.linalg.norm(difference) / jnp.sqrt(float(x.n)))


def _first_term(factor: float):
    return claims.at_most(
        "the first term of Eq. 11",
        lambda r: r.sim.complexity,
        lambda r: factor * r.sim.distance,
        statement=f"2 sqrt(y~^T H^(-1) y~ / n) <= {factor:g} ||theta_T - theta_S|| / sqrt(n)",
    )


theorem = claims.Theorem(
    space=claims.Space(
        d=claims.Size(32, high=256),
        n=claims.Size(8, high=256),
        spread=claims.Real(0.03, 30, log=True),
        source_direction=claims.UnitVector("d"),
        target_direction=claims.UnitVector("d"),
        source_norm=claims.Real(0.1, 1, log=True),
        target_norm=claims.Real(0.1, 1, log=True),
    ),
    simulate=simulate,
    claims=(_first_term(6.0),),
    printed="inference: its first term",
    source=claims.Printed(
        "Section 6, Corollary 6.3",
        "6 ||theta_T - theta_S||_2 / sqrt(n) + O(sqrt(log(n / (lambda_0 delta)) / n))",
    ),
    readings=(
        claims.Reading(
            "4 for the factor 6",
            claims.Finding("the best factor of Corollary 6.2 inserted"),
            claims=(_first_term(4.0),),
            note="Corollary 6.2 holds with 2 for 3",
        ),
    ),
    mutants=(claims.Mutant("the factor of Corollary 6.2 lost", claims=(_first_term(2.0),)),),
    keys=32,
    instances=16,
    mutant_instances=16,
)
