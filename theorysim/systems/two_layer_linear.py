"""A two-layer linear network x -> W_1 W_2 x: the losses of pre-training and fine-tuning, descent.

No loss is halved or averaged over entries: L = ||W_1 W_2 - A||_F^2, which is the expectation of
||W_1 W_2 x - A x||^2 over x ~ N(0, I). The exact flow is in `balanced_flow`, separate modes are in
`linear_modes`, covariances of batches in `batch_covariance`.

Source: Springer et al., "Overtrained Language Models Are Harder to Fine-Tune" (2025), Eqs. 3 to 11
and Lemma A.4.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Int

from theorysim.numerics.checks import check_learning_rate
from theorysim.numerics.descent import check_descent, descend, descend_to
from theorysim.numerics.products import dot

Scalar: TypeAlias = float | Float[Array, ""]


class Factors(NamedTuple):
    """W_1 and W_2."""

    first: Float[Array, "*steps m r"]
    second: Float[Array, "*steps r n"]


class FineTuning(NamedTuple):
    """The target of fine-tuning, and the product to which it is pulled back, how strongly."""

    target: Float[Array, "m n"]
    anchor: Float[Array, "m n"]
    pull_back: Scalar


def product(factors: Factors) -> Float[Array, "*steps m n"]:
    """theta = W_1 W_2."""
    return dot(*factors)


def pretraining_loss(factors: Factors, target: Float[Array, "m n"]) -> Float[Array, ""]:
    """||W_1 W_2 - A||_F^2 (Eq. 4)."""
    return jnp.sum(jnp.square(product(factors) - target))


def fine_tuning_loss(factors: Factors, tuning: FineTuning) -> Float[Array, ""]:
    """||theta - A||_F^2 + pull_back ||theta - anchor||_F^2 (Eqs. 3 and 9)."""
    return pretraining_loss(factors, tuning.target) + _pull_back(factors, tuning)


def batch_loss(
    factors: Factors, tuning: FineTuning, covariance: Float[Array, "n n"]
) -> Float[Array, ""]:
    """The mean of ||theta x - A x||^2 over a batch with this mean of x x^T, plus the pull-back.

    Tr((theta - A)^T (theta - A) covariance) + pull_back ||theta - anchor||_F^2.
    """
    error = product(factors) - tuning.target
    return jnp.sum(error * dot(error, covariance)) + _pull_back(factors, tuning)


def perturbed_loss(
    factors: Factors, target: Float[Array, "m n"], deviation: Scalar
) -> Float[Array, ""]:
    """E ||(W_1 + Z_1)(W_2 + Z_2) - A||_F^2 over independent N(0, deviation^2) entries of Z_1, Z_2.

    With width d everywhere: L + d g^2 (||W_1||_F^2 + ||W_2||_F^2) + d^3 g^4 for a deviation g.
    """
    first, second = factors
    (rows, hidden), columns = first.shape, second.shape[1]
    variance = jnp.square(jnp.asarray(deviation, first.dtype))
    crossed = columns * jnp.sum(jnp.square(first)) + rows * jnp.sum(jnp.square(second))
    constant = rows * hidden * columns * jnp.square(variance)
    return pretraining_loss(factors, target) + variance * crossed + constant


def pretrain(
    start: Factors,
    target: Float[Array, "m n"],
    learning_rate: Scalar,
    steps: int,
    *,
    every: int = 1,
) -> Factors:
    """Factors along gradient descent of `pretraining_loss`: the start, then every `every` steps.

    Raises:
        ValueError: unless 0 < learning_rate < `largest_learning_rate`, where both are known, and
            where the run diverges from a start that is too large.
    """
    check_learning_rate(learning_rate, largest_learning_rate, target)
    loss = partial(pretraining_loss, target=target)
    path = descend(loss, start, optax.sgd(learning_rate), steps, every=every)
    check_descent(path, loss, start, learning_rate, steps)
    return path


def fine_tune(
    start: Factors,
    tuning: FineTuning,
    learning_rate: Scalar,
    steps: int,
    *,
    covariances: Callable[[Int[Array, ""]], Float[Array, "n n"]] | None = None,
    every: int = 1,
) -> Factors:
    """Factors along gradient descent of the fine-tuning loss: the start, then every `every` steps.

    With `covariances`, step k sees the batch with covariance `covariances(k)` only: Eqs. 10, 11.

    Raises:
        ValueError: as `pretrain`.
    """
    _check_fine_tuning(tuning, learning_rate)
    loss = _objective(tuning, covariances)
    optimiser = optax.sgd(learning_rate)
    path = descend(loss, start, optimiser, steps, batches=covariances, every=every)
    check_descent(path, loss, start, learning_rate, steps, batches=covariances)
    return path


def fine_tune_to(
    start: Factors,
    tuning: FineTuning,
    learning_rate: Scalar,
    steps: Int[Array, ""] | int,
    *,
    covariances: Callable[[Int[Array, ""]], Float[Array, "n n"]] | None = None,
) -> Factors:
    """As `fine_tune`, but only the factors after `steps` steps, which may be a traced number."""
    _check_fine_tuning(tuning, learning_rate)
    loss = _objective(tuning, covariances)
    end = descend_to(loss, start, optax.sgd(learning_rate), steps, batches=covariances)
    check_descent(end, loss, start, learning_rate, steps, batches=covariances)
    return end


def largest_learning_rate(
    destination: Float[Array, "m n"], pull_back: Scalar = 0.0
) -> Float[Array, ""]:
    """2 / lambda_max of the Hessian of the (fine-tuning) loss at its balanced minimiser.

    Descent with a larger learning rate cannot stay there. `destination` is the minimiser's product;
    there lambda_max = 4 (1 + pull_back) ||destination||_op.
    """
    return 1 / (2 * (1 + pull_back) * jnp.linalg.norm(destination, ord=2))


def _pull_back(factors: Factors, tuning: FineTuning) -> Float[Array, ""]:
    return tuning.pull_back * jnp.sum(jnp.square(product(factors) - tuning.anchor))


def _check_fine_tuning(tuning: FineTuning, learning_rate: Scalar) -> None:
    def largest(target: Array, anchor: Array, pull_back: Scalar) -> Float[Array, ""]:
        return largest_learning_rate((target + pull_back * anchor) / (1 + pull_back), pull_back)

    check_learning_rate(learning_rate, largest, *tuning)


def _objective(tuning: FineTuning, covariances: Any) -> Callable[..., Float[Array, ""]]:
    if covariances is None:
        return lambda factors: fine_tuning_loss(factors, tuning)
    return lambda factors, covariance: batch_loss(factors, tuning, covariance)
