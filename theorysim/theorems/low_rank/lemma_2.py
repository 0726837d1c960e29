"""The overlap's speed keeps its sign and half of its size on separated features.

Lemma 2 of Dayi and Chen (2024), xi = 1, Assumption 4 (Condition 3 for random signs): but for a
chance of o(lambda_max^2 / lambda_min^2) + O(sqrt(gamma)), h(m) sign(h(0)) >= |h(0)| / 2 >= gamma
lambda_min^2 / (2 sqrt(k)) wherever m h(0) >= 0. The o(...) is read as in `lemma-1`, for ReLU.
"""

import jax.numpy as jnp

from theorysim import claims
from theorysim.theorems.low_rank.assumption_4 import ASSUMPTION_4, SEPARATED
from theorysim.theorems.low_rank.lemma_1 import kept, lemma_space, rarely_small, readouts, speeds


def _ratio(x: claims.Instance):
    """k / xi^2."""
    return x.k


def _least(power: int):
    """lambda_min^power / sqrt(k)."""
    return lambda x: jnp.min(jnp.abs(readouts(x))) ** power / x.k**0.5


theorem = claims.Theorem(
    space=lemma_space(),
    simulate=speeds(SEPARATED),
    claims=(kept(_ratio), rarely_small(_least(2))),
    assumes=(ASSUMPTION_4,),
    printed="Lemma 2",
    source=claims.Printed(
        "Lemma 2, Section 3.3", "h(m) sign(h(0)) >= |h(0)| / 2 >= gamma lambda_min^2 / (2 sqrt(k))"
    ),
    mutants=(
        claims.Mutant(
            "2 |h(0)| for |h(0)| / 2; lambda_min^2 is lost",
            claims=(kept(_ratio, 2.0), rarely_small(_least(0))),
        ),
    ),
    keys=512,
    instances=16,
    mutant_instances=16,
)
