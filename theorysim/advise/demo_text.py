"""Small pretrained networks on text: the same as `theorysim.advise.demo`, of characters.

Texts come with Python (`theorysim.data.text`). An input is eight characters as whole numbers, and
five outputs stand for the kind of the character that follows: space, vowel, frequent consonant,
other letter, anything else. Networks are pretrained on English.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from theorysim.advise import demo
from theorysim.advise.demo import CLASSES, TEST, TRAIN, AttentionBlock, Setting
from theorysim.data import text

WINDOW = 8
"""characters of an input"""
CODES = 32
"""the most frequent characters of English have a number each; all others share one more"""
NUMBERS = 8
"""that an embedded character has"""
KINDS = (" \n", "aeiou", "tnsrhldc", "mfpgwybvkxjqz")
AHEAD = 3
"""so far ahead the task "new classes" looks"""
SPAN = WINDOW + AHEAD + 1
"""windows with what is asked for, before and behind them, do not overlap"""
OLD = 1800
"""windows to pretrain on"""
SOURCE_SIZE = 300
PRETRAINING = 60
"""steps of Adam: with more, networks learn these windows by heart"""
LENGTHS = (5, 10, 20, 40, 80, 160, 640)
"""steps of pretraining: what can be learnt of so little text is learnt soon"""
TYPOS = 0.25
"""this share of the characters is drawn anew"""

NETWORKS = ("mlp", "attention")
TASKS = ("programs", "backwards", "new classes", "typos", "counts")
SOURCES = ("english", "programs", "backwards", "shuffled classes", "typos")


class CharacterNet(eqx.Module):
    """Dense layers on embedded characters, side by side."""

    embed: Array
    dense: eqx.nn.MLP

    def __init__(self, key: Array):
        keys = jax.random.split(key)
        self.embed = jax.random.normal(keys[0], (CODES + 1, NUMBERS))
        self.dense = eqx.nn.MLP(
            WINDOW * NUMBERS, CLASSES, demo.WIDTH, 4, activation=jnp.tanh, key=keys[1]
        )

    def __call__(self, x: Array) -> Array:
        return self.dense(self.embed[x].ravel())


class CharacterAttention(eqx.Module):
    """A transformer whose tokens are the characters; the head reads their mean."""

    embed: Array
    place: Array
    blocks: list[AttentionBlock]
    head: eqx.nn.Linear

    def __init__(self, key: Array):
        keys = jax.random.split(key, demo.BLOCKS + 3)
        self.embed = jax.random.normal(keys[0], (CODES + 1, demo.WIDTH // 2))
        self.place = 0.5 * jax.random.normal(keys[1], (WINDOW, demo.WIDTH // 2))
        self.blocks = [AttentionBlock(k) for k in keys[3:]]
        self.head = eqx.nn.Linear(demo.WIDTH // 2, CLASSES, key=keys[2])

    def __call__(self, x: Array) -> Array:
        x = self.embed[x] + self.place
        for block in self.blocks:
            x = block(x)
        return self.head(x.mean(0))


def network(kind: str, key: Array) -> Any:
    """An untrained network of one of `NETWORKS`."""
    return {"mlp": CharacterNet, "attention": CharacterAttention}[kind](key)


@cache
def _codes(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Of a text: the number of every character, and its kind."""
    characters = text.vocabulary(text.english(), CODES)
    places = {c: k for k, c in enumerate(characters)}
    kinds = {c: k for k, some in enumerate(KINDS) for c in some}
    whole = {"english": text.english, "programs": text.programs}[name]().lower()
    codes = np.array([places.get(c, CODES) for c in whole])
    return codes, np.array([kinds.get(c, CLASSES - 1) for c in whole])


