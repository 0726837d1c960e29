"""The instances that a verification measures, and which of them each reading speaks of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import jax
import numpy as np

from theorysim.claims.instance import Instance
from theorysim.claims.theorem import ResolvedReading, Theorem
from theorysim.engine.measure.batch import chunk_that_fits
from theorysim.engine.measure.draw import Drawn, Settings, draw


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


def drawn_sample(
    theorem: Theorem,
    readings: tuple[ResolvedReading, ...],
    settings: Settings,
    seed: int,
    wanted: int,
) -> Sample:
    """The first `wanted` satisfying candidates of each reading, measured once where shared."""
    chunk_that_fits(theorem, readings, settings, wanted)  # before anything is drawn
    drawn = draw(theorem, readings, settings, seed, wanted)
    picked = {r.name: np.flatnonzero(drawn.satisfied(r))[:wanted] for r in readings}
    return Sample(drawn.instances, drawn.keys, picked, drawn).of(readings)
