"""Averages that miss are taken again, of many keys that nothing else uses.

A true average misses its error once in a thousand times, more often where tails are heavy and do
not show it; the falsifier measures thousands of points. With independent keys it hardly misses
again, and less so with many: they meet rare events, and bias what is made of averages less.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache, partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Bool

from theorysim.claims.evidence import BIASES, SURELY, Measurement, tabulate
from theorysim.claims.instance import Instance
from theorysim.claims.kinds import OnAverage, Pointwise
from theorysim.claims.reading import ResolvedReading
from theorysim.claims.run import BATCHES
from theorysim.claims.theorem import Theorem
from theorysim.engine.measure.batch import measure_all
from theorysim.engine.measure.setup import Setup
from theorysim.engine.registry.origins import remember_like
from theorysim.errors import SizeError

# An average must miss with each of several sets of keys: an event of chance 0.01 is not met by 64
# keys in one case of two, by 8 sets of 1024 never. Where a formula is singular at an average, few
# sets may all lie far from it by luck.
FRESH_KEYS = 8192
FEWEST_KEYS, FEWEST_SETS = 1024, 2
# Each set has so many times as many as it was taken of: a bias that falls like a power shows.
MORE_KEYS = 4


class FreshKeys(NamedTuple):
    """How many sets of how many fresh keys averages are taken of again."""

    sets: int
    keys: int

    def __str__(self) -> str:
        return f"{self.sets} sets of {self.keys} fresh keys"


def how_many(keys: int) -> FreshKeys:
    """How many for averages that were taken of so many; each set has a multiple of them."""
    each = keys * max(MORE_KEYS, math.ceil(FEWEST_KEYS / keys))
    return FreshKeys(max(FEWEST_SETS, FRESH_KEYS // each), each)


@partial(jax.jit, static_argnames="sets")
def _folded(key: jax.typing.ArrayLike, sets: int) -> jax.Array:
    own = jax.random.wrap_key_data(jnp.asarray(key))
    fresh = jax.vmap(lambda number: jax.random.fold_in(own, 2 + number))(np.arange(sets))
    return jax.random.key_data(fresh)


def fresh_keys(key: jax.typing.ArrayLike, sets: int) -> np.ndarray:
    """Data of a key for each set of fresh keys, which are drawn from it.

    No search uses them: a key folded with 0 draws, with 1 simulates.
    """
    return np.asarray(_folded(key, sets))


def lost_with_other_keys(
    setup: Setup,
    reading: ResolvedReading,
    claim: Pointwise | OnAverage,
    x: Instance,
    key: np.ndarray,
    before: Measurement,
    allowing: Callable[[Measurement], Measurement] = lambda measured: measured,
) -> str:
    """With which keys a violation by averages does not come back, and why; "" where it does.

    `before` is what was measured of the one instance; `allowing` makes what is measured again err
    by more.
    """
    return taken_again(setup, reading, claim, x, key, before, allowing)[0]


def taken_again(
    setup: Setup,
    reading: ResolvedReading,
    claim: Pointwise | OnAverage,
    x: Instance,
    key: np.ndarray,
    before: Measurement,
    allowing: Callable[[Measurement], Measurement] = lambda measured: measured,
) -> tuple[str, Measurement | None]:
    """The same, and what was measured of each set of keys; None where they do not fit."""
    fresh = how_many(setup.theorem.keys)
    several = replace(setup, theorem=with_keys(setup.theorem, fresh.keys))
    several = several.of(reading.only([claim.name]))
    try:
        found = allowing(measured_again(several, x, key, fresh.sets)[claim.name])
    except SizeError:
        return f"{fresh}, which do not fit into memory", None
    if not violated_by_each(claim, found):
        return f"{fresh}: averages by chance, or biased by few keys", found
    if isinstance(claim, Pointwise) and not _exceeds_the_change(claim, before, found):
        return f"{fresh}: so many still bias what is made of averages", found
    return "", found


def measured_again(setup: Setup, x: Instance, key: np.ndarray, sets: int) -> dict[str, Measurement]:
    """The claims of one reading at one instance, a row for each set of fresh keys.

    Raises:
        SizeError: where so many runs do not fit into memory.
    """
    (reading,) = setup.readings
    rows = jax.tree.map(lambda leaf: np.repeat(np.asarray(leaf)[None], sets, axis=0), x)
    return measure_all(setup, rows, fresh_keys(key, sets))[reading.name]


@lru_cache(maxsize=64)
def with_keys(theorem: Theorem, keys: int) -> Theorem:
    """The same object for the same number: compiled programs are remembered by their theorems."""
    several = theorem.with_keys(keys)
    remember_like(several, theorem)
    return several


def violated_by_each(claim: Pointwise | OnAverage, found: Measurement) -> bool:
    """Whether every set of keys violates a claim, at one same point unless each has its own.

    On a path of thousands of points some miss by chance, but hardly one of them in every set.
    """
    if not isinstance(claim, Pointwise):
        return bool(claim.violated_rows(found).all())
    violated = _surely_violated(claim, found)
    if np.any(found.by_key):
        return bool(violated.any(axis=1).all())
    return bool(violated.all(axis=0).any())


def _surely_violated(claim: Pointwise, found: Measurement) -> Bool[np.ndarray, "rows columns"]:
    """Where a claim is violated by what leaves nothing to chance: that many standard errors.

    That is of the largest among the sets. An event that no key met may have been missed: where
    there is none above rounding, it is the largest along the path.
    """
    points = tabulate(found)
    sampling, bias = (np.reshape(p, points.error.shape) for p in (found.sampling, found.bias))
    largest = np.max(sampling, axis=0)
    seen = largest > BATCHES * np.max(points.parts["rounding"], axis=0)
    standard = np.where(seen, largest, np.max(largest, initial=0.0))
    surely = SURELY * standard + BIASES * bias
    error = points.error + np.maximum(surely - points.parts["sampling"], 0)
    return claim.states(replace(points, error=error))[1]


def _exceeds_the_change(claim: Pointwise, before: Measurement, found: Measurement) -> bool:
    """Whether a claim is violated if what changes by more than its error counts as bias.

    A formula that is not linear in its averages is biased, and the jackknife does not see all of
    it: the smallest eigenvalue of a covariance in 60 dimensions is near 0 for 64 keys, whichever of
    them are left out. Nothing is said where there is no bias, or where keys have points of their
    own.
    """
    known, now = tabulate(before), tabulate(found)
    if not _is_biased(before) or known.lhs.shape[1] != now.lhs.shape[1]:
        return True
    change = np.abs(claim.slack(now.lhs, now.rhs) - claim.slack(known.lhs, known.rhs))
    drift = np.maximum(change - known.error, 0).reshape(np.shape(found.bias))
    return violated_by_each(claim, replace(found, bias=found.bias + drift))


def _is_biased(measurement: Measurement) -> bool:
    """Whether the slack is not linear in its averages: leaving some out moves its mean."""
    rounding = tabulate(measurement).parts["rounding"]
    return bool(np.any(np.reshape(measurement.bias, rounding.shape) > BATCHES * rounding))
