"""Climbing ladders: a reading's claims measured at every rung of a size or a field."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import reduce
from typing import TypeAlias

import jax
import numpy as np

from theorysim.claims.theorem import ResolvedReading, Theorem
from theorysim.engine.draw import Settings, feasible, parse_settings
from theorysim.engine.measure import Measurement
from theorysim.engine.measure_many import chunk_that_fits, measured
from theorysim.engine.sample import Sample, drawn_sample
from theorysim.errors import UsageError

# A variable, a size or a field, and its value there.
Rung: TypeAlias = tuple[str, float]


def rows_of(measurement: Measurement, rows: np.ndarray) -> Measurement:
    """The measurement of some instances."""
    return jax.tree.map(lambda leaf: leaf[rows], measurement)


def climbed(
    theorem: Theorem,
    readings: tuple[ResolvedReading, ...],
    settings: Settings,
    sample: Sample,
    seed: int,
    wanted: int,
) -> dict[Rung, dict[str, dict[str, Measurement]]]:
    """Measurements on every rung that a claim of the readings climbs, for each reading's rows."""
    own = {r.name: _rungs_of(r) if len(sample.rows[r.name]) else set() for r in readings}
    stages = {
        rung: _stage(theorem, readings, settings, sample, seed, wanted, *rung)
        for rung in sorted(set[Rung]().union(*own.values()))
    }
    found = {}
    for rung, (at, stage) in stages.items():
        rows = {name: _rows_everywhere(name, rung, own[name], stages, theorem) for name in own}
        empty = [name for name in own if rung in own[name] and not len(rows[name])]
        if empty:
            raise UsageError(
                f"{theorem.id}, {empty[0]}: no instance satisfies the hypotheses at "
                f"{rung[0]} = {rung[1]:g}"
            )
        found[rung] = _on_a_rung(theorem, readings, at, replace(stage, rows=rows))
    return found


def _rungs_of(reading: ResolvedReading) -> set[Rung]:
    ladders = (ladder for claim in reading.claims for ladder in claim.ladders.items())
    return {(variable, rung) for variable, rungs in ladders for rung in rungs}


def _rows_everywhere(
    name: str,
    rung: Rung,
    own: set[Rung],
    stages: Mapping[Rung, tuple[Settings, Sample]],
    theorem: Theorem,
) -> np.ndarray:
    """A reading's instances on a rung; of a field, those that it has on all rungs of its ladder."""
    variable = rung[0]
    if variable in theorem.space.sizes:
        return stages[rung][1].rows[name]
    ladder = {rung, *(other for other in own if other[0] == variable)}
    return reduce(np.intersect1d, (stages[other][1].rows[name] for other in ladder))


def _on_a_rung(
    theorem: Theorem, readings: tuple[ResolvedReading, ...], at: Settings, stage: Sample
) -> dict[str, dict[str, Measurement]]:
    chunk = chunk_that_fits(theorem, readings, at, len(stage.keys))
    found = measured(theorem, readings, at, stage.instances, stage.keys, chunk)
    return {
        r.name: {c.name: rows_of(found[r.name][c.name], stage.rows[r.name]) for c in r.claims}
        for r in readings
    }


def _stage(
    theorem: Theorem,
    readings: tuple[ResolvedReading, ...],
    settings: Settings,
    sample: Sample,
    seed: int,
    wanted: int,
    variable: str,
    rung: float,
) -> tuple[Settings, Sample]:
    """The instances on one rung: drawn anew at another size, or with another value of a field."""
    if variable in theorem.space.sizes:
        size = int(rung) if int(rung) == rung else rung
        at = parse_settings(theorem, {**settings.sizes, **settings.values, variable: size})
        return at, drawn_sample(theorem, readings, at, seed, wanted)
    value = theorem.space.fields[variable].check(variable, rung, settings.sizes)
    filled = np.broadcast_to(value, (len(sample.keys), *value.shape))
    instances = sample.instances.replace(**{variable: filled})
    met = {r.name: feasible(r, instances) for r in readings}
    rows = {name: rows[met[name][rows]] for name, rows in sample.rows.items()}
    return settings, replace(sample, instances=instances, rows=rows)
