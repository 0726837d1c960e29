"""Averages that miss are averaged again, with keys that nothing else uses.

A true average misses its error once in a thousand times, more often where tails are heavy and do
not show it; the falsifier measures thousands of points. With independent keys it hardly misses
again and again. Where a formula of averages is biased by few keys, more keys show it.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from theorysim.claims.evidence import BIASES, SURELY, Measurement, Points, tabulate
from theorysim.claims.instance import Instance
from theorysim.claims.kinds import OnAverage, Pointwise
from theorysim.claims.reading import ResolvedReading
from theorysim.claims.run import BATCHES
from theorysim.engine.measure.batch import measure_all
from theorysim.engine.measure.setup import Setup
from theorysim.errors import SizeError

# An average must miss with so many sets of them, and with all sets together, which hold at least so
# many keys: an event of chance 0.01 is not met by three sets of 64 keys in one case of seven, by
# 4096 keys never.
FRESH_SETS = 3
FRESH_KEYS = 4096

# By so many times as many keys a bias that falls like a power of their number shows.
MORE_KEYS = 4


@partial(jax.jit, static_argnames="sets")
def _folded(key: jax.typing.ArrayLike, sets: int) -> jax.Array:
    own = jax.random.wrap_key_data(jnp.asarray(key))
    fresh = jax.vmap(lambda number: jax.random.fold_in(own, 2 + number))(np.arange(sets))
    return jax.random.key_data(fresh)


def fresh_keys(key: jax.typing.ArrayLike, keys: int) -> np.ndarray:
    """Data of the keys of fresh sets, each of which draws `keys` of its own.

    No search uses them: a key folded with 0 draws, with 1 simulates.
    """
    return np.asarray(_folded(key, max(FRESH_SETS, math.ceil(FRESH_KEYS / keys))))


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
        return f"{FRESH_SETS} sets of fresh keys, or all together: averages by chance"
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
    """Whether a claim is violated at one instance with fresh keys."""
    keys = fresh_keys(key, setup.theorem.keys)
    several = jax.tree.map(lambda leaf: np.repeat(np.asarray(leaf)[None], len(keys), axis=0), x)
    found = measure_all(setup.of(reading.only([claim.name])), several, keys)
    return violated_by_all(claim, found[reading.name][claim.name])


def violated_by_all(claim: Pointwise | OnAverage, found: Measurement) -> bool:
    """Whether fresh sets of keys violate a claim: each of the first, and all together.

    Where every key has points of its own, each of the first is enough: together they have no mean.
    """
    if not claim.violated_rows(found.rows(np.arange(FRESH_SETS))).all():
        return False
    if not isinstance(claim, Pointwise) or np.any(found.by_key):
        return True
    return bool(claim.states(_together(found))[1].any())


def _together(found: Measurement) -> Points:
    """The points of one instance by the keys of all rows: what they err by falls with their number.

    All else that they err by, and what few keys bias, does not. Rows of which something is not
    known (a condition in doubt, a quotient of nothing) are passed over, if enough are left.
    """
    each = tabulate(found)
    shape = each.lhs.shape
    known = each.applies & np.isfinite(each.error)
    count = np.maximum(known.sum(axis=0), 1)

    def mean(values: np.ndarray) -> np.ndarray:
        return np.sum(np.where(known, np.reshape(values, shape), 0), axis=0)[None] / count

    variance = mean(np.asarray(found.sampling) ** 2) / count
    with np.errstate(invalid="ignore"):
        other = np.where(known, each.error - each.parts["sampling"], 0)
    rounding = np.max(np.where(known, each.parts["rounding"], 0), axis=0)[None]
    error = np.max(other, axis=0) + BIASES * mean(found.bias) + SURELY * np.sqrt(variance)
    return Points(
        lhs=mean(each.lhs),
        rhs=mean(each.rhs),
        applies=known.sum(axis=0)[None] >= FRESH_SETS,
        error=error,
        non_rounding_error=error - rounding,
        parts={"rounding": rounding},
    )
