"""A claim that was judged, with all that another look at it needs."""

from __future__ import annotations

from dataclasses import dataclass, replace

import jax
import numpy as np

from theorysim.claims.evidence import Evidence, Judgement, Measurement
from theorysim.claims.instance import Instance
from theorysim.claims.kinds import OnAverage, Pointwise
from theorysim.claims.reading import ResolvedReading
from theorysim.engine.confirm.suspect import Case
from theorysim.engine.measure.setup import Setup


@dataclass(frozen=True)
class Judged:
    """A claim of a reading, the judgement on it, and what it was made from.

    `instances` (stacked) and `keys` (their data) go with the rows of the evidence.
    """

    setup: Setup
    reading: ResolvedReading
    claim: Pointwise | OnAverage
    judgement: Judgement
    evidence: Evidence
    instances: Instance
    keys: np.ndarray

    @property
    def case(self) -> Case:
        """The claim, without what it was judged by."""
        return Case(self.setup.theorem, self.reading, self.claim)

    @property
    def measurement(self) -> Measurement:
        """What the judgement was made from, but for ladders and contrasts."""
        return self.evidence.measurement

    @property
    def averages(self) -> bool:
        """Whether the claim takes averages over keys."""
        return np.size(self.measurement.extremes) > 0

    def but_for(self, measurement: Measurement) -> Judged:
        """Judged by another measurement."""
        evidence = replace(self.evidence, measurement=measurement)
        return replace(self, evidence=evidence, judgement=self.claim.judge(evidence))

    def at(self, row: int) -> tuple[Instance, np.ndarray, Measurement]:
        """An instance, its key, and what was measured of it."""
        x = jax.tree.map(lambda leaf: leaf[row], self.instances)
        return x, self.keys[row], self.measurement.rows(np.array([row]))
