"""Measuring the claims of readings on a sample, and having each judged."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from theorysim.claims.evidence import Evidence, Judgement, Ladder
from theorysim.claims.instance import Instance
from theorysim.claims.kinds import Attack, Claim, OnAverage, Pointwise
from theorysim.claims.kinds.inequality import Inequality
from theorysim.claims.reading import ResolvedReading
from theorysim.claims.verdict import Verdict
from theorysim.engine.measure.batch import measure_all, measurement_cost
from theorysim.engine.measure.ladders import Ladders
from theorysim.engine.measure.sample import Sample
from theorysim.engine.measure.setup import Setup
from theorysim.engine.verify.other_roundings import stand_by_roundings
from theorysim.engine.verify.second_look import look_again
from theorysim.progress import Progress, silent

if TYPE_CHECKING:
    from theorysim.engine.confirm.suspect import Case

# By name of reading and name of claim.
Judgements = dict[str, dict[str, Judgement]]

# A program of so many operations is traced and evaluated once more within some tenths of a second.
SHORT_PROGRAM = 20_000

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
        if not isinstance(claim, Pointwise):
            found_so = stand_by_roundings(setup, sample, reading, claim, judgement, evidence)
            if isinstance(claim, OnAverage) and found_so.verdict is Verdict.VIOLATED:
                rows = sample.rows_of(reading, claim)
                x, keys = jax.tree.map(lambda leaf: leaf[rows], (sample.instances, sample.keys))
                return _with_fresh_keys(setup, reading, claim, found_so, evidence, x, keys)
            return found_so
        return _looked_at_again(measured, sample, reading, claim, judgement, evidence)

    return {r.name: {claim.name: judge(r, claim) for claim in r.claims} for r in readings}


def _looked_at_again(
    setup: Setup,
    sample: Sample,
    reading: ResolvedReading,
    claim: Pointwise,
    judgement: Judgement,
    evidence: Evidence,
) -> Judgement:
    """What violates is confirmed; what holds must not do so by overflow, nor by absorption.

    Enclosures are loaded only where they are needed.
    """
    holds = judgement.verdict is Verdict.HOLDS
    if holds and np.size(evidence.measurement.extremes):
        return _unless_leaning(setup, sample, reading, claim, judgement, evidence)
    looks_closer = holds and isinstance(claim, Inequality) and _is_short(setup)
    grows = holds and measurement_cost(setup).grows_integers
    if holds and not (looks_closer or grows):
        return judgement
    if not holds and judgement.verdict is not Verdict.VIOLATED:
        return judgement
    from theorysim.engine.confirm.confirm import confirmed_judgement
    from theorysim.engine.confirm.integers import without_overflow
    from theorysim.engine.confirm.suspect import Case

    rows = sample.rows_of(reading, claim)
    x, keys = jax.tree.map(lambda leaf: leaf[rows], sample.instances), sample.keys[rows]
    case = Case(setup.theorem, reading, claim)
    if grows:
        known = without_overflow(case, evidence.measurement, x, keys)
        if known is not evidence.measurement:
            evidence = replace(evidence, measurement=known)
            judgement = claim.judge(evidence)
    if holds and not (looks_closer and judgement.verdict is Verdict.HOLDS):
        return judgement
    if holds:
        return _not_hidden(case, judgement, evidence, x, keys)
    confirmed = confirmed_judgement(case, judgement, evidence.measurement, x, keys)
    if confirmed.verdict is not Verdict.VIOLATED:
        return _with_errors_of_path(claim, evidence) or confirmed
    if not np.size(evidence.measurement.extremes):
        return confirmed
    return _with_fresh_keys(setup, reading, claim, confirmed, evidence, x, keys)


def _unless_leaning(
    setup: Setup,
    sample: Sample,
    reading: ResolvedReading,
    claim: Pointwise,
    judgement: Judgement,
    evidence: Evidence,
) -> Judgement:
    """What holds by averages, unless points that lean the other way are violated by more keys."""
    from theorysim.engine.confirm.leaning import leaning_row, with_fresh_keys

    row = leaning_row(claim, evidence.measurement)
    if row is None:
        return judgement
    rows = sample.rows_of(reading, claim)
    x, keys = jax.tree.map(lambda leaf: leaf[rows], sample.instances), sample.keys[rows]
    return with_fresh_keys(setup, reading, claim, judgement, evidence, x, keys, row)


def _with_errors_of_path(claim: Pointwise, evidence: Evidence) -> Judgement | None:
    """The judgement with the largest errors along each path at all its points, if nothing violates.

    Small numbers beside large ones are taken to err by parts of their own, which what absorbs them
    belies: 1 - tanh x is 0 at once, with all that it should be.
    """
    coarse = evidence.measurement.with_errors_of_path()
    judgement = claim.judge(replace(evidence, measurement=coarse))
    return None if judgement.verdict is Verdict.VIOLATED else judgement


def _not_hidden(
    case: Case, judgement: Judgement, evidence: Evidence, x: Instance, keys: np.ndarray
) -> Judgement:
    """What holds, unless more bits contradict it at the instance that decided."""
    from theorysim.engine.confirm.hidden import contradiction

    assert judgement.row is not None
    means = contradiction(case, evidence.measurement, x, keys, judgement.row)
    if not means:
        return judgement
    note = f"holds in double precision, whose rounding hides that it is violated {means}"
    return replace(judgement, verdict=Verdict.INCONCLUSIVE, note=note)


def _is_short(setup: Setup) -> bool:
    """Whether a second evaluation of what was measured costs next to nothing."""
    return setup.theorem.keys == 1 and measurement_cost(setup).operations <= SHORT_PROGRAM


def _with_fresh_keys(
    setup: Setup,
    reading: ResolvedReading,
    claim: Pointwise | OnAverage,
    judgement: Judgement,
    evidence: Evidence,
    x: Instance,
    keys: np.ndarray,
) -> Judgement:
    """A violation by averages, if it comes back at its instance with many fresh keys."""
    from theorysim.engine.confirm.fresh_keys import how_many, lost_with_other_keys

    row = judgement.row
    assert row is not None
    decisive = jax.tree.map(lambda leaf: leaf[row], x)
    before = evidence.measurement.rows(np.array([row]))
    lost = lost_with_other_keys(setup, reading, claim, decisive, keys[row], before)
    if not lost:
        note = f"{judgement.note} and with {how_many(setup.theorem.keys)}"
        return replace(judgement, note=note)
    note = f"{judgement.note}, but not with {lost}"
    return replace(judgement, verdict=Verdict.INCONCLUSIVE, note=note, confirmation="")


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
