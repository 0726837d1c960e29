"""What the scenes of this paper share: samples, a source and targets, descent of deep networks.

Inputs are standard normal, so that the population risk is a squared distance.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim.systems import deep_linear_limit as deep_limit
from theorysim.systems import deep_linear_network as network
from theorysim.systems import linear_regression as regression

DIMENSION, SAMPLES = 6, 3
# Singular values of the samples lie between these: a narrow range trains fast.
STRETCH = (0.8, 1.2)
# Steps times the share of the stability limit: long enough for every loss to vanish.
JOURNEY = 240.0


class Problem(NamedTuple):
    """Samples, a source of length 1, and a unit vector that is orthogonal to it."""

    data: Float[Array, "n d"]
    source: Float[Array, " d"]
    aside: Float[Array, " d"]


def problem() -> Problem:
    """A fixed draw; the source has one half of its square inside of the data's span."""
    normal = jax.random.normal(jax.random.key(0), (DIMENSION, DIMENSION))
    frame = jnp.linalg.qr(normal)[0]
    stretch = jnp.linspace(*STRETCH, SAMPLES)
    inside, outside = frame[:, :SAMPLES], frame[:, SAMPLES:]
    source = (jnp.mean(inside, axis=1) + jnp.mean(outside, axis=1)) * jnp.sqrt(SAMPLES / 2.0)
    aside = (inside[:, 0] - inside[:, 1] + outside[:, 0] - outside[:, 1]) / 2
    return Problem(stretch[:, None] * inside.T, source, aside)


def kept_factor(task: Problem, weights: Float[Array, " d"]) -> Float[Array, ""]:
    """How many times P_perp of the source the weights have outside of the data's span."""
    kept = regression.project(regression.row_space(task.data), task.source).orthogonal
    return jnp.sum(weights * kept) / jnp.sum(kept**2)


def descended(
    depth: int,
    data: Float[Array, "n d"],
    source: Float[Array, " d"],
    target: Float[Array, " d"],
    share: Any,
) -> Float[Array, " d"]:
    """The end of gradient descent of all matrices of a 0-balanced network, from the source.

    The learning rate is a share of the stability limit.
    """
    layers = network.balanced_layers(jax.random.key(1), source, (len(source),) * (depth - 1))
    limit = deep_limit.limit(data, source, target, depth)
    longest = jnp.maximum(jnp.linalg.norm(source), jnp.linalg.norm(limit))
    rate = share * network.critical_learning_rate(data, depth, longest)
    steps = jnp.ceil(JOURNEY / share).astype(int)
    return network.end_to_end(network.train(layers, data, data @ target, rate, steps))
