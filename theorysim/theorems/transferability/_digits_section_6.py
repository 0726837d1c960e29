"""The networks of Section 6 on written digits, beside what infinite width predicts of them.

One output, images of length one, labels +1 and -1, the loss half the sum of squares, descent at
half of the largest stable rate, silent starts of scale one. Predictions are closed forms of the
same images and labels, and never see the networks.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from theorysim.numerics import kernels
from theorysim.numerics.products import dot
from theorysim.systems import two_layer_relu as relu
from theorysim.systems import two_layer_relu_limit as limit
from theorysim.theorems.transferability import _digits as digits
from theorysim.theorems.transferability._problem import NORMALISATION


class State(NamedTuple):
    """After pretraining: a real network, and where infinite width is."""

    network: relu.Network
    inputs: Float[Array, "p d"]
    coefficients: Float[Array, " p"]
    """of the change of outputs, H(x, inputs) c"""


class Both(NamedTuple):
    """Measured on real networks, and predicted by infinite width."""

    measured: Float[Array, "..."]
    predicted: Float[Array, "..."]


def task(images: Float[Array, "n d"], is_positive: Bool[Array, " n"]) -> relu.Task:
    """Images of length one, with the labels +1 and -1."""
    lengths = jnp.linalg.norm(images, axis=1, keepdims=True)
    return relu.Task(images / lengths, jnp.where(is_positive, 1.0, -1.0))


def untrained(key: Array, width: int, source: relu.Task) -> State:
    """A silent network, which knows nothing of the source."""
    network = relu.initialise_silent(key, width, digits.pixels(), 1.0)
    return State(network, source.inputs, jnp.zeros_like(source.labels))


def pretrained(start: State, source: relu.Task, steps: int | Int[Array, ""]) -> State:
    """Descent on the source, really and at infinite width."""
    gram, rate = _gram_and_rate(source)
    network = relu.train_to(start.network, source, rate, steps, normalisation=NORMALISATION)
    ideal = limit.kernel_descent(gram, source.labels, rate, steps)
    return State(network, source.inputs, ideal.coefficients)


def residuals(state: State, target: relu.Task) -> Both:
    """y_Q - u_Q(P)."""
    cross = kernels.tangent_gram(state.inputs, target.inputs)
    return Both(
        target.labels - relu.outputs(state.network, target.inputs),
        target.labels - dot(state.coefficients, cross),
    )


def mismatches(state: State, target: relu.Task) -> Both:
    """|y_Q - u_Q(P)|^2 / |y_Q|^2: the squared gradient of Theorem 1, as a share of the start's."""
    size = jnp.sum(jnp.square(target.labels))
    return Both(*(jnp.sum(jnp.square(left)) / size for left in residuals(state, target)))


def distances(state: State, target: relu.Task, steps: int, every: int) -> Both:
    """|W_Q(k) - W(P)|_F at the start of fine-tuning and after every so many steps."""
    gram, rate = _gram_and_rate(target)
    measured = relu.train(
        state.network,
        target,
        rate,
        steps,
        normalisation=NORMALISATION,
        record=lambda now: jnp.linalg.norm(now.weights - state.network.weights),
        every=every,
    )
    left = residuals(state, target).predicted
    times = jnp.arange(0, steps + 1, every)
    ideal = jax.vmap(lambda k: limit.kernel_descent(gram, left, rate, k).distance)(times)
    return Both(measured, ideal)


def _gram_and_rate(own: relu.Task) -> tuple[Float[Array, "n n"], Float[Array, ""]]:
    gram = kernels.tangent_gram(own.inputs, own.inputs)
    return gram, limit.largest_learning_rate(gram, NORMALISATION) / 2


def unexplained(measured: Float[Array, "*lead points"], predicted: Array) -> Float[Array, "*lead"]:
    """The sum of squares that a prediction leaves."""
    return jnp.sum(jnp.square(measured - predicted), axis=-1)


def about_the_mean(measured: Float[Array, "*lead points"]) -> Float[Array, "*lead"]:
    """The sum of squares that their mean leaves, which a prediction should undercut."""
    return unexplained(measured, jnp.mean(measured, axis=-1, keepdims=True))
