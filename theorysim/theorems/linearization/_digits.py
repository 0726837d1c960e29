"""A network pretrained on digits, in the place of RoBERTa: what Section 6's experiments fine-tune.

Half of the images teach a tanh network whether a digit is 5 or more; it is then fine-tuned, on some
images of the other half, to tell whether the digit is even, and tested on the rest. Targets are -1
and 1. Every run has its own split and its own start.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.data import digits
from theorysim.numerics.descent import descend_to
from theorysim.numerics.models import from_equinox
from theorysim.numerics.tangent_kernels import Model

PRETRAINING_RATE = 1e-2
"""of Adam, on all images at once"""


class Examples(NamedTuple):
    """Images as rows, and the target of each."""

    inputs: Float[Array, "n pixels"]
    targets: Float[Array, " n"]


class Task(NamedTuple):
    """The pretrained network, and what it is fine-tuned and tested on."""

    model: Model
    params: Any
    train: Examples
    test: Examples


def sizes(**others: claims.Size) -> claims.Space:
    """The sizes that every experiment on digits has, and others."""
    shared = {
        "examples": claims.Size(200, low=8, high=400),
        "width": claims.Size(32, low=4),
        "pretraining": claims.Size(500, low=5, high=100_000),
    }
    return claims.Space(**{**shared, **others})


def task(x: claims.Instance, key: Array, depth: int = 1) -> Task:
    """Pretraining, on a split of the images that is drawn; `depth` is the number of hidden layers.

    The network is one that any change of `params` makes: all its weights and biases.
    """
    data = digits.small()
    images = jnp.asarray(data.images, jnp.float32)
    order = jax.random.permutation(jax.random.fold_in(key, 0), len(images))
    early, late = jnp.split(order, [len(images) // 2])
    some, rest = jnp.split(late, [x.examples])
    labels = jnp.asarray(data.labels)
    large, even = (_signs(labels >= 5), _signs(labels % 2 == 0))
    fresh = eqx.nn.MLP(
        images.shape[1],
        "scalar",
        x.width,
        depth,
        activation=jnp.tanh,
        key=jax.random.fold_in(key, 1),
    )
    model, params = from_equinox(fresh)
    old = Examples(images[early], large[early])
    start = descend_to(
        lambda p: jnp.mean((outputs(model, p, old.inputs) - old.targets) ** 2),
        params,
        optax.adam(PRETRAINING_RATE),
        x.pretraining,
    )
    return Task(model, start, *(Examples(images[part], even[part]) for part in (some, rest)))


def outputs(model: Model, params: Any, inputs: Float[Array, "n pixels"]) -> Float[Array, " n"]:
    """The model on every input."""
    return jax.vmap(lambda image: model(params, image))(inputs)


def with_weight(params: Any, layer: int, weight: Float[Array, "rows columns"]) -> Any:
    """The parameters with another matrix in one layer."""
    return eqx.tree_at(lambda network: network.layers[layer].weight, params, weight)


def layer_masks(params: Any) -> Float[Array, "layers parameters"]:
    """Which parameters, one after another, belong to every layer: 1 for those, else 0."""
    layers = range(len(params.layers))
    number = [
        jax.tree.map(lambda leaf, k=k: jnp.full_like(leaf, k), params.layers[k]) for k in layers
    ]
    return jnp.equal(ravel_pytree(number)[0], jnp.arange(len(layers))[:, None]).astype(jnp.float32)


def accuracy(told: Float[Array, "*lead n"], targets: Float[Array, " n"]) -> Float[Array, "*lead"]:
    """The share of outputs that have the sign of their target."""
    return jnp.mean(told * targets > 0, axis=-1)


def _signs(is_so: Array) -> Float[Array, " images"]:
    return jnp.where(is_so, 1.0, -1.0)


def jacobian(
    told: Callable[[Any], Float[Array, " n"]], params: Any
) -> Float[Array, "n parameters"]:
    """Of the outputs in all parameters, one after another."""
    flat, back = ravel_pytree(params)
    return jax.jacrev(lambda p: told(back(p)))(flat)
