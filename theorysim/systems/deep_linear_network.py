"""Deep linear networks as L matrices: initialisations, gradient descent and gradient flow.

f(x) = <x, W_1 ... W_L> with W_j of shape (d_{j-1}, d_j), d_0 = d, d_L = 1; the training loss is
(1/n) ||f(X) - y||^2 (averaged, not halved), differentiated automatically in all matrices.

Source: Shachaf, Brutzkus, Globerson, "A Theoretical Analysis of Fine-tuning with Linear
Teachers", NeurIPS 2021, Section 5, Definition 5.1.
"""

from collections.abc import Callable, Sequence
from functools import reduce
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, Int, PRNGKeyArray

from theorysim.numerics import descent, flow
from theorysim.numerics.products import dot
from theorysim.systems.linear_regression import Scalar

Layers: TypeAlias = tuple[Float[Array, "_ _"], ...]


class Observed(NamedTuple):
    """What is recorded of a network along a run."""

    weights: Float[Array, "*times d"]
    """the end-to-end vector beta = W_1 ... W_L"""
    train_loss: Float[Array, "*times"]
    imbalance: Float[Array, "*times"]


def end_to_end(layers: Layers) -> Float[Array, " d"]:
    """beta = W_1 ... W_L, multiplied from the right so that only vectors appear."""
    return reduce(lambda vector, layer: dot(layer, vector), layers[-2::-1], layers[-1][:, 0])


def loss(layers: Layers, data: Float[Array, "n d"], labels: Float[Array, " n"]) -> Float[Array, ""]:
    """Training loss (1/n) ||X W_1 ... W_L - y||^2."""
    return jnp.mean(jnp.square(dot(data, end_to_end(layers)) - labels))


def imbalance(layers: Layers) -> Float[Array, ""]:
    """Largest ||W_j^T W_j - W_{j+1} W_{j+1}^T|| over largest ||W_j||^2, in Frobenius norms.

    Zero for the 0-balanced weights of Definition 5.1 and for a single layer.
    """
    gaps = [dot(w.T, w) - dot(after, after.T) for w, after in pairwise(layers)]
    if not gaps:
        return jnp.zeros((), layers[0].dtype)
    largest = jnp.max(jnp.stack([jnp.linalg.norm(gap) for gap in gaps]))
    return largest / jnp.max(jnp.stack([jnp.sum(jnp.square(w)) for w in layers]))


def balanced_layers(key: PRNGKeyArray, vector: Float[Array, " d"], hidden: Sequence[int]) -> Layers:
    """0-balanced layers whose product is `vector`; `hidden` are the widths d_1 .. d_{L-1}.

    W_j = ||vector||^(1/L) u_{j-1} u_j^T with random unit vectors u_j: for scalar output every
    0-balanced tuple has this form. NaN for a zero vector.
    """
    size = jnp.linalg.norm(vector)
    keys = jax.random.split(key, len(hidden))
    drawn = [
        jax.random.normal(each, (width,), vector.dtype)
        for each, width in zip(keys, hidden, strict=True)
    ]
    units = [vector / size, *(v / jnp.linalg.norm(v) for v in drawn), jnp.ones(1, vector.dtype)]
    layer_size = jnp.power(size, 1 / (len(hidden) + 1))
    return tuple(layer_size * jnp.outer(before, after) for before, after in pairwise(units))


def gaussian_layers(
    key: PRNGKeyArray, dimension: int, hidden: Sequence[int], scale: Scalar
) -> Layers:
    """Independent N(0, scale^2) entries: a small scale is only approximately 0-balanced."""
    widths = (dimension, *hidden, 1)
    keys = jax.random.split(key, len(widths) - 1)
    scale = jnp.asarray(scale)
    return tuple(
        scale * jax.random.normal(each, shape, scale.dtype)
        for each, shape in zip(keys, pairwise(widths), strict=True)
    )


def observe(layers: Layers, data: Float[Array, "n d"], labels: Float[Array, " n"]) -> Observed:
    """End-to-end vector, training loss and imbalance of one network."""
    return Observed(end_to_end(layers), loss(layers, data, labels), imbalance(layers))


def train(
    layers: Layers,
    data: Float[Array, "n d"],
    labels: Float[Array, " n"],
    learning_rate: Scalar,
    steps: int | Int[Array, ""],
    *,
    frozen: int = 0,
) -> Layers:
    """The network after gradient descent of all but the first `frozen` layers.

    Pretraining is this run on at least d samples of the source teacher.

    Raises:
        ValueError: where the layers do not fit together, none is left to train, or the run
            diverges (see `critical_learning_rate`).
    """
    fixed, free, objective = _trainable(layers, data, labels, frozen)
    end = descent.descend_to(objective, free, optax.sgd(learning_rate), steps)
    descent.check_descent(end, objective, free, learning_rate, steps)
    return fixed + end


def train_path(
    layers: Layers,
    data: Float[Array, "n d"],
    labels: Float[Array, " n"],
    learning_rate: Scalar,
    steps: int,
    *,
    every: int = 1,
    frozen: int = 0,
) -> Observed:
    """`train`, observed at the start and after every `every` steps."""
    fixed, free, objective = _trainable(layers, data, labels, frozen)
    path = descent.descend(
        objective,
        free,
        optax.sgd(learning_rate),
        steps,
        record=lambda moving: observe(fixed + moving, data, labels),
        every=every,
    )
    descent.check_descent(path, objective, free, learning_rate, steps)
    return path


def flow_path(
    layers: Layers,
    data: Float[Array, "n d"],
    labels: Float[Array, " n"],
    times: Float[Array, " times"],
    *,
    frozen: int = 0,
    **options: Any,
) -> Observed:
    """Gradient flow of all but the first `frozen` layers, observed at the given times.

    Options as for `numerics.flow.integrate`. The matrices at all times are in memory together.
    """
    fixed, free, objective = _trainable(layers, data, labels, frozen)
    states = flow.gradient_flow(objective, free, times, **options)
    return jax.vmap(lambda moving: observe(fixed + moving, data, labels))(states)


def critical_learning_rate(
    data: Float[Array, "n d"], depth: Scalar, norm: Scalar
) -> Float[Array, ""]:
    """n / (sigma_max(X)^2 L norm^(2-2/L)): stability limit at balanced weights, ||beta|| = norm.

    Twice the inverse of the largest possible curvature of the loss where it vanishes; the limit of
    linear regression for L = 1. Take half of it for the largest norm along the run.
    """
    depth = jnp.asarray(depth, data.dtype)
    squared = jnp.square(jnp.linalg.norm(data, ord=2))
    return data.shape[0] / (squared * depth * jnp.power(norm, 2 - 2 / depth))


def _trainable(
    layers: Layers, data: Float[Array, "n d"], labels: Float[Array, " n"], frozen: int
) -> tuple[Layers, Layers, Callable[[Layers], Float[Array, ""]]]:
    shapes = [layer.shape for layer in layers]
    if any(a[1] != b[0] for a, b in pairwise(shapes)) or shapes[-1][1] != 1:
        raise ValueError(
            f"layer shapes {shapes} do not chain to one output: need (d, d_1), ..., (d_{{L-1}}, 1)"
        )
    if not 0 <= frozen < len(layers):
        raise ValueError(
            f"{frozen} frozen layers of {len(layers)}: leave at least one layer to train"
        )
    fixed, free = layers[:frozen], layers[frozen:]
    return fixed, free, lambda moving: loss(fixed + moving, data, labels)
