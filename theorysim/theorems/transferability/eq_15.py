"""The cross Gram matrix of an untrained network deviates by 1 / sqrt(m) from infinite width.

Eq. 15 of Liu et al. (2019), "by Hoeffding's inequality": with probability 1 - delta,
||H_PQ - H_PQ(0)||_F <= n_P n_Q log(2 n_P n_Q / delta) / (2 m). Hoeffding's inequality has the
square root of the logarithm over 2 m.
"""

import jax.numpy as jnp

from theorysim import claims
from theorysim.numerics.products import dot
from theorysim.theorems.transferability import _problem as problem
from theorysim.theorems.transferability import _training as training


def simulate(x: claims.Instance, key):
    """The deviation."""
    network, tasks = training.started(x, key), (problem.source, problem.target)
    z_source, z_target = (training.features(*network, task(x).inputs) for task in tasks)
    return jnp.linalg.norm(dot(z_source.T, z_target) - problem.cross_gram(x))


def _claims(power: float) -> tuple:
    def bound(r):
        pairs = r.x.p * r.x.q
        return pairs * (jnp.log(2 * pairs / r.x.failure) / (2 * r.x.width)) ** power

    return (problem.likely("|H_PQ - H_PQ(0)|_F", lambda r: r.sim, bound),)


theorem = claims.Theorem(
    space=problem.problem_space(
        p=claims.Size(2, high=64),
        q=claims.Size(2, high=64),
        width=claims.Size(4096, high=65536),
        kappa=training.KAPPA,
        failure=problem.FAILURE,
    ),
    simulate=simulate,
    claims=_claims(1.0),
    source=claims.Printed("proof of Lemma 3, Eq. 15", "n_P n_Q log(2 n_P n_Q / delta) / (2 m)"),
    note="Hoeffding's inequality has a square root that is lost here",
    readings=(
        claims.Reading(
            "corrected",
            claims.Corrected("n_P n_Q sqrt(log(2 n_P n_Q / delta) / (2 m))"),
            claims=_claims(0.5),
            primary=True,
            note="the deviation of an average of m bounded terms is of order 1 / sqrt(m)",
        ),
    ),
    mutants=(claims.Mutant("without the square root, as printed", claims=_claims(1.0)),),
    keys=128,
    instances=16,
    mutant_instances=16,
)
