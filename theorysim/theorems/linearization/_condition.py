"""Choices of what to tune, their condition numbers, and how well the network then learns.

The figures of Section 6: a network with three hidden layers that was pretrained on digits is
fine-tuned in a part of its parameters, for every choice of a part, by the paper's descent with one
step size (the print's training is by AdamW on cross-entropy). Beside each loss stands that of the
linearised model, trained alike, in closed form, and that of exact ridge regression.
"""

from collections.abc import Callable, Sequence
from itertools import product
from math import sqrt
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.numerics.products import dot
from theorysim.numerics.tangent_kernels import empirical_ntk
from theorysim.systems import linearized
from theorysim.systems.fine_tuning import regularised_descent, squared_loss
from theorysim.theorems.linearization import _digits as digits

HIDDEN_LAYERS = 3
STRENGTHS = (0.1, 1.0)
EPOCHS = 10
RANKS = (1, 2, 4, 8)
STABLE = 0.1
"""the step size in units of 1 / (lambda + 2 lambda_max), for the kernel of all weights, which grows
several times while a deep network learns: at 1/2 some descents became unstable"""

SUBSETS = tuple(chosen for chosen in product((0, 1), repeat=HIDDEN_LAYERS + 1) if any(chosen))
SUBSET_NAMES = tuple("+".join(str(k + 1) for k, on in enumerate(s) if on) for s in SUBSETS)
ADAPTERS = tuple(product(range(HIDDEN_LAYERS), RANKS))
ADAPTER_NAMES = tuple(f"{layer + 1}:{rank}" for layer, rank in ADAPTERS)
"""layer and rank"""


def sizes(examples: claims.Size, epoch: int) -> claims.Space:
    """So many examples, and so many steps an epoch."""
    return digits.sizes(examples=examples, epoch=claims.Size(epoch, low=1, high=100_000))


SPACE = sizes(claims.Size(60, low=8, high=400), 300)


class Tuned(NamedTuple):
    """For every pull and choice: the condition number, losses over ten epochs, test accuracy."""

    condition: Float[Array, "strength choice"]
    """kappa(K + sigma I), sigma = lambda / 2"""
    loss: Float[Array, "strength choice epoch"]
    linear_loss: Float[Array, "strength choice epoch"]
    """of the linearised model, trained alike"""
    ridge_loss: Float[Array, "strength choice"]
    """of exact ridge regression, to which the linearised model is trained in the end"""
    accuracy: Float[Array, "strength choice"]


class Choices(NamedTuple):
    """Parameters, and which of them every choice tunes, as a weight of 0 or 1 of each."""

    model: Callable[[Float[Array, " parameters"], Array], Float[Array, ""]]
    start: Float[Array, " parameters"]
    masks: Float[Array, "choice parameters"]


def subsets_of_layers(task: digits.Task, key: Array) -> Choices:
    """Every subset of the layers but the empty one."""
    flat, back = ravel_pytree(task.params)
    masks = jnp.asarray(SUBSETS, jnp.float32) @ digits.layer_masks(task.params)
    return Choices(lambda p, image: task.model(back(p), image), flat, masks)


def adapters(task: digits.Task, key: Array) -> Choices:
    """LoRA of every rank on every hidden layer: W + B A, B zero and A drawn."""
    weights = [layer.weight for layer in task.params.layers[:-1]]
    keys = jax.random.split(key, len(weights))
    rank = max(RANKS)
    start = [
        (jnp.zeros((len(w), rank)), jax.random.normal(k, (rank, w.shape[1])) / sqrt(w.shape[1]))
        for w, k in zip(weights, keys)
    ]
    flat, back = ravel_pytree(start)

    def model(parts: Float[Array, " parameters"], image: Array) -> Array:
        params = task.params
        for layer, (weight, adapter) in enumerate(zip(weights, back(parts))):
            params = digits.with_weight(params, layer, weight + dot(*adapter))
        return task.model(params, image)

    def mask(layer: int, chosen: int) -> Float[Array, " parameters"]:
        def of(number: int, up: Array, down: Array) -> tuple[Array, Array]:
            kept = (jnp.arange(rank) < chosen) & (number == layer)
            return kept * jnp.ones_like(up), kept[:, None] * jnp.ones_like(down)

        return ravel_pytree([of(number, *pair) for number, pair in enumerate(start)])[0]

    return Choices(model, flat, jnp.stack([mask(*choice) for choice in ADAPTERS]))


