"""A function of many keys, computed for so many at a time as a processor's cache holds."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jaxtyping import PRNGKeyArray

from theorysim.jaxprs.largest import largest_array
from theorysim.jaxprs.parting import parted

# Bytes that the largest array of a step may take, of all that runs side by side: the next step of
# a loop reads again what it wrote. A step touches several such arrays, and a core has a cache of
# 1 MiB. Descents of 512 units and 8 inputs took 43 ns per unit and step where these arrays took
# 20 MB, and 13 ns, with the same bits, where they took 1.3 MB; with two cores at work `verify
# transferability/eq-9` takes 13.1 s without this, 9.7 s with 1 MiB, 6.8 s with a half and 6.7 s
# with a quarter. Small operations beside the largest, which take a microsecond however few do
# them, speak against less.
CACHE = 1 << 19


def over_keys(function: Callable[..., Any], keys: PRNGKeyArray, beside: int = 1) -> Any:
    """What `jax.vmap(function)(keys)` is; on a CPU, of fewer keys at a time if they are too many.

    What does not depend on the key is computed once.

    Args:
        function: of a key.
        keys: several.
        beside: how often each of them runs side by side, in a vmap about this one.
    """
    program, results = jax.make_jaxpr(function, return_shape=True)(keys[0])
    count = len(keys)
    if runs_in_cache(beside * largest_array(program.jaxpr)) >= count:
        return jax.vmap(function)(keys)
    rest = parted(program, [None])
    rounds = math.ceil(count / runs_in_cache(beside * rest.largest))
    if rounds == 1:
        return jax.vmap(function)(keys)
    together = math.ceil(count / rounds)
    # The last ones are run again, as a shorter round would be another program.
    places = np.minimum(np.arange(rounds * together), count - 1).reshape(rounds, together)
    found = jax.lax.map(jax.vmap(rest.finish), keys[places])
    found = [leaf.reshape(places.size, *leaf.shape[2:])[:count] for leaf in found]
    return jax.tree.unflatten(jax.tree.structure(results), found)


def runs_in_cache(largest: int) -> float:
    """How many runs of which `largest_array` is so many bytes a cache holds, at least one.

    An accelerator takes as long for one as for all.
    """
    return max(1, CACHE // max(largest, 1)) if jax.default_backend() == "cpu" else math.inf
