"""Every stage of pre-training, fine-tuned: starts, descent, losses.

All in the coordinates S_1 = U^T W_1 and S_2 = W_2 V, in which both maps are diagonal: descent
commutes with the rotation, and the law of a batch of standard normal vectors is invariant under it.
Modes that are exactly zero stay so only in these coordinates; elsewhere rounding seeds them, and
they grow. The axis of stages runs over n = 0, ..., d, the number of learned features.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Int

from theorysim.numerics.descent import descend_to
from theorysim.systems import linear_modes, two_layer_linear

Number: TypeAlias = Float[Array, ""]
Modes: TypeAlias = Float[Array, "stages d"]
Products: TypeAlias = Float[Array, "stages d d"]
Pair: TypeAlias = tuple[Array, Array]
Covariances: TypeAlias = Callable[[Int[Array, ""]], Float[Array, "d d"]]

# A path is looked at after every eighth of its steps.
SEGMENTS = 8

# Below this exponent a, -expm1(-log1p(exp(a)) / 2) is exp(a) / 2 to the last digit, but would
# underflow.
NEGLIGIBLE = -40.0


def ideal_modes(spectrum: Float[Array, " d"]) -> Modes:
    """Eqs. 7 and 8 at every stage: the square roots of the first n features, then zeros."""
    stages, modes = _grid(spectrum)
    return jnp.where(modes < stages, jnp.sqrt(spectrum), 0)


def _grid(spectrum: Array) -> tuple[Array, Array]:
    d = spectrum.shape[0]
    return jnp.arange(d + 1)[:, None], jnp.arange(d)[None, :]


def _stage_times(spectrum: Array, tau: Number) -> Float[Array, "stages 1"]:
    return jnp.append(0.0, linear_modes.stage_times(spectrum, tau))[:, None]


def real_modes(spectrum: Float[Array, " d"], tau: Number) -> Modes:
    """The factors' modes at the stage times t_0 = 0 < t_1 < ... < t_d of gradient flow.

    From the closed form of separate modes (statement eq-5-6 checks it against the flow), started
    at W_1 = W_2 = sqrt(sigma_1) exp(-tau).
    """
    grown = linear_modes.log_growth(
        _stage_times(spectrum, tau), spectrum, tau - jnp.log(spectrum[0]) / 2
    )
    return jnp.exp(grown / 2)


def log_start_distance(spectrum: Float[Array, " d"], tau: Number) -> Number:
    """log of the largest |W_j(t_n) - ideal|_F over the stages n >= 1: what A.1 calls exp(-C tau).

    A mode is sqrt(sigma / (1 + exp(a))), a = 2 tau - 4 sigma t + log(sigma / sigma_1 - e^(-2 tau)).
    """
    scaled = spectrum / spectrum[0]
    exponent = 2 * tau - 4 * spectrum * _stage_times(spectrum, tau)
    exponent += jnp.log(scaled - jnp.exp(-2 * tau))
    missing = jnp.log(-jnp.expm1(-jax.nn.softplus(jnp.maximum(exponent, NEGLIGIBLE)) / 2))
    missing = jnp.where(exponent < NEGLIGIBLE, exponent - jnp.log(2.0), missing)
    stages, modes = _grid(spectrum)
    distance = jnp.where(modes < stages, missing, -jax.nn.softplus(exponent) / 2)
    squares = jnp.log(spectrum) + 2 * distance
    return jnp.max(jax.nn.logsumexp(squares[1:], axis=1)) / 2


def closing_tau(spectrum: Float[Array, " d"], log_distance: Number) -> Number:
    """A tau whose stages are at least as close to the ideal ones as exp(log_distance)."""
    following = jnp.append(spectrum[1:], 0.0)
    rate = jnp.min(2 * (spectrum - following) / (2 * spectrum + following))
    relative = log_distance - (jnp.log(spectrum[0]) + jnp.log(1.0 * spectrum.shape[0])) / 2
    return -relative / rate


def tuned(
    weights: Pair, anchor: Array, target: Array, lam: Number, learning_rate: Number, steps: Any
) -> Pair:
    """Both factors' diagonals after descent of the loss of Eq. 9 with infinite batches.

    |theta - diag(target)|_F^2 + lam |theta - diag(anchor)|_F^2, not halved. Diagonal factors stay
    diagonal (statement lemma-a.7 checks it on full matrices).
    """

    def loss(weights: Pair) -> Number:
        theta = weights[0] * weights[1]
        return jnp.sum((theta - target) ** 2) + lam * jnp.sum((theta - anchor) ** 2)

    return descend_to(loss, weights, optax.sgd(learning_rate), steps)


def tuned_on_batches(
    weights: Pair,
    anchor: Array,
    target: Array,
    lam: Number,
    learning_rate: Number,
    steps: Any,
    covariances: Covariances,
) -> Pair:
    """Both factors, full matrices, after the same descent on batches."""
    settings = two_layer_linear.FineTuning(jnp.diag(target), jnp.diag(anchor), lam)
    start = two_layer_linear.Factors(*weights)
    return two_layer_linear.fine_tune_to(
        start, settings, learning_rate, steps, covariances=covariances
    )


def fine_tuned(
    target: Float[Array, " d"], modes: Modes, lam: Number, learning_rate: Number, steps: Any
) -> Products:
    """theta^n(K) of every stage, pulled back to theta^n(0) = diag(modes)^2; infinite batches."""

    def stage(start: Float[Array, " d"]) -> Float[Array, "d d"]:
        first, second = tuned((start, start), start**2, target, lam, learning_rate, steps)
        return jnp.diag(first * second)

    return jax.vmap(stage)(modes)


def path(advance: Callable[[Any, Array, Array], Any], start: Any, steps: Array) -> Any:
    """States at the steps 0, K/8, ..., K of a run, from `advance(state, first step, count)`."""
    marks = steps * jnp.arange(SEGMENTS + 1) // SEGMENTS

    def segment(state: Any, j: Array) -> tuple[Any, Any]:
        state = advance(state, marks[j], marks[j + 1] - marks[j])
        return state, state

    _, kept = jax.lax.scan(segment, start, jnp.arange(SEGMENTS))
    return jax.tree.map(lambda first, rest: jnp.concatenate([first[None], rest]), start, kept)


def loss_against(theta: Products, spectrum: Float[Array, " d"]) -> Float[Array, " stages"]:
    """|theta - diag(spectrum)|_F^2 at every stage."""
    return jnp.sum((theta - jnp.diag(spectrum)) ** 2, axis=(-2, -1))


def loss_change(
    theta: Products, before: Products, spectrum: Float[Array, " d"]
) -> Float[Array, " stages"]:
    """|theta - diag(spectrum)|_F^2 - |before - diag(spectrum)|_F^2, without cancellation."""
    middle = (theta - jnp.diag(spectrum)) + (before - jnp.diag(spectrum))
    return jnp.sum((theta - before) * middle, axis=(-2, -1))


def diagonal_pair(modes: Float[Array, "*lead d"]) -> Pair:
    """Equal diagonal factors of modes."""
    factor = modes[..., None] * jnp.eye(modes.shape[-1])
    return factor, factor


def learned_stages(
    matrices: Float[Array, "*lead stages d d"],
) -> Float[Array, "*lead stages-1 d d"]:
    """Those of the stages n >= 1."""
    return matrices[..., 1:, :, :]


def diagonal(modes: Modes) -> Products:
    """The products theta^n of diagonal factors."""
    return jax.vmap(jnp.diag)(modes**2)
