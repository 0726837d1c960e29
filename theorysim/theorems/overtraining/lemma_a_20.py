"""The real run on batches stays close to the ideal run on the population, with high probability.

Lemma A.20 of Springer et al. (2025): under Assumptions A.8 and A.13 and for
epsilon < 1 / (4 (1 + 16 eta Gamma)^K), with probability 1 - delta both factors are well conditioned
and within (1 + 32 eta Gamma)^k exp(-C tau) + 2 (1 + 16 eta Gamma)^k sqrt(Gamma) epsilon, k <= K.
Batches are drawn from their law at the size that the assumption asks for; as printed (see Lemma
A.14) it asks for nothing where 10 K delta > e^d. exp(-C tau) is the distance of the starts.
"""

from collections.abc import Callable
from dataclasses import replace

import jax.numpy as jnp

from theorysim import claims
from theorysim.theorems.overtraining import _batch_sizes as sizes
from theorysim.theorems.overtraining import _finetuning as ft
from theorysim.theorems.overtraining import _runs as runs
from theorysim.theorems.overtraining.assumption_a_8 import ASSUMPTION as A_8


def _accuracy(x: claims.Instance):
    return ft.accuracy(x, 16)


AS_PRINTED = replace(sizes.AS_PRINTED, accuracy=_accuracy)
UNION = replace(sizes.UNION, accuracy=_accuracy)


def _simulate(version: sizes.BatchSize) -> Callable:
    """Norms of both factors, and of their differences to the ideal run on the population.

    Both are pulled to the real start, as Eqs. 16 and 17 have it.
    """

    def simulate(x: claims.Instance, key):
        straight = ft.rotated(x)
        real, ideal = ft.real_start(straight), ft.ideal_start(straight)
        covariances, anchor = version.covariances(x, key), jnp.diag(ft.real_modes(x) ** 2)
        run = runs.fine_tune_on(straight, real, anchor, covariances)
        population = runs.fine_tune(straight, ideal, anchor, x.steps)
        factors = jnp.stack([ft.op_norm(w) for w in run])
        return factors, jnp.stack([ft.op_norm(a - b) for a, b in zip(run, population)])

    return simulate


def _predict(start: float) -> Callable:
    """The bound, with so much of the term for the distance of the starts."""

    def predict(x: claims.Instance):
        missing = ft.real_modes(x) - ft.ideal_modes(x)
        steps = jnp.arange(x.steps + 1)
        apart = start * ft.growth(x, 32) ** steps * jnp.linalg.norm(missing)
        return apart + 2 * ft.growth(x, 16) ** steps * jnp.sqrt(ft.gamma(x)) * _accuracy(x)

    return predict


def _both_sides(r):
    """Norms over their bound beside distances over theirs."""
    factors, distances = r.sim
    norms = factors / (2 * jnp.sqrt(ft.gamma(r.x)))
    return jnp.concatenate([norms, distances / r.theory], axis=1)


theorem = claims.Theorem(
    space=ft.fine_tuning_space(
        d=claims.Size(2),
        steps=claims.Size(10, high=50),
        depth=claims.Real(3, 15),
        accuracy_share=claims.Real(1e-4, 0.999, log=True),
        failure=claims.Real(0.1, 0.5, log=True),
    ),
    assumes=(A_8, AS_PRINTED.assumption()),
    hypotheses=ft.accurate(16),
    simulate=_simulate(AS_PRINTED),
    predict=_predict(1.0),
    source=claims.Printed(
        "Lemma A.20",
        "<= (1 + 32 eta Gamma)^k exp(-C tau) + 2 (1 + 16 eta Gamma)^k Gamma^(1/2) epsilon",
    ),
    note="the batches of Assumption A.13 as printed are too small, or as small as one likes",
    claims=(
        claims.with_probability(
            "C1, C2: well conditioned and close",
            _both_sides,
            lambda r: 1.0,
            at_least=lambda r: 1 - r.x.failure,
        ),
    ),
    readings=(
        claims.corrected(
            "d + log(K / delta) in place of d - log(10 K delta) in Assumption A.13",
            assumes=(A_8, UNION.assumption()),
            simulate=_simulate(UNION),
            note="with the batches of a union bound over the run",
        ),
    ),
    mutants=(claims.Mutant("without the distance of the starts", predict=_predict(0.0)),),
    keys=128,
    instances=32,
)
