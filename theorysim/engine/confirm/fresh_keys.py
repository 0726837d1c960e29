"""Averages that miss are averaged again, with keys that nothing else uses.

A true average misses its error once in a thousand times, more often where tails are heavy and do
not show it; the falsifier measures thousands of points. With independent keys it hardly misses
again and again. Where a formula of averages is biased by few keys, more keys show it.
"""

from __future__ import annotations

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np

from theorysim.claims.evidence import Measurement, tabulate
from theorysim.claims.instance import Instance
from theorysim.claims.kinds import OnAverage, Pointwise
from theorysim.claims.reading import ResolvedReading
from theorysim.claims.run import BATCHES
from theorysim.engine.measure.batch import measure_all
from theorysim.engine.measure.setup import Setup
from theorysim.errors import SizeError

# An average must miss with so many of them.
FRESH_KEYS = 3

# By so many times as many keys a bias that falls like a power of their number shows.
MORE_KEYS = 4


@jax.jit
def fresh_keys(key: jax.typing.ArrayLike) -> jax.Array:
    """Data of keys that no search uses: a key folded with 0 draws, with 1 simulates."""
    own = jax.random.wrap_key_data(jnp.asarray(key))
    fresh = jax.vmap(lambda number: jax.random.fold_in(own, 2 + number))(np.arange(FRESH_KEYS))
    return jax.random.key_data(fresh)


def lost_with_other_keys(
    setup: Setup,
    reading: ResolvedReading,
    claim: Pointwise | OnAverage,
    x: Instance,
    key: np.ndarray,
    before: Measurement,
) -> str:
    """With which keys a violation by averages does not come back, and why; "" where it does.

    `before` is what was measured of the one instance.
    """
    if not misses_again(setup, reading, claim, x, key):
        return f"{FRESH_KEYS} sets of fresh keys: averages by chance"
    if not isinstance(claim, Pointwise):
        return ""
    return lost_with_more_keys(setup, reading, claim, x, key, before)


def lost_with_more_keys(
    setup: Setup,
    reading: ResolvedReading,
    claim: Pointwise,
    x: Instance,
    key: np.ndarray,
    before: Measurement,
) -> str:
    """Why a violation by few keys is none by more; "" where it is, or none is biased by few.

    A formula that is not linear in its averages is biased, and the jackknife does not see all of
    it: the smallest eigenvalue of a covariance in 60 dimensions is near 0 for 64 keys, whichever of
    them are left out. It must be violated beyond what more keys still change.
    """
    if not _is_biased(before):
        return ""
    many = f"{MORE_KEYS} times as many keys"
    theorem = replace(setup.theorem, keys=MORE_KEYS * setup.theorem.keys)
    several = replace(setup, theorem=theorem).of(reading.only([claim.name]))
    one = jax.tree.map(lambda leaf: np.asarray(leaf)[None], x)
    try:
        found = measure_all(several, one, np.asarray(key)[None])[reading.name][claim.name]
    except SizeError:
        return f"{many}, which do not fit into memory: few bias what is made of averages"
    misses = _misses_beyond_the_change(claim, before, found)
    return "" if misses else f"{many}: so many bias what is made of averages"


def _misses_beyond_the_change(claim: Pointwise, before: Measurement, found: Measurement) -> bool:
    """Whether a claim is violated if what changes by more than its error counts as bias."""
    known, now = tabulate(before), tabulate(found)
    if known.lhs.shape != now.lhs.shape:  # its points are the keys themselves
        return True
    change = np.abs(claim.slack(now.lhs, now.rhs) - claim.slack(known.lhs, known.rhs))
    drift = np.maximum(change - known.error, 0).reshape(np.shape(found.bias))
    return bool(claim.violated_rows(replace(found, bias=found.bias + drift)).all())


def _is_biased(measurement: Measurement) -> bool:
    """Whether the slack is not linear in its averages: leaving some out moves its mean."""
    rounding = tabulate(measurement).parts["rounding"]
    return bool(np.any(np.reshape(measurement.bias, rounding.shape) > BATCHES * rounding))


def misses_again(
    setup: Setup,
    reading: ResolvedReading,
    claim: Pointwise | OnAverage,
    x: Instance,
    key: np.ndarray,
) -> bool:
    """Whether a claim is violated at one instance with each of the fresh keys, by itself."""
    keys = np.asarray(fresh_keys(key))
    several = jax.tree.map(lambda leaf: np.repeat(np.asarray(leaf)[None], len(keys), axis=0), x)
    found = measure_all(setup.of(reading.only([claim.name])), several, keys)
    return bool(claim.violated_rows(found[reading.name][claim.name]).all())
