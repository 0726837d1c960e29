"""Plain draws of a space, in the order in which a verification draws them."""

from __future__ import annotations

from functools import lru_cache

import jax
import numpy as np
from jaxtyping import Array

from theorysim.compiled import jit
from theorysim.engine.falsify.points import Points
from theorysim.engine.measure.draw import candidate_key, draw
from theorysim.engine.measure.setup import Setup
from theorysim.engine.verify.verify import DOUBLINGS

# Points are drawn in chunks of one compiled length.
CHUNK = 512


@lru_cache(maxsize=64)
def _drawing_program(dimension: int):
    def one(seed: Array, index: Array) -> tuple[Array, Array]:
        key = candidate_key(seed, index)
        return jax.random.uniform(jax.random.fold_in(key, 0), (dimension,)), jax.random.key_data(
            key
        )

    return jit(jax.vmap(one, in_axes=(None, 0)))


class Draws:
    """Candidates of a seed one after the other; those that `verify` measures come first.

    `verified` counts these: the candidates that meet the hypotheses, as many as a verification
    takes after all its doublings.
    """

    def __init__(self, setup: Setup, dimension: int, *, verified: bool):
        self._seed = setup.seed
        self._dimension = dimension
        self._first = self._verified(setup) if verified else np.zeros(0, int)
        self._next = int(self._first[-1]) + 1 if len(self._first) else 0
        self.verified = len(self._first)

    @staticmethod
    def _verified(setup: Setup) -> np.ndarray:
        (reading,) = setup.readings
        wanted = setup.theorem.instances << DOUBLINGS
        if not reading.hypotheses:
            return np.arange(wanted)
        return np.flatnonzero(draw(setup, wanted).satisfied(reading))[:wanted]

    def take(self, count: int) -> Points:
        """The next candidates."""
        first, self._first = self._first[:count], self._first[count:]
        rest = np.arange(self._next, self._next + count - len(first))
        self._next += len(rest)
        indices = np.concatenate([first, rest])
        parts = []
        for start in range(0, count, CHUNK):
            rows = np.minimum(np.arange(start, start + CHUNK), count - 1)
            cube, keys = _drawing_program(self._dimension)(self._seed, indices[rows])
            kept = slice(0, count - start)
            parts.append(Points(np.asarray(cube)[kept], np.asarray(keys)[kept]))
        return Points.join(*parts)
