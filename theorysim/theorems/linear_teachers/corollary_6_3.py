"""For linear teachers the fine-tuned network's loss is bounded by their distance over sqrt(n).

Corollary 6.3 of Shachaf et al. (2021): Theorem 6.1 with Corollary 6.2 for its first term, so the
factor is 2 * 3 = 6; with the best factor of Corollary 6.2 it is 4. Training runs to its end, at
infinite width as in Theorem 6.1, from outputs <x, theta_S> (Assumption 3.2). The term under O
absorbs any risk here: up to 36 samples 6 / sqrt(n) is at least 1, and a network that is not trained
at all stays below the first term. What can fail is the step from Theorem 6.1's first term to this
one. That fine-tuning improves as the distance of the teachers decreases is corollary-6.3-distance.
"""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.numerics.products import dot
from theorysim.theorems.linear_teachers import _kernel_regime as regime

SAMPLES, FAILURES = (8, 16, 32), (0.5, 0.25, 0.1)


class FineTuned(NamedTuple):
    """Population value of min(1, |error|), and the terms of Eq. 11 and of the corollary."""

    risk: Float[Array, ""]
    complexity: Float[Array, ""]
    distance: Float[Array, ""]
    """||theta_T - theta_S|| / sqrt(n)"""
    sampling: Float[Array, ""]


def simulate(x: claims.Instance, key) -> FineTuned:
    data = regime.inputs(x, key)
    difference = x.target_norm * x.target_direction - x.source_norm * x.source_direction
    before = dot(data.drawn, x.source_norm * x.source_direction)

    start = regime.fine_tuning(dot(data.target, difference), data.target)
    outputs = regime.fine_tuned(data, before, start, jnp.inf)
    error = before + dot(data.drawn, difference) - outputs
    return FineTuned(
        regime.population_mean(x, jnp.minimum(jnp.abs(error), 1)),
        2 * start.complexity,
        jnp.linalg.norm(difference) / jnp.sqrt(float(x.n)),
        regime.rate_of_sampling(x.n, start.smallest, x.delta),
    )


def _first_term(factor: float):
    return claims.at_most(
        "the first term of Eq. 11",
        lambda r: r.sim.complexity,
        lambda r: factor * r.sim.distance,
        statement=f"2 sqrt(y~^T H^(-1) y~ / n) <= {factor:g} ||theta_T - theta_S|| / sqrt(n)",
    )


def _bound(factor: float):
    """The constant under O."""

    def each(r):
        return (r.sim.risk - factor * r.sim.distance) / r.sim.sampling

    return regime.constant_for_most("R(Theta(t))", each, 0, {"n": SAMPLES, "delta": FAILURES})


def _claims(factor: float) -> tuple:
    return _bound(factor), _first_term(factor)


theorem = claims.Theorem(
    space=claims.Space(
        d=claims.Size(SAMPLES[-1], low=SAMPLES[-1], high=256),
        n=claims.Size(8, high=256),
        n_source=claims.Size(1, high=256),
        unseen=claims.Size(64, high=1024),
        spread=claims.Real(0.03, 30, log=True),
        source_direction=claims.UnitVector("d"),
        target_direction=claims.UnitVector("d"),
        source_norm=claims.Real(0.1, 1, log=True),
        target_norm=claims.Real(0.1, 1, log=True),
        delta=claims.Real(0.1, 0.5),
    ),
    simulate=simulate,
    claims=_claims(6.0),
    source=claims.Printed(
        "Section 6, Corollary 6.3",
        "6 ||theta_T - theta_S||_2 / sqrt(n) + O(sqrt(log(n / (lambda_0 delta)) / n))",
    ),
    readings=(
        claims.Reading(
            "4 for the factor 6",
            claims.Finding("the best factor of Corollary 6.2 inserted"),
            claims=_claims(4.0),
            note="Corollary 6.2 holds with 2 for 3",
        ),
    ),
    mutants=(claims.Mutant("the factor of Corollary 6.2 lost", claims=(_first_term(2.0),)),),
    survivors={
        "R(Theta(t))": "the term under O absorbs the risk: its constant is 0 here, and bounded "
        "even with -6 for 6"
    },
    keys=32,
    instances=16,
    mutant_instances=16,
)
