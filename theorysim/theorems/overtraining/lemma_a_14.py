"""With a large batch size, all batch covariances of a run are close to the identity.

Lemma A.14 of Springer et al. (2025): under Assumption A.13, m >= C_1^2 (d - log(10 K delta)) /
epsilon^2, with probability 1 - delta every |S_k - I|_op, k <= K, is at most epsilon. The union
bound over K batches needs log(K / delta), which grows with K; the assumption as printed shrinks
with K and asks for nothing once 10 K delta > e^d, whatever the constant.
"""

from dataclasses import replace

import jax.numpy as jnp

from theorysim import claims
from theorysim.theorems.overtraining._batch_sizes import AS_PRINTED, UNION, union_batch
from theorysim.theorems.overtraining._finetuning import op_norm
from theorysim.theorems.overtraining.assumption_a_13 import FIELDS


def _linear_batch(d, steps, failure, constant, accuracy):
    return union_batch(d, steps, failure, constant, accuracy) * accuracy


theorem = claims.Theorem(
    space=claims.Space(**FIELDS),
    assumes=(AS_PRINTED.assumption(),),
    simulate=lambda x, key: AS_PRINTED.covariances(x, key),
    source=claims.Printed("Lemma A.14", "for all k <= K, |Sigma_k - I_d|_op <= epsilon"),
    note="the batches of Assumption A.13 as printed are too small, or as small as one likes",
    claims=(
        claims.with_probability(
            "all covariances within epsilon of I",
            lambda r: op_norm(r.sim - jnp.eye(r.x.d)),
            lambda r: r.x.accuracy,
            at_least=lambda r: 1 - r.x.failure,
        ),
    ),
    readings=(
        claims.corrected(
            "m >= C_1^2 (d + log(K / delta)) / epsilon^2",
            assumes=(UNION.assumption(),),
            simulate=lambda x, key: UNION.covariances(x, key),
            note="a union bound over the batches of the run",
        ),
    ),
    mutants=(
        claims.Mutant(
            "m in proportion to 1/epsilon",
            simulate=lambda x, key: replace(UNION, formula=_linear_batch).covariances(x, key),
        ),
    ),
    keys=512,
    instances=32,
    mutant_instances=32,
)
