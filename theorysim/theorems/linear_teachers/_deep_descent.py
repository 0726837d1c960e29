"""Deep linear networks in the experiments: pretrained and fine-tuned by gradient descent.

All matrices are stepped, as wide as the inputs. Pretraining starts from 0-balanced layers whose
product is a random vector as long as the source, and sees 3 d normal samples. The main text prints
no learning rates: here it is a sixteenth of what is stable where the network is, so that descent is
neither lost on the plateaus of deep networks nor thrown off where they are long. Descent leaves the
flow, of which Theorem 5.2 speaks, by an order of its learning rate (theorem-5.2-descent).
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from theorysim.numerics.products import dot
from theorysim.systems import deep_linear_network as network
from theorysim.systems.deep_linear_network import Layers
from theorysim.theorems.linear_teachers import _growing_samples as samples

# Of the learning rate at which descent would become unstable.
SHARE = 1 / 16

# Pretraining samples, as multiples of d.
SOURCE_SAMPLES = 3


def balanced_start(key: PRNGKeyArray, depth: int, size: Array, dimension: int) -> Layers:
    """0-balanced layers whose product points anywhere and has this length."""
    for_product, for_layers = jax.random.split(key)
    start = size * samples.unit(for_product, dimension)
    return network.balanced_layers(for_layers, start, (dimension,) * (depth - 1))


def pretrained(key: PRNGKeyArray, depth: int, source: Float[Array, "d"], steps: int) -> Layers:
    """The layers after training on 3 d normal samples of the source teacher."""
    for_start, for_rows = jax.random.split(key)
    start = balanced_start(for_start, depth, jnp.linalg.norm(source), source.size)
    rows = jax.random.normal(for_rows, (SOURCE_SAMPLES * source.size, source.size))
    return descend(start, square(rows), source, steps)


def square(rows: Float[Array, "n d"]) -> Float[Array, "d d"]:
    """As many samples as dimensions with the same loss for every network: the triangle of a QR."""
    return jnp.linalg.qr(rows / jnp.sqrt(len(rows) / rows.shape[1]), mode="r")


def descend(
    layers: Layers, rows: Float[Array, "n d"], teacher: Float[Array, "d"], steps: int
) -> Layers:
    """Gradient descent of all layers on samples that a teacher labels."""
    labels, reach = dot(rows, teacher), jnp.linalg.norm(teacher)
    at_one = SHARE * network.critical_learning_rate(rows, len(layers), 1.0)
    deeper = 1 - 1 / len(layers)

    def step(_: Array, layers: Layers) -> Layers:
        length = jnp.linalg.norm(network.end_to_end(layers))
        # Squares of the first derivatives go with length^(2 - 2/L), the misfit times the second
        # ones with length^(1 - 2/L); a single layer has neither.
        longest = jnp.maximum(length, reach) / length if len(layers) > 1 else 1.0
        rate = at_one / (longest * length ** (2 * deeper))
        slope = jax.grad(network.loss)(layers, rows, labels)
        return jax.tree.map(lambda leaf, down: leaf - rate * down, layers, slope)

    return jax.lax.fori_loop(0, steps, step, layers)


def risk(weights: Float[Array, "d"], teacher: Float[Array, "d"]) -> Float[Array, ""]:
    """The population risk for inputs N(0, I)."""
    return jnp.sum(jnp.square(weights - teacher))


def unbalanced(layers: Layers) -> Layers:
    """The null of the same network with layers of unequal size: the first 4 times as large."""
    first, *middle, last = layers
    return (4 * first, *middle, last / 4)
