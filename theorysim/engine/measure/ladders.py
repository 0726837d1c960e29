"""Climbing ladders: a reading's claims measured at every rung of a size or a field."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

import jax
import numpy as np

from theorysim.claims.evidence import Measurement
from theorysim.claims.instance import Instance
from theorysim.claims.reading import ResolvedReading
from theorysim.engine.measure.batch import measure_all
from theorysim.engine.measure.draw import DRAW_CHUNK, feasible
from theorysim.engine.measure.sample import Sample, draw_sample
from theorysim.engine.measure.setup import Settings, Setup, parse_settings
from theorysim.errors import UsageError

# A variable, a size or a field, and its value there.
Rung: TypeAlias = tuple[str, float]


class EmptyRungError(UsageError):
    """A reading has no instance that meets its hypotheses on a rung that a claim climbs."""


@dataclass(frozen=True)
class Ladders:
    """The ladders that claims of some readings climb, from the instances of a sample."""

    setup: Setup
    sample: Sample
    wanted: int

    def climb(self) -> dict[Rung, dict[str, dict[str, Measurement]]]:
        """Measurements on every rung, for the instances of each reading there.

        Raises:
            EmptyRungError: where no instance of a reading that climbs meets its hypotheses on a
                rung.
        """
        own = {r.name: _rungs_of(r) for r in self.setup.readings if len(self.sample.rows[r.name])}
        rungs = sorted(set[Rung]().union(*own.values()))
        fields = self._rows_on_all_rungs(own)
        staged = {rung: self._stage(rung, fields) for rung in rungs}
        for rung, (_, stage) in staged.items():
            for name in (name for name in own if rung in own[name]):
                if not len(stage.rows[name]):
                    raise EmptyRungError(
                        f"{self.setup.theorem.id}, {name}: no instance satisfies the hypotheses at "
                        f"{rung[0]} = {rung[1]:g}"
                    )
        along = [rung for rung in rungs if rung[0] in fields]  # at the same sizes: one program
        groups = [[rung] for rung in rungs if rung[0] not in fields] + [along] * bool(along)
        measured = [self._on_rungs({rung: staged[rung] for rung in group}) for group in groups]
        return {rung: found for group in measured for rung, found in group.items()}

    def _rows_on_all_rungs(self, own: Mapping[str, set[Rung]]) -> dict[str, dict[str, np.ndarray]]:
        """Per field and reading, the instances that meet the hypotheses on its whole ladder."""
        found: dict[str, dict[str, np.ndarray]] = {}
        for reading in self.setup.readings:
            for rung in own.get(reading.name, ()):
                if rung[0] in self.setup.theorem.space.fields:
                    rows = found.setdefault(rung[0], dict(self.sample.rows))
                    met = feasible(self.setup.theorem, reading, self._with_field(rung))
                    rows[reading.name] = rows[reading.name][met[rows[reading.name]]]
        return found

    def _with_field(self, rung: Rung) -> Instance:
        variable, value = rung
        checked = self.setup.theorem.space.fields[variable].check(
            variable, value, self.setup.settings.sizes
        )
        filled = np.broadcast_to(checked, (len(self.sample.keys), *checked.shape))
        return self.sample.instances.replace(**{variable: filled})

    def _stage(
        self, rung: Rung, fields: Mapping[str, dict[str, np.ndarray]]
    ) -> tuple[Settings, Sample]:
        """The instances on one rung: drawn anew at another size, or with a field replaced."""
        variable, value = rung
        if variable in fields:
            changed = {"instances": self._with_field(rung), "rows": fields[variable]}
            return self.setup.settings, replace(self.sample, **changed)
        size = int(value) if int(value) == value else value
        fixed = {**self.setup.settings.sizes, **self.setup.settings.values, variable: size}
        at = parse_settings(self.setup.theorem, fixed)
        return at, draw_sample(self.setup.at(at), self.wanted, hoped=self._candidates())

    def _candidates(self) -> int | None:
        """Twice as many as the sample needed until every reading had what is wanted, or more.

        A power of two: every number compiles anew. None where they were too few.
        """
        if self.sample.drawn is None:
            return None
        met = [np.flatnonzero(self.sample.drawn.satisfied(r)) for r in self.setup.readings]
        if any(len(rows) < self.wanted for rows in met):
            return None
        needed = max(int(rows[self.wanted - 1]) + 1 for rows in met)
        hoped = 1 << needed.bit_length()
        return hoped if hoped < DRAW_CHUNK else None

    def _on_rungs(
        self, staged: Mapping[Rung, tuple[Settings, Sample]]
    ) -> dict[Rung, dict[str, dict[str, Measurement]]]:
        """Measurements on rungs at the same settings, made together."""
        (at, first), stages = next(iter(staged.values())), [s for _, s in staged.values()]
        keys = np.concatenate([stage.keys for stage in stages])
        instances = jax.tree.map(lambda *rows: np.concatenate(rows), *(s.instances for s in stages))
        alike = len(first.keys)  # other rungs run longer, or shorter, and need no other program
        every = measure_all(self.setup.at(at), instances, keys, alike=alike)
        begins = np.cumsum([0, *(len(stage.keys) for stage in stages)])

        def of(begin: int, stage: Sample) -> dict[str, dict[str, Measurement]]:
            rows = {name: begin + own for name, own in stage.rows.items()}
            return {
                r.name: {c.name: every[r.name][c.name].rows(rows[r.name]) for c in r.claims}
                for r in self.setup.readings
            }

        return {rung: of(int(begin), stage) for rung, stage, begin in zip(staged, stages, begins)}


def _rungs_of(reading: ResolvedReading) -> set[Rung]:
    ladders = (ladder for claim in reading.claims for ladder in claim.over.items())
    return {(variable, rung) for variable, rungs in ladders for rung in rungs}
