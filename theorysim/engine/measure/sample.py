"""The instances that a verification measures, and which of them each reading speaks of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import jax
import numpy as np

from theorysim.claims.instance import Instance
from theorysim.claims.reading import ResolvedReading
from theorysim.engine.measure.batch import chunk_that_fits
from theorysim.engine.measure.draw import Drawn, draw
from theorysim.engine.measure.setup import Setup


@dataclass(frozen=True)
class Sample:
    """The instances that are measured, and which of them each reading speaks of."""

    instances: Instance
    keys: np.ndarray
    rows: Mapping[str, np.ndarray]
    drawn: Drawn | None

    def of(self, readings: Iterable[ResolvedReading]) -> Sample:
        """The instances that some of the readings speak of."""
        own = {r.name: self.rows[r.name] for r in readings}
        union = np.unique(np.concatenate(list(own.values())))
        instances = jax.tree.map(lambda leaf: leaf[union], self.instances)
        rows = {name: np.searchsorted(union, rows) for name, rows in own.items()}
        return Sample(instances, self.keys[union], rows, self.drawn)


def draw_sample(setup: Setup, wanted: int) -> Sample:
    """The first `wanted` satisfying candidates of each reading, measured once where shared."""
    chunk_that_fits(setup, wanted)  # before anything is drawn
    drawn = draw(setup, wanted)
    picked = {r.name: np.flatnonzero(drawn.satisfied(r))[:wanted] for r in setup.readings}
    return Sample(drawn.instances, drawn.keys, picked, drawn).of(setup.readings)
