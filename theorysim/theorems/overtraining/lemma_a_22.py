"""The real run stays near the ideal one with infinite batches, at every stage and every step.

Lemma A.22 of Springer et al. (2025): under Assumption A.21, for every n <= d and k <= K,
|theta^n(k) - theta_hat^n(k)|_F <= min over i <= n of |pre_i - ft_i|^2 / (1000 (lam_0 + 1)^2 Gamma).
Item 3 of A.21 is read as printed, where batches of the size that item 4 asks for make a difference
and are drawn from their law, and as the Assumption A.10 that it names, where they are infinite.
Both runs are pulled back to theta^n(0), as Eq. 16 prints it. The proof is a statement of its own.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import jax
import jax.numpy as jnp

from theorysim import claims
from theorysim.numerics.products import dot
from theorysim.systems import batch_covariance, linear_modes, two_layer_linear
from theorysim.theorems.overtraining import _assumption_a_21 as a_21
from theorysim.theorems.overtraining import _stages as stages
from theorysim.theorems.overtraining._assumption_a_21 import stage

# Every batch is drawn: longer runs would take minutes.
MOST_DRAWN_STEPS = 512

AS_PRINTED = replace(a_21.AS_PRINTED, most_steps=MOST_DRAWN_STEPS)


def _log10_batch(x: claims.Instance):
    return AS_PRINTED.log10_batch(x, AS_PRINTED.steps(x)) + x.more_batch


def _batch_margin(x: claims.Instance):
    """Item 4, in powers of ten."""
    return _log10_batch(x) - AS_PRINTED.log10_batch(x, AS_PRINTED.steps(x))


def _on_batches(x: claims.Instance, key):
    """Both factors at the eighths of the run on batches, axes (states, stages, d, d)."""
    law = partial(batch_covariance.asymptotic, width=x.d, log10_batch=_log10_batch(x))
    covariances = batch_covariance.stream(key, law)

    def from_start(start):
        def advance(weights, first, count):
            settings = (start**2, *stage.settings(x), count)
            return stages.tuned_on_batches(weights, *settings, lambda k: covariances(first + k))

        return stages.path(
            advance, two_layer_linear.Factors(*stages.diagonal_pair(start)), AS_PRINTED.steps(x)
        )

    real = stages.real_modes(stage.pre_spectrum(x), AS_PRINTED.tau(x))
    return jax.vmap(from_start, out_axes=1)(real)


def _on_infinite_batches(sizes: a_21.Sizes) -> Callable:
    """The same with infinite batches."""

    def simulate(x: claims.Instance, key):
        def from_start(start):
            def advance(weights, first, count):
                return stages.tuned(weights, start**2, *stage.settings(x), count)

            kept = stages.path(advance, (start, start), sizes.steps(x))
            return tuple(stages.diagonal_pair(modes)[0] for modes in kept)

        real = stages.real_modes(stage.pre_spectrum(x), sizes.tau(x))
        return jax.vmap(from_start, out_axes=1)(real)

    return simulate


def _ideal(sizes: a_21.Sizes) -> Callable:
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


DISTANCE = claims.at_most("distance", _distance, distance_bound)

theorem = claims.Theorem(
    space=stage.stage_space(more_batch=claims.Real(0, 3)),
    assumes=(AS_PRINTED.assumption(),),
    hypotheses={"A.21.4, log10 batch": _batch_margin},
    simulate=_on_batches,
    predict=_ideal(AS_PRINTED),
    claims=(DISTANCE,),
    source=claims.Printed(
        "Lemma A.22 under Assumption A.21 as printed",
        "|theta^n(k) - theta_hat^n(k)|_F <= min |pre_i - ft_i|^2 / (1000 (lam_0 + 1)^2 Gamma)",
    ),
    readings=(
        a_21.AS_LABELLED.reading(
            "item 3 as A.10", _on_infinite_batches, predict=_ideal(a_21.AS_LABELLED)
        ),
    ),
    mutants=(
        claims.Mutant(
            "the product of the factors' distances, not their sum",
            of=("as printed", "item 3 as A.10"),
            claims=(DISTANCE.against(_product_of_distances),),
        ),
    ),
)