def tuned(
    x: claims.Instance,
    key: Array,
    choices: Callable[[digits.Task, Array], Choices],
    shuffled: bool = False,
    equal: bool = False,
) -> Tuned:
    """Pretraining, and fine-tuning of every choice at every pull.

    `shuffled` is the null in which the choices have each other's kernels, in an order that is
    drawn. `equal` gives all kernels the largest eigenvalue of all weights: parameters count as many
    times as that takes.
    """
    task = digits.task(x, key, HIDDEN_LAYERS)
    model, start, masks = choices(task, jax.random.fold_in(key, 2))
    kernel = empirical_ntk(task.model, task.params, task.train.inputs)
    sharpest = jnp.linalg.eigvalsh(kernel)[-1]

    def told(params: Float[Array, " parameters"], inputs: Array) -> Float[Array, "n"]:
        return digits.outputs(model, params, inputs)

    first = told(start, task.train.inputs)
    features = digits.jacobian(lambda p: told(p, task.train.inputs), start)
    grams = jax.vmap(lambda mask: dot(features * mask, features.T))(masks)
    if equal:
        sizes = jnp.sqrt(sharpest / jnp.linalg.eigvalsh(grams)[:, -1])
        masks, grams = masks * sizes[:, None], grams * sizes[:, None, None] ** 2
    if shuffled:
        grams = jax.random.permutation(jax.random.fold_in(key, 3), grams)
    every = x.epoch * jnp.arange(EPOCHS + 1)

    def at(strength: Array, mask: Array, gram: Array) -> Tuned:
        rate = STABLE / (strength + 2 * sharpest)
        spectrum = linearized.modes(gram, task.train.targets - first)

        def outputs(moved: Array) -> Float[Array, " n"]:
            return told(start + mask * moved, task.train.inputs)

        def linear(steps: Array) -> Float[Array, ""]:
            gain = linearized.descent_gain(spectrum.curvatures, strength, rate, steps)
            return jnp.sum(linearized.predicted_residual(spectrum, gain) ** 2)

        loss = squared_loss(outputs, task.train.targets)
        nowhere = jnp.zeros_like(start)
        run = regularised_descent(loss, nowhere, rate, strength, EPOCHS * x.epoch, record=loss)
        largest, smallest = jnp.max(spectrum.curvatures), jnp.min(spectrum.curvatures)
        tested = told(start + mask * run.params, task.test.inputs)
        return Tuned(
            condition=(largest + strength / 2) / (smallest + strength / 2),
            loss=run.path[:: x.epoch],
            linear_loss=jax.vmap(linear)(every),
            ridge_loss=_ridge_loss(spectrum, strength / 2),
            accuracy=digits.accuracy(tested, task.test.targets),
        )

    def of_strength(strength: Array) -> Tuned:
        return jax.vmap(lambda mask, gram: at(strength, mask, gram))(masks, grams)

    return jax.lax.map(of_strength, jnp.asarray(STRENGTHS))


def _ridge_loss(spectrum: linearized.Modes, sigma: Float[Array, ""]) -> Float[Array, ""]:
    """||(I - K (K + sigma I)^(-1)) (y - f_0)||^2, the loss behind Theorem 5."""
    return jnp.sum((sigma / (spectrum.curvatures + sigma) * spectrum.gap) ** 2)


def simulations(
    choices: Callable[[digits.Task, Array], Choices], equal: bool = False
) -> tuple[Callable[[claims.Instance, Array], Tuned], tuple[claims.Mutant, ...]]:
    """What an experiment simulates, and its null, in which choices have each other's kernels."""

    def any_kernel(x: claims.Instance, key: Array) -> Tuned:
        return tuned(x, key, choices, shuffled=True, equal=equal)

    null = claims.Mutant("kernels in an order that is drawn", simulate=any_kernel)
    return lambda x, key: tuned(x, key, choices, equal=equal), (null,)


def axes(choices: Sequence[str]) -> Callable[[claims.Instance], dict[str, object]]:
    """Pulls, and epochs of as many steps as the size says."""
    return lambda x: {
        "strength": np.asarray(STRENGTHS),
        "choice": np.asarray(choices),
        "epoch": np.arange(EPOCHS + 1),
    }


def rank_correlation(
    first: Float[Array, "*lead choice"], second: Float[Array, "*lead choice"]
) -> Float[Array, "*lead"]:
    """Spearman's: the correlation of the places that two rows have in their order.

    What is equal shares its places; a row of equal entries has the correlation 0.
    """
    a, b = (_places(row) for row in (first, second))
    size = jnp.sqrt(jnp.sum(a**2, axis=-1) * jnp.sum(b**2, axis=-1))
    return jnp.sum(a * b, axis=-1) / jnp.where(size > 0, size, 1)


def _places(row: Float[Array, "*lead choice"]) -> Float[Array, "*lead choice"]:
    """From the middle of the order."""
    return jnp.sum(jnp.sign(row[..., :, None] - row[..., None, :]), axis=-1) / 2


def _by_condition(r: claims.Run, what: Float[Array, "run strength choice"]) -> Array:
    return rank_correlation(r.sim.condition, what)


HIGHER_LOSS = claims.on_average(
    "a higher condition number, a higher training loss",
    lambda r: 0.0,
    lambda r: _by_condition(r, r.sim.loss[..., -1]),
    statement="0 < Spearman's rank correlation over the choices, at every pull",
)
LOWER_ACCURACY = claims.on_average(
    "a higher condition number, a lower accuracy",
    lambda r: _by_condition(r, r.sim.accuracy),
    lambda r: 0.0,
    statement="Spearman's rank correlation over the choices < 0, at every pull",
    printed=False,
)
LINEAR_LOSS = claims.on_average(
    "the linearised model tells which choices learn",
    lambda r: 0.0,
    lambda r: rank_correlation(r.sim.linear_loss[..., -1], r.sim.loss[..., -1]),
    statement="0 < Spearman's rank correlation of its loss with the network's",
    printed=False,
)
RIDGE_LOSS = claims.on_average(
    "exact ridge regression tells which choices learn",
    lambda r: 0.0,
    lambda r: rank_correlation(r.sim.ridge_loss, r.sim.loss[..., -1]),
    statement="0 < Spearman's rank correlation of its loss with the network's",
    printed=False,
)
BEYOND_LOSS = claims.on_average(
    "and better than the condition number",
    lambda r: _by_condition(r, r.sim.loss[..., -1]),
    lambda r: rank_correlation(r.sim.linear_loss[..., -1], r.sim.loss[..., -1]),
    statement="by Spearman's rank correlation with the loss of the network",
    printed=False,
)
CLAIMS = (HIGHER_LOSS, LOWER_ACCURACY, LINEAR_LOSS, BEYOND_LOSS, RIDGE_LOSS)
SOURCE = claims.Printed(
    "slides, Section 6, figures (a) to (c), and Section 5, So far",
    "Higher condition number -> Higher train loss [...] we can utilize condition number of matrix "
    "K to anticipate performance",
)
