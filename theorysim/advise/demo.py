"""Small pretrained networks on digits: what `--demo` asks about, and what the campaign tunes.

Digits come with scikit-learn (`theorysim.data.digits`); networks take one image, a row of 64
pixels, and have five outputs. They are pretrained on one half of the images and tuned on the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array

from theorysim.advise.problem import Loss, batch_loss
from theorysim.data import digits

CLASSES = 5
SIDE = 8
"""images are 8 x 8"""
WIDTH = 32
CHANNELS = 4
BLOCKS = 2
PRETRAINING = 300
"""steps of Adam"""
RATE = 3e-3
TRAIN, TEST = 100, 250

NETWORKS = ("mlp", "convolutions", "attention")
TASKS = ("new digits", "inverted", "new classes", "noise", "moments")


class Setting(NamedTuple):
    """What a network is pretrained on, and what it is tuned for."""

    old: tuple[np.ndarray, np.ndarray]
    train: tuple[np.ndarray, np.ndarray]
    test: tuple[np.ndarray, np.ndarray]


class Convolution(eqx.Module):
    """3 x 3, padded, as one product with all patches: XLA's is far slower in a loop on a CPU."""

    weight: Array
    bias: Array

    def __init__(self, inputs: int, outputs: int, key: Array):
        self.weight = jax.random.normal(key, (outputs, inputs * 9)) / np.sqrt(inputs * 9)
        self.bias = jnp.zeros((outputs, 1))

    def __call__(self, x: Array) -> Array:
        padded = jnp.pad(x, ((0, 0), (1, 1), (1, 1)))
        places = [(i, j) for i in range(3) for j in range(3)]
        patches = [padded[:, i : i + SIDE, j : j + SIDE].reshape(len(x), -1) for i, j in places]
        return (self.weight @ jnp.concatenate(patches) + self.bias).reshape(-1, SIDE, SIDE)


class ConvBlock(eqx.Module):
    """x + conv(tanh(conv(x)))."""

    first: Convolution
    second: Convolution

    def __init__(self, key: Array):
        keys = jax.random.split(key)
        self.first = Convolution(CHANNELS, CHANNELS, keys[0])
        self.second = Convolution(CHANNELS, CHANNELS, keys[1])

    def __call__(self, x: Array) -> Array:
        return x + self.second(jnp.tanh(self.first(x)))


