"""The instances that a verification measures, and which of them each reading speaks of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import jax
import numpy as np

from theorysim.claims.instance import Instance
from theorysim.claims.kinds import Attack, Claim
from theorysim.claims.reading import ResolvedReading
from theorysim.engine.measure.batch import chunk_that_fits
from theorysim.engine.measure.draw import Drawn, draw, drawing_cost
from theorysim.engine.measure.setup import Setup
from theorysim.memory import check_host


@dataclass(frozen=True)
class Sample:
    """The instances that are measured, and which of them each reading speaks of.

    The first `wanted` of a reading are for all its claims, the others for those that one instance
    can violate: they cost little there, and find what is violated rarely.
    """

    instances: Instance
    keys: np.ndarray
    rows: Mapping[str, np.ndarray]
    wanted: int
    drawn: Drawn | None = None

    def rows_of(self, reading: ResolvedReading, claim: Claim) -> np.ndarray:
        """The instances of a reading that a claim is judged on."""
        rows = self.rows[reading.name]
        return rows if claim.attack is Attack.SEARCH else rows[: self.wanted]

    def of(self, readings: Iterable[ResolvedReading]) -> Sample:
        """The instances that some of the readings speak of."""
        return self._keep({r.name: self.rows[r.name] for r in readings})

    def first(self) -> Sample:
        """The `wanted` first instances of each reading."""
        return self._keep({name: rows[: self.wanted] for name, rows in self.rows.items()})

    def _keep(self, kept: Mapping[str, np.ndarray]) -> Sample:
        chosen = np.zeros(len(self.keys), bool)
        for rows in kept.values():
            chosen[rows] = True
        place = np.cumsum(chosen) - 1
        instances = jax.tree.map(lambda leaf: leaf[chosen], self.instances)
        rows = {name: place[rows] for name, rows in kept.items()}
        return replace(self, instances=instances, keys=self.keys[chosen], rows=rows)


def draw_sample(setup: Setup, wanted: int, draws: int = 0, hoped: int | None = None) -> Sample:
    """The first `wanted` satisfying candidates of each reading, measured once where shared.

    At least `draws` candidates are drawn; of those that satisfy, the first `draws` are kept. There
    may be as many as are wanted among the first `hoped`, which are drawn alone then.
    """
    kept = max(wanted, draws)
    chunk_that_fits(setup, kept)  # before anything is drawn
    held = kept * drawing_cost(setup).held
    check_host(held, f"{setup}: {kept} instances", "ask for fewer")
    drawn = draw(setup, wanted, draws, hoped)
    picked = {r.name: np.flatnonzero(drawn.satisfied(r))[:kept] for r in setup.readings}
    return Sample(drawn.instances, drawn.keys, picked, wanted, drawn).of(setup.readings)