def _starts(name: str, rng: Any) -> np.ndarray:
    """Where in a text windows may start without overlapping, shuffled."""
    codes, _ = _codes(name)
    return 1 + SPAN * rng.permutation((len(codes) - 1) // SPAN)


def _windows(name: str, starts: np.ndarray, ahead: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Windows, and the kind of the character `ahead` of their ends."""
    codes, kinds = _codes(name)
    return codes[starts[:, None] + np.arange(WINDOW)], kinds[starts + WINDOW + ahead - 1]


def _backwards(starts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Windows of English from their ends: the kind of the character before."""
    codes, kinds = _codes("english")
    return codes[starts[:, None] + np.arange(WINDOW)[::-1]], kinds[starts - 1]


def _typos(windows: np.ndarray, rng: Any) -> np.ndarray:
    wrong = rng.random(windows.shape) < TYPOS
    return np.where(wrong, rng.integers(0, CODES, windows.shape), windows)


def _counts(windows: np.ndarray) -> np.ndarray:
    """How many distinct characters, repeats of neighbours, spaces, the first and the last place of
    a space; standardised.
    """
    space = windows == 0
    found = np.stack(
        [
            [len(set(row)) for row in windows],
            (windows[:, 1:] == windows[:, :-1]).sum(1),
            space.sum(1),
            np.where(space.any(1), space.argmax(1), WINDOW),
            np.where(space.any(1), space[:, ::-1].argmax(1), WINDOW),
        ],
        axis=1,
    ).astype(float)
    return (found - found.mean(0)) / found.std(0)


def setting(task: str, seed: int, train: int = TRAIN) -> Setting:
    """One of `TASKS`, on windows that the seed draws.

    All are pretrained to tell what follows eight characters of English, and tuned for the same:
    "programs": of sources of Python; "backwards": of English from its end; "typos": of English with
    characters that are wrong; "new classes": of the next character but two. "counts": five numbers
    of the window itself.
    """
    rng = np.random.default_rng((seed, TASKS.index(task), 1))
    starts = _starts("english", rng)
    first, then = starts[:OLD], starts[OLD : OLD + train + TEST]
    inputs, targets = _windows("english", then, AHEAD if task == "new classes" else 1)
    if task == "programs":
        inputs, targets = _windows("programs", _starts("programs", rng)[: train + TEST])
    elif task == "backwards":
        inputs, targets = _backwards(then)
    elif task == "typos":
        inputs = _typos(inputs, rng)
    elif task == "counts":
        targets = _counts(inputs)
    return Setting(
        _windows("english", first),
        (inputs[:train], targets[:train]),
        (inputs[train:], targets[train:]),
    )


def pretrained(kind: str, task: Setting, seed: int) -> Any:
    """A network of a kind, pretrained for a setting."""
    return demo.trained(network(kind, jax.random.key(seed)), *task.old, steps=PRETRAINING)


def sources(task: str, seed: int) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Tasks to pretrain on, by name, whose windows are not those of the target task."""
    rng = np.random.default_rng((seed, 8))
    some, kinds = (part[:SOURCE_SIZE] for part in setting(task, seed).old)
    spare = _starts("english", np.random.default_rng((seed, TASKS.index(task), 1)))
    spare = spare[OLD + TRAIN + TEST :][:SOURCE_SIZE]
    used = {row.tobytes() for part in setting(task, seed)[1:] for row in part[0]}
    code = _starts("programs", rng)
    free = [row.tobytes() not in used for row in _windows("programs", code)[0]]
    found = (
        (some, kinds),
        _windows("programs", code[free][:SOURCE_SIZE]),
        _backwards(spare),
        (some, rng.permutation(kinds)),
        (_typos(some, rng), kinds),
    )
    return dict(zip(SOURCES, found))


def example(question: str, seed: int) -> dict[str, Any]:
    """Arguments of the function of `theorysim.advise` for a question, on text."""
    task = setting("programs", seed)
    given = {"inputs": task.train[0], "targets": task.train[1], "test": task.test}
    if question == "length":
        return demo.checkpoints(network("mlp", jax.random.key(seed)), task, seed, LENGTHS)
    if question == "transfer":
        fresh = network("mlp", jax.random.key(seed))
        return {"model": fresh, "sources": sources("programs", seed), **given}
    return {"model": pretrained("mlp", task, seed), **given}
