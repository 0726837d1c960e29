"""Averages that miss are averaged again, with keys that nothing else uses.

A true average misses its error once in a thousand times, more often where tails are heavy and do
not show it; the falsifier measures thousands of points. With independent keys it hardly misses
again and again.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from theorysim.claims.instance import Instance
from theorysim.claims.kinds import OnAverage, Pointwise
from theorysim.claims.reading import ResolvedReading
from theorysim.engine.measure.batch import measure_all
from theorysim.engine.measure.setup import Setup

# An average must miss with so many of them.
FRESH_KEYS = 3


@jax.jit
def fresh_keys(key: jax.typing.ArrayLike) -> jax.Array:
    """Data of keys that no search uses: a key folded with 0 draws, with 1 simulates."""
    own = jax.random.wrap_key_data(jnp.asarray(key))
    fresh = jax.vmap(lambda number: jax.random.fold_in(own, 2 + number))(np.arange(FRESH_KEYS))
    return jax.random.key_data(fresh)


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
