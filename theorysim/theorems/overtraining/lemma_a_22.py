"""The real run stays near the ideal one with infinite batches, at every stage and every step.

Lemma A.22 of Springer et al. (2025): under Assumption A.21, with probability 1 - delta, for every
n <= d and k <= K, |theta^n(k) - theta_hat^n(k)|_F <= min over i <= n of |pre_i - ft_i|^2
/ (1000 (lam_0 + 1)^2 Gamma). Item 3 of A.21 is read as printed and as the Assumption A.10 that it
names. Batches are drawn from their law at the size that item 4 asks for, which as printed is none
once 10 d K delta >= e^d. Both runs are pulled back to theta^n(0), as Eq. 16 prints it. The proof is
a statement of its own.
"""

from collections.abc import Callable
from functools import cache

import jax
import jax.numpy as jnp

from theorysim import claims
from theorysim.claims.source import Source
from theorysim.numerics.products import dot
from theorysim.systems import linear_modes, two_layer_linear
from theorysim.theorems.overtraining import _drawn_batches as drawn
from theorysim.theorems.overtraining import _stages as stages
from theorysim.theorems.overtraining._assumption_a_21 import Sizes, stage
from theorysim.theorems.overtraining._drawn_batches import AS_LABELLED, AS_PRINTED, UNITED


@cache
def _on_batches(sizes: Sizes) -> Callable:
    """Both factors at the eighths of the run on batches, axes (states, stages, d, d)."""

    def simulate(x: claims.Instance, key):
        covariances = drawn.covariances(x, sizes, key)

        def from_start(start):
            def advance(weights, first, count):
                settings = (start**2, *stage.settings(x), count)
                return stages.tuned_on_batches(weights, *settings, lambda k: covariances(first + k))

            return stages.path(
                advance, two_layer_linear.Factors(*stages.diagonal_pair(start)), sizes.steps(x)
            )

        real = stages.real_modes(stage.pre_spectrum(x), sizes.tau(x))
        return jax.vmap(from_start, out_axes=1)(real)

    return simulate


@cache
def _ideal(sizes: Sizes) -> Callable:
    """Both factors of theta_hat^n(k): the scalar map of every mode from the ideal start."""

    def predict(x: claims.Instance):
        pre = stage.pre_spectrum(x)
        settings = stage.tuning(x, stages.real_modes(pre, sizes.tau(x)))

        def advance(modes, first, count):
            return linear_modes.descent(modes, settings, count)

        return stages.diagonal_pair(stages.path(advance, stages.ideal_modes(pre), sizes.steps(x)))

    return predict


def _distance(r: claims.Run):
    return jnp.linalg.norm(stages.learned_stages(dot(*r.sim) - dot(*r.theory)), axis=(-2, -1))


def distance_bound(r: claims.Run):
    """min over i <= n of |pre_i - ft_i|^2 / (1000 (lam_0 + 1)^2 Gamma), for n = 1, ..., d."""
    return stage.smallest_gaps(r.x) / (1000 * (r.x.lam_0 + 1) ** 2 * stage.gamma(r.x))


def _product_of_distances(r: claims.Run):
    """d |W_1 - hat W_1|_op |W_2 - hat W_2|_op, of second order."""
    away = [
        jnp.linalg.norm(stages.learned_stages(real - ideal), ord=2, axis=(-2, -1))
        for real, ideal in zip(r.sim, r.theory)
    ]
    return r.x.d * away[0] * away[1]


WORDS = "|theta^n(k) - theta_hat^n(k)|_F <= min |pre_i - ft_i|^2 / (1000 (lam_0 + 1)^2 Gamma)"

DISTANCE = claims.with_probability(
    "distance",
    _distance,
    distance_bound,
    at_least=lambda r: 1 - r.x.failure,
    statement="|theta^n(k) - theta_hat^n(k)|_F <= bound for all n, k with probability 1 - delta",
)


def _reading(
    name: str, sizes: Sizes, note: str, source: Source | None = None, primary: bool = False
) -> claims.Reading:
    return claims.Reading(
        name,
        source or sizes.source,
        simulate=_on_batches(sizes),
        predict=_ideal(sizes),
        assumes=(drawn.assumption(sizes),),
        note=note,
        primary=primary,
    )


theorem = claims.Theorem(
    space=stage.stage_space(**drawn.FIELDS),
    assumes=(drawn.assumption(AS_PRINTED),),
    simulate=_on_batches(AS_PRINTED),
    predict=_ideal(AS_PRINTED),
    claims=(DISTANCE,),
    source=claims.Printed("Lemma A.22 under Assumption A.21 as printed", WORDS),
    note=drawn.NO_BATCH,
    readings=(
        _reading(
            "item 3 as A.10",
            AS_LABELLED,
            drawn.NO_BATCH,
            claims.Printed(
                "Lemma A.22 under Assumption A.21, item 3 by its label, Assumption A.10", WORDS
            ),
        ),
        _reading("corrected", UNITED, "with the batches of a union bound", primary=True),
    ),
    mutants=(
        claims.Mutant(
            "the product of the factors' distances, not their sum",
            claims=(DISTANCE.against(_product_of_distances),),
        ),
    ),
    keys=32,
    instances=24,
    mutant_instances=24,
)