class ConvNet(eqx.Module):
    """A residual network of convolutions; the head reads the mean of four quarters."""

    stem: Convolution
    blocks: list[ConvBlock]
    head: eqx.nn.Linear

    def __init__(self, key: Array):
        keys = jax.random.split(key, BLOCKS + 2)
        self.stem = Convolution(1, CHANNELS, keys[0])
        self.blocks = [ConvBlock(k) for k in keys[2:]]
        self.head = eqx.nn.Linear(4 * CHANNELS, CLASSES, key=keys[1])

    def __call__(self, x: Array) -> Array:
        x = jnp.tanh(self.stem(x.reshape(1, SIDE, SIDE)))
        for block in self.blocks:
            x = block(x)
        quarters = x.reshape(CHANNELS, 2, SIDE // 2, 2, SIDE // 2).mean((2, 4))
        return self.head(quarters.ravel())


class AttentionBlock(eqx.Module):
    """Attention and a dense layer, each with a norm before and a short cut around."""

    norms: list[eqx.nn.LayerNorm]
    attention: eqx.nn.MultiheadAttention
    dense: eqx.nn.MLP

    def __init__(self, key: Array):
        keys = jax.random.split(key)
        self.norms = [eqx.nn.LayerNorm(WIDTH // 2) for _ in range(2)]
        self.attention = eqx.nn.MultiheadAttention(2, WIDTH // 2, key=keys[0])
        self.dense = eqx.nn.MLP(WIDTH // 2, WIDTH // 2, WIDTH, 1, key=keys[1])

    def __call__(self, x: Array) -> Array:
        y = jax.vmap(self.norms[0])(x)
        x = x + self.attention(y, y, y)
        return x + jax.vmap(lambda row: self.dense(self.norms[1](row)))(x)


class AttentionNet(eqx.Module):
    """A transformer whose tokens are the rows of the image."""

    embed: eqx.nn.Linear
    place: Array
    blocks: list[AttentionBlock]
    head: eqx.nn.Linear

    def __init__(self, key: Array):
        keys = jax.random.split(key, BLOCKS + 3)
        self.embed = eqx.nn.Linear(SIDE, WIDTH // 2, key=keys[0])
        self.place = 0.1 * jax.random.normal(keys[1], (SIDE, WIDTH // 2))
        self.blocks = [AttentionBlock(k) for k in keys[3:]]
        self.head = eqx.nn.Linear(WIDTH // 2, CLASSES, key=keys[2])

    def __call__(self, x: Array) -> Array:
        x = jax.vmap(self.embed)(x.reshape(SIDE, SIDE)) + self.place
        for block in self.blocks:
            x = block(x)
        return self.head(x.mean(0))


def network(kind: str, key: Array) -> Any:
    """An untrained network of one of `NETWORKS`."""
    if kind == "mlp":
        return eqx.nn.MLP(SIDE**2, CLASSES, WIDTH, 5, activation=jnp.tanh, key=key)
    return {"convolutions": ConvNet, "attention": AttentionNet}[kind](key)


def setting(task: str, seed: int, train: int = TRAIN) -> Setting:
    """One of `TASKS` on a split of the images that the seed draws.

    "new digits": pretrained to tell 0 to 4 apart, tuned for 5 to 9; all others are pretrained on
    the digit modulo 5. "inverted": the same on inverted images; "new classes": half of the digit,
    rounded down; "noise": the same on noisy, shifted images; "moments": five moments of the ink.
    """
    rng = np.random.default_rng((seed, TASKS.index(task)))
    data = digits.small()
    images, labels = data.images, data.labels
    if task == "new digits":
        old, new = np.flatnonzero(labels < CLASSES), np.flatnonzero(labels >= CLASSES)
        new = rng.permutation(new)
    else:
        order = rng.permutation(len(images))
        old, new = order[: len(order) // 2], order[len(order) // 2 :]
    new = new[: train + TEST]
    inputs, targets = images[new], labels[new] % CLASSES
    if task == "inverted":
        inputs = 1 - inputs
    if task == "noise":
        moved = np.roll(inputs.reshape(-1, SIDE, SIDE), (2, 1), axis=(1, 2)).reshape(len(new), -1)
        inputs = moved + 0.3 * rng.standard_normal(moved.shape)
    if task == "new classes":
        targets = labels[new] // 2
    if task == "moments":
        targets = _moments(inputs)
    first = (images[old], labels[old] % CLASSES)
    return Setting(first, (inputs[:train], targets[:train]), (inputs[train:], targets[train:]))


def _moments(images: np.ndarray) -> np.ndarray:
    """Ink, its centre and its spread, by rows and columns; standardised."""
    ink = images.reshape(-1, SIDE, SIDE)
    at = np.arange(SIDE)
    total = ink.sum((1, 2))
    rows, columns = ((ink.sum(axis) * at).sum(1) / total for axis in (2, 1))
    spreads = [
        (ink.sum(axis) * (at - mean[:, None]) ** 2).sum(1) / total
        for axis, mean in ((2, rows), (1, columns))
    ]
    found = np.stack([total, rows, columns, *spreads], axis=1)
    return (found - found.mean(0)) / found.std(0)


def trained(
    module: Any,
    inputs: np.ndarray,
    targets: np.ndarray,
    loss: Loss = "cross-entropy",
    steps: int = PRETRAINING,
) -> Any:
    """The module after full-batch Adam."""
    return trained_to(module, inputs, targets, (steps,), loss)[steps]


def trained_to(
    module: Any,
    inputs: np.ndarray,
    targets: np.ndarray,
    lengths: Sequence[int],
    loss: Loss = "cross-entropy",
) -> dict[int, Any]:
    """The module after these growing numbers of steps of one run of full-batch Adam."""
    params, static = eqx.partition(module, eqx.is_inexact_array)
    x = jnp.asarray(inputs, None if inputs.dtype.kind == "i" else jnp.float32)
    rows = np.eye(CLASSES)[targets] if loss == "cross-entropy" else targets
    wanted = jnp.asarray(rows, jnp.float32)
    adam = optax.adam(RATE)

    def told(params: Any) -> Array:
        outputs = jax.vmap(eqx.combine(params, static))(x)
        return batch_loss(outputs, wanted, loss).mean()

    def step(_: Any, state: Any) -> Any:
        params, memory = state
        change, memory = adam.update(jax.grad(told)(params), memory)
        return optax.apply_updates(params, change), memory

    run = jax.jit(lambda state, steps: jax.lax.fori_loop(0, steps, step, state))
    state, found = (params, adam.init(params)), {}
    for before, at in pairwise((0, *lengths)):
        state = run(state, at - before)
        found[at] = eqx.combine(state[0], static)
    return found


def pretrained(kind: str, task: Setting, seed: int) -> Any:
    """A network of a kind, pretrained for a setting."""
    return trained(network(kind, jax.random.key(seed)), *task.old)


def example(question: str, seed: int) -> dict[str, Any]:
    """Arguments of the function of `theorysim.advise` for a question, on digits."""
    task = setting("new digits", seed)
    if question == "transfer":
        fresh = network("mlp", jax.random.key(seed))
        return {"model": fresh, "sources": sources("new digits", seed), **_arguments(task)}
    if question == "length":
        return checkpoints(network("mlp", jax.random.key(seed)), task, seed)
    return {"model": pretrained("mlp", task, seed), **_arguments(task)}


def _arguments(task: Setting) -> dict[str, Any]:
    return {"inputs": task.train[0], "targets": task.train[1], "test": task.test}


SOURCES = (
    "old digits",
    "digits 5 to 9",
    "inverted digits",
    "shuffled classes",
    "noisy digits",
)
SOURCE_SIZE = 300


def sources(task: str, seed: int) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Tasks to pretrain on, by name, whose images are not those of the target task."""
    rng = np.random.default_rng((seed, 7))
    images, labels = setting(task, seed).old
    spare = rng.permutation(len(images))[:SOURCE_SIZE]
    some, classes = images[spare], labels[spare] % CLASSES
    data = digits.small()
    used = {row.tobytes() for part in setting(task, seed)[1:] for row in part[0]}
    free = [i for i, row in enumerate(data.images) if row.tobytes() not in used]
    near = rng.permutation([i for i in free if data.labels[i] >= CLASSES])[:SOURCE_SIZE]
    found = (
        (some, classes),
        (data.images[near], data.labels[near] % CLASSES),
        (1 - some, classes),
        (some, rng.permutation(classes)),
        (some + 0.5 * rng.standard_normal(some.shape), classes),
    )
    return dict(zip(SOURCES, found))


LENGTHS = (30, 60, 120, 250, 500, 1000, 2000)


def checkpoints(
    start: Any, task: Setting, seed: int, lengths: Sequence[int] = LENGTHS
) -> dict[str, Any]:
    """What `advise.length` takes, of a run of pretraining on half of the old examples."""
    inputs, targets = task.old
    order = np.random.default_rng(seed).permutation(len(inputs))
    train, spare = order[: len(order) // 2], order[len(order) // 2 :]
    return {
        "model": start,
        "checkpoints": trained_to(start, inputs[train], targets[train], lengths),
        "inputs": inputs[spare],
        "targets": targets[spare],
        "new": task.train,
    }
