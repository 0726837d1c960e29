"""Runs of fine-tuning as full matrices: descent on the population or on batches, and to the letter.

Appendix A.1 of Springer et al. (2025), on the instances of `_finetuning`.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.numerics.products import dot
from theorysim.systems import two_layer_linear
from theorysim.theorems.overtraining._finetuning import (
    Factors,
    assembled,
    ft_spectrum,
    ideal_features,
    ideal_start,
    learning_rate,
    op_norm,
    pull_back,
    rotated,
)


def tuning(x: claims.Instance, anchor: Float[Array, "d d"]) -> two_layer_linear.FineTuning:
    """The loss of Eq. 9: target, anchor and strength."""
    return two_layer_linear.FineTuning(assembled(x, ft_spectrum(x)), anchor, pull_back(x))


def fine_tuning_loss(
    x: claims.Instance, anchor: Float[Array, "d d"]
) -> Callable[..., Float[Array, ""]]:
    """|theta - A^ft|_F^2 + lam |theta - anchor|_F^2 of the factors (Eq. 9), not halved.

    A second argument, the covariance S of a batch, turns the first term into the batch's
    Tr((theta - A^ft)^T (theta - A^ft) S).
    """
    settings = tuning(x, anchor)

    def loss(weights: Factors, covariance: Float[Array, "d d"] | None = None) -> Array:
        weights = two_layer_linear.Factors(*weights)
        if covariance is None:
            return two_layer_linear.fine_tuning_loss(weights, settings)
        return two_layer_linear.batch_loss(weights, settings, covariance)

    return loss


def fine_tune(
    x: claims.Instance,
    start: Factors,
    anchor: Float[Array, "d d"],
    steps: int,
    covariances: Float[Array, "steps d d"] | None = None,
) -> Factors:
    """Both factors along gradient descent; with covariances, step k sees the k-th batch only.

    Each leads with an axis of steps + 1 states.
    """
    return two_layer_linear.fine_tune(
        two_layer_linear.Factors(*start),
        tuning(x, anchor),
        learning_rate(x),
        steps,
        covariances=None if covariances is None else lambda k: covariances[k],
    )


def fine_tune_on(
    x: claims.Instance,
    start: Factors,
    anchor: Float[Array, "d d"],
    covariances: Float[Array, "steps d d"],
) -> Factors:
    """As `fine_tune`, one step for every batch."""
    return fine_tune(x, start, anchor, covariances.shape[0], covariances)


def rotated_start(x: claims.Instance) -> two_layer_linear.Factors:
    """The ideal start, rotated."""
    return two_layer_linear.Factors(*ideal_start(rotated(x)))


def rotated_run(
    x: claims.Instance,
    start: two_layer_linear.Factors,
    steps: Any,
    anchored_at: Callable = ideal_features,
) -> two_layer_linear.Factors:
    """Both factors of the ideal infinite-batch run after more steps, rotated: diagonal matrices.

    The number of steps may be traced. It is pulled to where the features are `anchored_at(x)`.
    """
    anchor = jnp.diag(anchored_at(x))
    settings = two_layer_linear.FineTuning(jnp.diag(ft_spectrum(x)), anchor, pull_back(x))
    return two_layer_linear.fine_tune_to(start, settings, learning_rate(x), steps)


def printed_step(
    x: claims.Instance,
    weights: Factors,
    anchor: Float[Array, "d d"],
    covariance: Float[Array, "d d"],
) -> Factors:
    """Eqs. 10 and 11 to the letter: Eq. 11 has the covariance on the other side of the error."""
    first, second = weights
    rate, lam = 2 * learning_rate(x), pull_back(x)
    theta = dot(first, second)
    error, pull = theta - assembled(x, ft_spectrum(x)), lam * (theta - anchor)
    return (
        first - rate * dot(dot(error, covariance) + pull, second.T),
        second - rate * dot(first.T, dot(covariance, error) + pull),
    )


def run_printed(
    x: claims.Instance,
    start: Factors,
    anchor: Float[Array, "d d"],
    covariances: Float[Array, "steps d d"],
) -> Factors:
    """Both factors along Eqs. 10 and 11 to the letter, as `fine_tune_on` returns them."""

    def step(weights: Factors, covariance: Array) -> tuple[Factors, Factors]:
        weights = printed_step(x, weights, anchor, covariance)
        return weights, weights

    _, path = jax.lax.scan(step, start, covariances)
    return jax.tree.map(lambda first, rest: jnp.concatenate([first[None], rest]), start, path)


def eq_11_as_printed(name: str, lemma: str, simulate: Callable, **parts: Any) -> claims.Reading:
    """The reading of a lemma whose steps are those of `printed_step`, which `simulate` takes."""
    place = f"{lemma} for Eqs. 10 and 11"
    source = claims.Printed(place, "W_1^T Sigma_k (theta - A^ft) in Eq. 11")
    return claims.Reading(name, source, simulate=simulate, **parts)


def directions(key: Array, d: int, count: int) -> Float[Array, "count d d"]:
    """Random symmetric matrices of operator norm one: what a batch adds to I is epsilon of one."""
    gaussian = jax.random.normal(key, (count, d, d))
    symmetric = gaussian + jnp.swapaxes(gaussian, -1, -2)
    return symmetric / op_norm(symmetric)[:, None, None]
