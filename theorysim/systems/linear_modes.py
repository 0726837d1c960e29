"""One mode of a two-layer linear network: gradient flow and descent of a product of two weights.

Where both factors have the singular vectors of the target, every mode is a network of its own with
weights w_1 = w_2 = w and the loss (w_1 w_2 - feature)^2, not halved; fine-tuning adds
pull_back (w_1 w_2 - anchor)^2. A feature is the singular value of a target, its root a weight.
All functions act entry by entry on arrays of one rank that broadcast, or numbers.

Source: Springer et al. (2025), Eqs. 5, 6, 16 to 18, Theorem A.1 and Section A.6.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from theorysim.numerics.descent import iterate_to

Numbers: TypeAlias = Float[Array, "*#n"]


def mean_decay(x: Numbers) -> Numbers:
    """(1 - e^(-x)) / x, the mean of e^(-s) for s from 0 to x; one at x = 0."""
    # At this size the next term of the series, x^3/24, is below rounding.
    is_small = jnp.abs(x) < jnp.finfo(x.dtype).eps ** (1 / 3)
    safe = jnp.where(is_small, 1, x)
    return jnp.where(is_small, 1 - x / 2 + x * x / 6, -jnp.expm1(-safe) / safe)


def log_growth(time: Numbers, feature: Numbers, tau: Numbers) -> Numbers:
    """log of w^2 along gradient flow from w = exp(-tau), at any time >= 0.

    The logistic curve sigma / (1 + e^(-4 sigma t) (sigma e^(2 tau) - 1)), written as a sum of
    positive terms: 1/w^2 = 4 t mean_decay(4 sigma t) + e^(2 tau - 4 sigma t).
    """
    parts = _parts(time, feature, tau)
    return -(parts.scale + jnp.log(parts.rest))


def growth(time: Numbers, feature: Numbers, tau: Numbers) -> Numbers:
    """w^2 along gradient flow from w = exp(-tau); its underflow to zero is that of exp."""
    parts = _parts(time, feature, tau)
    return parts.share / parts.rest


class _Parts(NamedTuple):
    """1/w^2 = e^scale rest, with scale >= 0, share = e^(-scale), and rest neither huge nor zero."""

    scale: Numbers
    share: Numbers
    rest: Numbers


def _parts(time: Numbers, feature: Numbers, tau: Numbers) -> _Parts:
    """The larger exponential is taken out: neither overflow nor a logarithm of zero occurs."""
    to_grow = 2 * tau - 4 * feature * time
    is_early = to_grow > 0
    # One exponential for both cases; at the border, too, its derivative is that of one of them.
    fading = jnp.exp(jnp.where(is_early, -to_grow, to_grow))
    share = jnp.where(is_early, fading, 1)
    limit = 4 * time * mean_decay(4 * feature * time)
    rest = limit * share + jnp.where(is_early, 1, fading)
    return _Parts(jnp.where(is_early, to_grow, 0), share, rest)


def stage_times(features: Float[Array, " d"], tau: Float[Array, ""]) -> Float[Array, " d"]:
    """Times at which the first n modes are learned and the others not, for n = 1..d and large tau.

    t_n = 3 tau / (2 (2 sigma_n + sigma_(n+1))) balances the errors of the factors, of the order
    e^(2 tau - 4 sigma_n t) in the slowest learned mode and e^(2 sigma_(n+1) t - tau) in the
    fastest other one. Features in decreasing order; sigma_(d+1) = 0.
    """
    following = jnp.append(features[1:], 0).astype(features.dtype)
    return 3 * tau / (2 * (2 * features + following))


class Tuning(NamedTuple):
    """Fine-tuning: the feature to learn, the anchor to pull back to, and the descent's settings."""

    feature: Numbers
    anchor: Numbers
    pull_back: Numbers
    learning_rate: Numbers


def step(weight: Numbers, tuning: Tuning) -> Numbers:
    """One step of Eqs. 16 and 17 on w_1 = w_2 = weight: the map f that Section A.6 prints.

    f(x) = x + 2 eta x (sigma^2 - x^2) + 2 eta lambda x (sigma_0^2 - x^2), with feature sigma^2
    and anchor sigma_0^2.
    """
    feature, anchor, pull_back, learning_rate = tuning
    drift = feature - weight**2 + pull_back * (anchor - weight**2)
    return weight + 2 * learning_rate * weight * drift


def printed_step(weight: Numbers, tuning: Tuning) -> Numbers:
    """The map f that Eq. 18 prints: the pull-back lacks the factor x."""
    feature, anchor, pull_back, learning_rate = tuning
    drift = weight * (feature - weight**2) + pull_back * (anchor - weight**2)
    return weight + 2 * learning_rate * drift


def descent(weight: Numbers, tuning: Tuning, steps: Int[Array, ""] | int) -> Numbers:
    """The weight after `steps` (which may be traced) applications of `step`."""
    return iterate_to(
        lambda w: step(w, tuning), jnp.broadcast_to(weight, _shape(weight, tuning)), steps
    )


def change(tuning: Tuning, steps: Int[Array, ""] | int) -> Numbers:
    """w^2 - anchor after `steps` steps from w^2 = anchor, to full relative accuracy."""
    feature, anchor, pull_back, learning_rate = tuning
    begin = jnp.sqrt(anchor)

    def move(moved: Numbers) -> Numbers:
        squared = moved * (2 * begin + moved)
        drift = feature - anchor - (1 + pull_back) * squared
        return moved + 2 * learning_rate * (begin + moved) * drift

    moved = iterate_to(move, jnp.zeros(_shape(begin, tuning), begin.dtype), steps)
    return moved * (2 * begin + moved)


def limit(tuning: Tuning) -> Numbers:
    """(feature + pull_back anchor) / (1 + pull_back): where the fine-tuning loss is least.

    So in Lemma A.23, and in Theorem A.24.
    """
    return (tuning.feature + tuning.pull_back * tuning.anchor) / (1 + tuning.pull_back)


def printed_limit(tuning: Tuning) -> Numbers:
    """(anchor + pull_back feature) / (1 + pull_back), as Lemmas A.11 and A.28 print it."""
    return (tuning.anchor + tuning.pull_back * tuning.feature) / (1 + tuning.pull_back)


def _shape(weight: Numbers, tuning: Tuning) -> tuple[int, ...]:
    return jnp.broadcast_shapes(jnp.shape(weight), *map(jnp.shape, tuning))
