"""ReLU networks on written digits: what the figures of the paper are run anew with.

In the place of ResNet-50 and LeNet stand networks of a few layers, with He's initialisation and no
bias at the start, plain or with batch normalisation, on the images of 8 x 8 pixels of scikit-learn.
In the place of batches of 32 at a rate of 0.01 that decays, with a weight decay of 5e-4 on digits,
stands descent on all samples at once, at a rate of 0.05 that stays unless another is named, with
the paper's momentum of 0.9 and no weight decay. Losses are cross-entropies, in nats.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, Int, PyTree

from theorysim import claims
from theorysim.data import digits
from theorysim.numerics.descent import descend, descend_to

RATE, MOMENTUM = 0.05, 0.9
CLASSES = 10
HALF = CLASSES // 2


KINDS = ("plain", "batch norm")
"""of networks"""


class Task(NamedTuple):
    """Images, a row of pixels each, and the numbers of their classes."""

    images: Float[Array, "*tasks n pixels"]
    labels: Int[Array, "*tasks n"]


class Layer(NamedTuple):
    """Of all images: the weights' products with what the layer before it gave, and what it gives.

    As derivatives, or offsets, those in these values.
    """

    received: Any
    given: Any


class Network(eqx.Module):
    """Layers of ReLU units, and a last linear one, the head.

    A normalised network has batch normalisation: what a unit of a hidden layer receives is shifted
    and scaled to mean 0 and variance 1 over the images at hand.
    """

    weights: tuple[Float[Array, "_ _"], ...]
    biases: tuple[Float[Array, " _"], ...]
    is_normalised: bool = eqx.field(static=True, default=False)

    def __call__(self, images: Float[Array, "n pixels"]) -> Float[Array, "n classes"]:
        """The logits of all classes."""
        return self.layers(images)[-1].given

    def layers(
        self, images: Float[Array, "n pixels"], offsets: Sequence[Layer] | None = None
    ) -> list[Layer]:
        """What happens in every layer; `offsets` are added to it, layer by layer."""
        found: list[Layer] = []
        values, last = images, len(self.weights) - 1
        for depth, (weight, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            added = Layer(0.0, 0.0) if offsets is None else offsets[depth]
            received = values @ weight.T + added.received
            values = received if depth == last else self._normalised(received)
            values = values + bias[None]
            values = (values if depth == last else jax.nn.relu(values)) + added.given
            found.append(Layer(received, values))
        return found

    def _normalised(self, received: Float[Array, "n units"]) -> Float[Array, "n units"]:
        return jax.nn.standardize(received, axis=0) if self.is_normalised else received


def initialised(key: Array, widths: Sequence[int], is_normalised: bool = False) -> Network:
    """He's initialisation; `widths` are those of the inputs, of all layers, of the classes."""
    shapes = list(zip(widths[1:], widths[:-1], strict=True))
    ends = np.cumsum([units * fan for units, fan in shapes])
    parts = jnp.split(jax.random.normal(key, (ends[-1],)), ends[:-1])
    weights = (
        np.sqrt(2 / shape[1]) * part.reshape(shape)
        for shape, part in zip(shapes, parts, strict=True)
    )
    return Network(tuple(weights), tuple(map(jnp.zeros, widths[1:])), is_normalised)


def loss(network: Network, task: Task) -> Float[Array, ""]:
    """The mean cross-entropy, in nats."""
    return cross_entropy(network(task.images), task.labels)


def cross_entropy(logits: Float[Array, "n classes"], labels: Int[Array, " n"]) -> Float[Array, ""]:
    """The mean over samples, in nats."""
    return jnp.mean(optax.softmax_cross_entropy_with_integer_labels(logits, labels))


def error(network: Network, task: Task) -> Float[Array, ""]:
    """The share of images whose largest logit is not that of their class."""
    return jnp.mean(jnp.argmax(network(task.images), axis=-1) != task.labels)


