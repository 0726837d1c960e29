"""The real run stays near the ideal one with infinite batches, at every stage and every step.

Lemma A.22 of Springer et al. (2025): under Assumption A.21, for every n <= d and k <= K,
|theta^n(k) - theta_hat^n(k)|_F <= min over i <= n of |pre_i - ft_i|^2 / (1000 (lam_0 + 1)^2 Gamma).
Item 3 of A.21 is read as printed, where batches of the size that item 4 asks for make a difference
and are drawn from their law, and as the Assumption A.10 that it names, where they are infinite.
Both runs are pulled back to theta^n(0), as Eq. 16 prints it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
from jaxtyping import Array

from theorysim.claims import (
    Claim,
    Corrected,
    Instance,
    Mutant,
    Printed,
    Reading,
    Real,
    Run,
    Theorem,
    at_most,
)
from theorysim.numerics.products import dot
from theorysim.systems import batch_covariance, linear_modes, two_layer_linear
from theorysim.theorems.overtraining import _assumption_a_21 as a_21
from theorysim.theorems.overtraining import _practice as practice
from theorysim.theorems.overtraining import _stages as stages
from theorysim.theorems.overtraining._finetuning import gamma, pre_spectrum

# Every batch is drawn: longer runs would take minutes.
MOST_DRAWN_STEPS = 512

AS_PRINTED = a_21.Assumption(a_21.steps_as_printed, most_steps=MOST_DRAWN_STEPS)
AS_LABELLED = a_21.Assumption(a_21.steps_as_labelled)


def _log10_batch(x: Instance):
    return AS_PRINTED.log10_batch(x, AS_PRINTED.steps(x)) + x.more_batch


def _batch_margin(x: Instance):
    return _log10_batch(x) - AS_PRINTED.log10_batch(x, AS_PRINTED.steps(x))


def _settings(x: Instance) -> tuple[Array, Array, Array]:
    return a_21.ft_spectrum(x), a_21.pull_back(x), a_21.learning_rate(x)


def _diagonal(modes: Array) -> tuple[Array, Array]:
    """Equal diagonal factors of an array of modes with axes (..., d)."""
    factor = modes[..., None] * jnp.eye(modes.shape[-1])
    return factor, factor


def _on_batches(x: Instance, key):
    """Both factors at the eighths of the run on batches, axes (states, stages, d, d)."""
    law = partial(batch_covariance.asymptotic, width=x.d, log10_batch=_log10_batch(x))
    covariances = batch_covariance.stream(key, law)

    def stage(start):
        def advance(weights, first, count):
            settings = (start**2, *_settings(x), count)
            return stages.tuned_on_batches(weights, *settings, lambda k: covariances(first + k))

        begin = two_layer_linear.Factors(*_diagonal(start))
        return stages.path(advance, begin, AS_PRINTED.steps(x))

    return jax.vmap(stage, out_axes=1)(stages.real_modes(pre_spectrum(x), AS_PRINTED.tau(x)))


def _on_infinite_batches(x: Instance, key):
    """The same with infinite batches."""

    def stage(start):
        def advance(weights, first, count):
            return stages.tuned(weights, start**2, *_settings(x), count)

        kept = stages.path(advance, (start, start), AS_LABELLED.steps(x))
        return tuple(_diagonal(modes)[0] for modes in kept)

    return jax.vmap(stage, out_axes=1)(stages.real_modes(pre_spectrum(x), AS_LABELLED.tau(x)))


def _tuning(x: Instance, real_start: stages.Modes) -> linear_modes.Tuning:
    target, lam, rate = _settings(x)
    return linear_modes.Tuning(target, real_start**2, lam, rate)


def _ideal(assumption: a_21.Assumption) -> Callable:
    """Both factors of theta_hat^n(k): the scalar map of every mode from the ideal start."""

    def predict(x: Instance):
        pre = pre_spectrum(x)
        tuning = _tuning(x, stages.real_modes(pre, assumption.tau(x)))

        def advance(modes, first, count):
            return linear_modes.descent(modes, tuning, count)

        return _diagonal(stages.path(advance, stages.ideal_modes(pre), assumption.steps(x)))

    return predict


def _practical(x: Instance, key):
    """Both factors at the end of a run with sizes from practice, axes (stages, d, d)."""
    return practice.factors(x, a_21.pull_back(x), key)


def _practical_ideal(x: Instance):
    pre = pre_spectrum(x)
    tuning = _tuning(x, stages.real_modes(pre, x.tau))
    return _diagonal(linear_modes.descent(stages.ideal_modes(pre), tuning, x.steps))


def _learned(values):
    """Stages n >= 1 of an array with axes (..., stages, d, d)."""
    return values[..., 1:, :, :]


def _op(matrices):
    return jnp.linalg.norm(matrices, ord=2, axis=(-2, -1))


def _difference(r: Run):
    return _learned(dot(*r.sim) - dot(*r.theory))


def _distance(r: Run):
    return jnp.linalg.norm(_difference(r), axis=(-2, -1))


def _factor_distances(r: Run):
    return [_op(_learned(real - ideal)) for real, ideal in zip(r.sim, r.theory)]


def _bound(r: Run):
    return a_21.smallest_gaps(r.x) / (1000 * (r.x.lam_0 + 1) ** 2 * gamma(r.x))


def _product_rule(first_factor: Callable):
    """Both summands of the proof's first display, |W_2 - hat W_2| times that of `first_factor`."""

    def bound(r: Run):
        away = _factor_distances(r)
        return away[0] * _op(_learned(r.theory[1])) + away[1] * _op(_learned(first_factor(r)))

    return bound


