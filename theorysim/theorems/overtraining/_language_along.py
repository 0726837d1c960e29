"""The loss of the small language model along a direction, and its second-order Taylor polynomial.

The coefficients of the polynomial are those of the loss itself, by products with its Hessian. How
far the loss is above it is never a difference of losses, of which rounding would leave nothing
where lambda is small: every layer is split into z_0 + lambda z_1 + lambda^2 z_2, exactly.
"""

from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float

from theorysim.theorems.overtraining import _language as language

# Shares of the direction: of the first, "extremely close to zero" in print, a network of this size
# crosses hardly any kink of its ReLU; from 1/64 on it crosses many.
LAMBDAS = tuple(2.0**-k for k in range(16, -1, -1))

# z_0, z_1 and z_2 of every character.
Split: TypeAlias = tuple[Array, Array, Array]

SERIES = 0.25  # where the series of e^c - 1 - c is better than the difference, to seven digits


class Along(NamedTuple):
    """L(theta + lambda eps); its Taylor polynomial in lambda; how far it is above that.

    `above` is in units of the quadratic term, lambda^2 eps^T H eps / 2.
    """

    loss: Float[Array, "lambda"]
    taylor: Float[Array, "lambda"]
    above: Float[Array, "lambda"]


def along(
    model: language.Model, direction: language.Model, table: language.Table, at: language.Model
) -> Along:
    """The loss from a model on, and a polynomial with the derivatives at another (or the same)."""

    def loss(model: language.Model) -> Float[Array, ""]:
        return language.excess(model, table)

    def moved(share: Array) -> tuple[Array, Array]:
        there = optax.tree.add_scale(model, share, direction)
        return loss(there), _beyond_the_slope(model, direction, table, share)

    gradient, bent = jax.jvp(jax.grad(loss), (at,), (direction,))
    slope, curvature = optax.tree.vdot(gradient, direction), optax.tree.vdot(bent, direction)
    own = optax.tree.vdot(jax.grad(loss)(model), direction)
    shares = jnp.asarray(LAMBDAS, jnp.result_type(slope))
    losses, beyond = jax.vmap(moved)(shares)
    return Along(
        losses,
        loss(model) + shares * slope + shares**2 * curvature / 2,
        (beyond + jnp.subtract(own, slope) / shares) / (curvature / 2) - 1,
    )


def _beyond_the_slope(
    model: language.Model, direction: language.Model, table: language.Table, share: Array
) -> Float[Array, ""]:
    """(L(theta + lambda eps) - L(theta) - lambda L'(0)) / lambda^2."""
    embedding, moved = model.embedding.weight, direction.embedding.weight
    characters = (embedding, moved, jnp.zeros_like(moved))
    hidden = _rectified(_layer(model.hidden, direction.hidden, characters, share), share)
    start, first, second = _layer(model.output, direction.output, hidden, share)
    frequency = jnp.sum(table, axis=1)
    told, given = jax.nn.softmax(start), table / frequency[:, None]
    bent = _bent(told, share * (first + share * second)) / share**2
    return frequency @ (jnp.sum((told - given) * second, axis=1) + bent)


def _layer(layer: Any, moved: Any, inputs: Split, share: Array) -> Split:
    start, first, second = inputs
    return (
        start @ layer.weight.T + layer.bias,
        first @ layer.weight.T + start @ moved.weight.T + moved.bias,
        second @ layer.weight.T + (first + share * second) @ moved.weight.T,
    )


def _rectified(inputs: Split, share: Array) -> Split:
    """ReLU, whose slope is that at the start: what crosses the kink is of the last part."""
    start, first, second = inputs
    end = start + share * (first + share * second)
    is_on = start > 0
    crossed = jnp.where(is_on != (end > 0), jnp.abs(end), 0) / share**2
    return jax.nn.relu(start), is_on * first, is_on * second + crossed


def _bent(chances: Array, by: Array) -> Float[Array, "characters"]:
    """log sum(p e^y) - sum(p y), without cancellation where y is small."""
    centred = by - jnp.sum(chances * by, axis=1, keepdims=True)
    c = jnp.clip(centred, -1, 1)
    series = c**2 / 2 * (1 + c / 3 * (1 + c / 4 * (1 + c / 5 * (1 + c / 6))))
    higher = jnp.where(jnp.abs(c) < SERIES, series, jnp.expm1(c) - c)
    is_small = jnp.max(jnp.abs(centred), axis=1) < 1
    near = jnp.log1p(jnp.sum(chances * higher, axis=1))
    return jnp.where(is_small, near, jax.nn.logsumexp(centred, axis=1, b=chances))
