"""What the theory of two-layer linear networks says of checkpoints under noise, from a spectrum.

Springer et al., "Overtrained Language Models Are Harder to Fine-Tune" (2025), pretrain
x -> W_1 W_2 x by gradient flow on whitened inputs from small balanced weights: mode after mode of
the target is learnt, each along the closed curve of `theorysim.systems.linear_modes`. Noise of a
share g of both factors' root mean square costs (2 g^2 + g^4) S^2 / h on average, S being the sum of
the learnt singular values and h the width: it grows as more is learnt, until it outgrows what is
gained.

A user's model is another one. Its unit of time and its initial weights are fitted to how its loss
falls without noise, and a unit of loss is how far it falls in all; what noise adds is then
predicted with nothing left to choose.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from theorysim.advise.problem import Examples, Loss, losses_of
from theorysim.systems.linear_modes import growth

PER_DIRECTION = 10
"""so many examples for each direction of the inputs that is kept: fewer would fit chance"""
MOST_CODES = 1024
"""whole numbers below are codes, and stand for rows with a single 1"""
TAUS = np.linspace(0.25, 6.0, 24)
"""initial weights exp(-tau) that are tried"""
FACTORS = np.geomspace(1e-5, 1e3, 161)
"""units of time, per step, that are tried"""
TINY = 1e-12


class Spectrum(NamedTuple):
    """Of the best linear map from whitened inputs to centred targets."""

    values: Float[np.ndarray, " modes"]
    """singular values, falling"""
    explained: float
    """share of the targets' variance that this map explains"""


class TwoLayer(NamedTuple):
    """The theory's loss of every noise and checkpoint, and what was fitted."""

    losses: Float[np.ndarray, "noises checkpoints"]
    """those without noise, as measured, and what noise adds"""
    factor: float
    """units of the theory's time per step"""
    tau: float
    """weights were exp(-tau) at the start"""
    misfit: float
    """largest difference of the fitted shares of the loss without noise"""


def spectrum(examples: Examples) -> Spectrum:
    """Of a task, in the leading directions of its inputs."""
    rows = np.concatenate(
        [_numbers(np.asarray(leaf)) for leaf in jax.tree.leaves(examples.inputs)], axis=1
    )
    count = len(rows)
    left, sizes, _ = np.linalg.svd(rows - rows.mean(0), full_matrices=False)
    rank = int(np.sum(sizes > TINY + np.finfo(np.float32).eps * count * sizes[:1]))
    white = left[:, : max(1, min(rank, count // PER_DIRECTION))] * np.sqrt(count)
    targets = examples.targets - examples.targets.mean(0)
    values = np.linalg.svd(targets.T @ white / count, compute_uv=False)
    variance = max(float(np.sum(targets**2)) / count, TINY)
    return Spectrum(values, float(np.sum(values**2)) / variance)


def _numbers(leaf: np.ndarray) -> Float[np.ndarray, "n d"]:
    """Inputs as rows of numbers; codes as rows with a single 1 for each."""
    if leaf.dtype.kind in "iu" and leaf.size and 0 <= leaf.min() and leaf.max() < MOST_CODES:
        leaf = np.eye(int(leaf.max()) + 1)[leaf]
    return leaf.reshape(len(leaf), -1).astype(float)


def constant_loss(targets: Float[np.ndarray, "n k"], loss: Loss) -> float:
    """The least mean loss of outputs that know no input."""
    mean = targets.mean(0)
    told = mean if loss == "squared" else np.log(np.maximum(mean, TINY))
    return float(losses_of(np.tile(told, (len(targets), 1)), targets, loss).mean())


def noise_cost(
    values: Float[np.ndarray, "*times modes"], noise: float
) -> Float[np.ndarray, "*times"]:
    """Mean squared error that noise adds to a balanced product with these singular values.

    E ||(W_1 + Z_1)(W_2 + Z_2) - W_1 W_2||^2 for independent entries of `noise` times the root mean
    square of each factor, which is S over the number of its entries: (2 g^2 + g^4) S^2 / h.
    """
    width = values.shape[-1]
    return (2 * noise**2 + noise**4) * values.sum(-1) ** 2 / width


def two_layer(
    order: Sequence[float],
    unchanged: Float[np.ndarray, " checkpoints"],
    constant: float,
    known: Spectrum,
    noises: Sequence[float],
) -> TwoLayer | None:
    """The theory on checkpoints, fitted to their losses without noise.

    Args:
        order: steps or tokens of the checkpoints, growing.
        unchanged: their losses.
        constant: the loss of outputs that know no input.
        known: the spectrum of the task.
        noises: shares of the root mean square of the parameters.

    None where no checkpoint does better than `constant`, or nothing is linear in the task.
    """
    least = int(np.argmin(unchanged))
    if not unchanged[least] < constant or not known.values[0] > TINY:
        return None
    # The theory's loss never rises: what was measured behind the least one is none of its business.
    shares = (unchanged[: least + 1] - unchanged[least]) / (constant - unchanged[least])
    steps = np.asarray(order, float)
    learnt = _learnt(known.values, np.outer(FACTORS, steps).ravel())
    missing = np.sum((known.values - learnt) ** 2, axis=-1)
    told = missing.reshape(len(TAUS), len(FACTORS), len(steps)) / np.sum(known.values**2)
    wrong = np.abs(told[..., : least + 1] - np.clip(shares, 0, 1))
    tau, factor = np.unravel_index(np.argmin(np.sum(wrong**2, axis=-1)), wrong.shape[:2])
    own = learnt.reshape(len(TAUS), len(FACTORS), len(steps), -1)[tau, factor]
    unit = (constant - unchanged[least]) / np.sum(known.values**2)
    losses = np.stack([unchanged + unit * noise_cost(own, noise) for noise in noises])
    return TwoLayer(
        losses, float(FACTORS[factor]), float(TAUS[tau]), float(wrong[tau, factor].max())
    )


def _learnt(
    values: Float[np.ndarray, " modes"], times: Float[np.ndarray, " times"]
) -> Float[np.ndarray, "taus times modes"]:
    """Singular values of the product, for every start, time and mode."""
    taus, at, features = (jnp.asarray(a) for a in (TAUS, times, values))
    shape = (len(TAUS), len(times), len(values))
    parts = (at[None, :, None], features[None, None], taus[:, None, None])
    return np.asarray(growth(*(jnp.broadcast_to(part, shape) for part in parts)), float)