def _displays(first_factor: Callable) -> tuple[Claim, ...]:
    bound = _product_rule(first_factor)
    return (
        at_most("product rule", lambda r: _op(_difference(r)), bound),
        at_most(
            "factors are bounded",
            _product_rule(lambda r: r.theory[0]),
            lambda r: 4 * jnp.sqrt(gamma(r.x)) * sum(_factor_distances(r)),
        ),
        at_most("norms", _distance, lambda r: r.x.d * _op(_difference(r))),
    )


def _combined(r: Run):
    """4 d sqrt(Gamma) (|W_1 - hat W_1| + |W_2 - hat W_2|) by Lemma A.20, items 4 and 5, k = K."""
    a, x = AS_PRINTED, r.x
    growth = a_21.learning_rate(x) * gamma(x)
    batches = jnp.exp(a.steps(x) * (jnp.log1p(16 * growth) - jnp.log1p(32 * growth)))
    return 8 * x.d * gamma(x) * a.accuracy(x) * (1 + 2 * batches)


theorem = Theorem(
    space=a_21.assumption_space(more_batch=Real(0, 3), **practice.FIELDS),
    hypotheses={**AS_PRINTED.hypotheses(), "A.21.4, log10 batch": _batch_margin},
    requirements=AS_PRINTED.requirements(),
    simulate=_on_batches,
    predict=_ideal(AS_PRINTED),
    claims=(at_most("distance", _distance, _bound),),
    readings=(
        Reading(
            "item 3 as A.10",
            Printed("", ""),
            simulate=_on_infinite_batches,
            predict=_ideal(AS_LABELLED),
            hypotheses=AS_LABELLED.hypotheses(),
            requirements=AS_LABELLED.requirements(),
        ),
        Reading(
            "proof displays",
            Printed("", ""),
            simulate=_practical,
            predict=_practical_ideal,
            hypotheses=practice.HYPOTHESES,
            requirements={},
            claims=_displays(lambda r: r.theory[0]),
            note="W_1 - hat W_1 times W_2 - hat W_2 is lost in the product rule",
        ),
        Reading(
            "proof displays, corrected",
            Corrected(""),
            simulate=_practical,
            predict=_practical_ideal,
            hypotheses=practice.HYPOTHESES,
            requirements={},
            claims=_displays(lambda r: r.sim[0]),
            note="|W_2 - hat W_2| |W_1| instead of |W_2 - hat W_2| |hat W_1|",
        ),
        Reading(
            "proof, constants",
            Printed("", ""),
            claims=(at_most("A.20 and A.21 combined", _combined, lambda r: _bound(r)[-1]),),
            note="the bounds combine to 8 d Gamma epsilon and more, 4 d Gamma epsilon is allowed",
        ),
    ),
    mutants=(
        Mutant(
            "second order in the factors' distances",
            claims=(
                at_most(
                    "distance",
                    _distance,
                    lambda r: r.x.d * jnp.prod(jnp.stack(_factor_distances(r)), 0),
                ),
            ),
        ),
    ),
)
