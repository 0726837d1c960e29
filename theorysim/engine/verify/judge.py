"""Measuring the claims of readings on a sample, and having each judged."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import jax

from theorysim.claims.evidence import Evidence, Judgement, Ladder
from theorysim.claims.kinds import Attack, Claim, OnAverage, Pointwise
from theorysim.claims.reading import ResolvedReading
from theorysim.claims.verdict import Verdict
from theorysim.engine.confirm.judged import Judged
from theorysim.engine.measure.batch import measure_all
from theorysim.engine.measure.ladders import Ladders
from theorysim.engine.measure.sample import Sample
from theorysim.engine.measure.setup import Setup
from theorysim.engine.verify.another_look import looked_at_again, with_fresh_keys
from theorysim.engine.verify.other_roundings import stand_by_roundings
from theorysim.engine.verify.second_look import look_again
from theorysim.progress import Progress, silent

# By name of reading and name of claim.
Judgements = dict[str, dict[str, Judgement]]

NO_INSTANCE = Judgement(Verdict.VACUOUS, "no instance satisfies the hypotheses")


def judge_readings(
    setup: Setup, sample: Sample, wanted: int, progress: Progress = silent
) -> Judgements:
    """The judgement on every claim of every reading; readings that share a simulation share it."""
    judged: Judgements = {}
    for group in _by_simulation(setup.readings):
        own = sample.of(group) if _one_draw_decides(group) else sample.of(group).first()
        judged |= _judge_together(setup.of(*group), own, wanted, progress)
    return {reading.name: judged[reading.name] for reading in setup.readings}


def measured_draws(setup: Setup) -> list[Setup]:
    """What every draw is measured for, together: readings that one draw can violate, mutants."""
    groups = [group for group in _by_simulation(setup.readings) if _one_draw_decides(group)]
    return [setup.of(*group, *(c for r in group for c in _contrasts(setup, r))) for group in groups]


def _one_draw_decides(readings: Iterable[ResolvedReading]) -> bool:
    return any(claim.attack is Attack.SEARCH for r in readings for claim in r.claims)


def _by_simulation(readings: Iterable[ResolvedReading]) -> list[tuple[ResolvedReading, ...]]:
    """Readings that share a simulation, together: it runs once, and on their instances only."""
    groups: dict[Any, list[ResolvedReading]] = {}
    for reading in readings:
        groups.setdefault(reading.simulate, []).append(reading)
    return [tuple(group) for group in groups.values()]


def _judge_together(setup: Setup, sample: Sample, wanted: int, progress: Progress) -> Judgements:
    readings = setup.readings
    if not len(sample.keys):
        return {r.name: {claim.name: NO_INSTANCE for claim in r.claims} for r in readings}
    contrasts = {r.name: _contrasts(setup, r) for r in readings}
    measured = setup.of(*readings, *(c for several in contrasts.values() for c in several))
    found = measure_all(measured, sample.instances, sample.keys, progress=progress)
    found = look_again(setup, sample, found)
    measurements = len(sample.keys)
    progress(measurements, measurements, "climbing ladders")
    climbed = Ladders(setup, sample.first(), wanted).climb()

    def ladder(reading: ResolvedReading, claim: Claim, variable: str) -> Ladder:
        at = {rung: climbed[variable, rung][reading.name] for rung in claim.over[variable]}
        return [(rung, found_there[claim.name]) for rung, found_there in at.items()]

    def judge(reading: ResolvedReading, claim: Claim) -> Judgement:
        rows = sample.rows_of(reading, claim)
        if not len(rows):
            return NO_INSTANCE
        variants = [found[c.name] for c in contrasts[reading.name]]
        evidence = Evidence(
            found[reading.name][claim.name].rows(rows),
            {variable: ladder(reading, claim, variable) for variable in claim.over},
            tuple(variant[claim.name].rows(rows) for variant in variants if claim.name in variant),
        )
        judgement = claim.judge(evidence)
        progress(measurements, measurements, f"looking again at {claim.name}")
        x, keys = jax.tree.map(lambda leaf: leaf[rows], (sample.instances, sample.keys))
        if isinstance(claim, Pointwise):
            judged = Judged(measured, reading, claim, judgement, evidence, x, keys)
            return looked_at_again(judged)
        judgement = stand_by_roundings(setup, sample, reading, claim, judgement, evidence)
        if isinstance(claim, OnAverage) and judgement.verdict is Verdict.VIOLATED:
            return with_fresh_keys(Judged(setup, reading, claim, judgement, evidence, x, keys))
        return judgement

    return {r.name: {claim.name: judge(r, claim) for claim in r.claims} for r in readings}


def _contrasts(setup: Setup, reading: ResolvedReading) -> list[ResolvedReading]:
    """The mutants that some claims of a reading must exclude, with those claims only.

    Only those that share its simulation: they cost no further run.
    """
    if not any(claim.has_contrasts for claim in reading.claims):
        return []
    kinds = {claim.name: type(claim) for claim in reading.claims if claim.has_contrasts}
    found = []
    for mutant, variant in setup.theorem.mutants_of(reading).items():
        names = {
            claim.name
            for claim in variant.claims
            if type(claim) is kinds.get(claim.name) and mutant.touches(reading, claim)
        }
        if names and variant.simulate is reading.simulate:
            found.append(variant.only(names))
    return found