def optimiser(rate: float = RATE) -> optax.GradientTransformation:
    """Descent with the paper's momentum."""
    return optax.sgd(rate, momentum=MOMENTUM)


def trained(start: Network, task: Task, steps: Any, rate: float = RATE) -> Network:
    """The network after so many steps, whose number may be traced."""
    return descend_to(lambda network: loss(network, task), start, optimiser(rate), steps)


def path(
    start: Network,
    task: Task,
    steps: int,
    every: int,
    record: Callable[[Network], Any],
    rate: float = RATE,
) -> PyTree[Array]:
    """What is recorded at the start and after every so many steps."""
    return descend(
        lambda network: loss(network, task),
        start,
        optimiser(rate),
        steps,
        record=record,
        every=every,
    )


def with_head_of(network: Network, other: Network) -> Network:
    """The layers of one network and the head of another."""
    return eqx.tree_at(
        lambda n: (n.weights[-1], n.biases[-1]), network, (other.weights[-1], other.biases[-1])
    )


def only_head(network: Network) -> Network:
    """The last layer, as a network on the values of the one before it."""
    return eqx.tree_at(
        lambda n: (n.weights, n.biases), network, (network.weights[-1:], network.biases[-1:])
    )


def deviation(network: Network, start: Network, samples: int) -> Float[Array, ""]:
    """(1 / sqrt(n)) sum_l |W_(l) - W_0(l)|_F over all layers, of Section 3."""
    moved = (jnp.linalg.norm(a - b) for a, b in zip(network.weights, start.weights, strict=True))
    return sum(moved, jnp.zeros(())) / jnp.sqrt(float(samples))


def names_of(several: Iterable[claims.Claim]) -> tuple[str, ...]:
    """The names of claims, which a null is to break."""
    return tuple(claim.name for claim in several)


def _pool(low: int, high: int) -> digits.Digits:
    """The images of the digits low, ..., high - 1."""
    data = digits.small()
    chosen = (low <= data.labels) & (data.labels < high)
    return digits.Digits(data.images[chosen], data.labels[chosen])


def pixels() -> int:
    """How many an image has."""
    return digits.small().images.shape[1]


def drawn(key: Array, low: int = 0, high: int = CLASSES) -> Task:
    """All images of the digits low, ..., high - 1, in an order of their own; classes count on."""
    pool = _pool(low, high)
    order = jax.random.permutation(key, len(pool.labels))
    return Task(jnp.asarray(pool.images, jnp.float32)[order], jnp.asarray(pool.labels - low)[order])


def part(task: Task, first: int, count: int | None = None) -> Task:
    """So many samples from one on; the rest, if no number is given."""
    end = None if count is None else first + count
    return Task(task.images[first:end], task.labels[first:end])


def upside_down(images: Float[Array, "n pixels"]) -> Float[Array, "n pixels"]:
    """The rows of pixels of every image in the contrary order."""
    side = int(np.sqrt(images.shape[-1]))
    return images.reshape(-1, side, side)[:, ::-1].reshape(images.shape)


def permuted(images: Float[Array, "n pixels"], key: Array) -> Float[Array, "n pixels"]:
    """The pixels of all images in the same new order."""
    return images[:, jax.random.permutation(key, images.shape[-1])]


def noisy(images: Float[Array, "n pixels"], key: Array, scale: float) -> Float[Array, "n pixels"]:
    """With normal noise of this standard deviation on every pixel."""
    return images + scale * jax.random.normal(key, images.shape)


def shuffled(task: Task, key: Array) -> Task:
    """The labels of a task, dealt out anew."""
    return task._replace(labels=jax.random.permutation(key, task.labels, axis=-1))


def brightness(images: Float[Array, "n pixels"], classes: int) -> Int[Array, " n"]:
    """The class of an image by how bright its upper half is: classes of the same size."""
    upper = jnp.mean(images[:, : images.shape[-1] // 2], axis=-1)
    ranks = jnp.argsort(jnp.argsort(upper))
    return ranks * classes // len(images)
