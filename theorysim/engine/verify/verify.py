"""Verifying a theorem: draw instances, measure its claims on them, judge."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import numpy as np

from theorysim.claims.experiment import Experiment
from theorysim.claims.instance import size_items
from theorysim.claims.reading import ResolvedReading
from theorysim.claims.theorem import Theorem
from theorysim.claims.verdict import Verdict
from theorysim.counts import checked_count, checked_seed
from theorysim.engine import registry
from theorysim.engine.measure.draw import feasible
from theorysim.engine.measure.effort import affordable_draws
from theorysim.engine.measure.instance_files import read_instance
from theorysim.engine.measure.sample import Sample, draw_sample
from theorysim.engine.measure.setup import Settings, Setup, parse_settings, select_readings
from theorysim.engine.verify.judge import Judgements, judge_readings, measured_draws
from theorysim.engine.verify.known import known_counterexamples, refuted_by
from theorysim.engine.verify.mutation import warnings_about
from theorysim.engine.verify.report import Report
from theorysim.engine.verify.reporting import make_report
from theorysim.errors import UsageError
from theorysim.precision import in_precision
from theorysim.progress import Progress, silent

# The theorem's own number is doubled at most this often while too few are resolved.
DOUBLINGS = 2


def verify(
    theorem: Theorem | str,
    *,
    instances: int | None = None,
    seed: int = 0,
    settings: Mapping[str, Any] | None = None,
    reading: str | None = None,
    claims: str | Collection[str] | None = None,
    instance: Mapping[str, Any] | str | Path | None = None,
    progress: Progress = silent,
) -> Report:
    """Check a theorem on random instances (or on one given instance), in float64.

    An experiment is reproduced instead (see `reproduce`), and none of its runs is kept.

    Args:
        theorem: a theorem, or an id such as "overtraining/theorem-4.7" or "theorem-4.7".
        instances: how many instances satisfying the hypotheses to check, exactly. Without it at
            least the theorem's own number; for claims that one instance can violate, as many as a
            few tenths of a second of computing afford.
        seed: seed of instances and simulations; equal seeds give equal reports.
        settings: sizes and field values to fix, numbers or JSON text.
        reading: check only the reading of this name.
        claims: check only the claim, or the claims, of this name.
        instance: one instance to check instead, as JSON data or a file with it.
        progress: called with the measured instances, all of them, and what is being done.

    Raises:
        UsageError: for an unknown id, name or value, with the remedy.
    """
    if isinstance(theorem, str):
        theorem = registry.theorem(theorem)
    seed = checked_seed(seed)
    if isinstance(theorem, Experiment):
        if instances is not None or instance is not None:
            raise UsageError(f"{theorem.id} is an experiment: it has runs, and no instances")
        from theorysim.engine.reproduce.reproduce import reproduce

        asked = {"seed": seed, "settings": settings, "reading": reading, "claims": claims}
        return reproduce(theorem, **asked, progress=progress).report
    with in_precision(double=True):
        readings = select_readings(theorem, reading, claims)
        if instance is not None:
            if settings or instances is not None:
                raise UsageError("an instance fixes every value: leave out the other settings")
            return _verify_instance(theorem, readings, instance, seed)
        setup = Setup(theorem, readings, parse_settings(theorem, settings or {}), seed)
        if instances is not None:
            instances = checked_count(instances, f"{instances!r} instances")
        sample, judged = _verify_draws(setup, instances, progress)
        warnings = warnings_about(setup) if reading is None and claims is None else ()
        report = make_report(setup, sample, judged, warnings)
        return _with_known(setup, report, setup.settings if settings else None)


def _with_known(setup: Setup, report: Report, fixed: Settings | None) -> Report:
    """The report, with claims violated that a counterexample of the ledger refutes once more."""
    readings = []
    for reading, resolved in zip(report.readings, setup.readings, strict=True):
        claims = {claim.name: claim for claim in reading.claims}
        for name, instance in known_counterexamples(setup.theorem, reading, fixed):
            one = (resolved.only([name]),)
            (found,) = _verify_instance(setup.theorem, one, instance, setup.seed).readings
            if found.verdict is Verdict.VIOLATED:
                claims[name] = refuted_by(claims[name], found.claims[0])
        readings.append(replace(reading, claims=tuple(claims.values())))
    return replace(report, readings=tuple(readings))


def _verify_draws(
    setup: Setup, instances: int | None, progress: Progress
) -> tuple[Sample, Judgements]:
    """The draws and the judgements on them: on as many as asked for, else on what is affordable."""
    wanted = instances or setup.theorem.instances
    progress(0, wanted, "drawing instances")
    if instances is not None:
        sample = draw_sample(setup, instances)
        return sample, judge_readings(setup, sample, instances, progress)
    # Averages over keys are tests: the more comparisons they share a chance of error among, the
    # less each can tell.
    draws = affordable_draws(setup, measured_draws(setup)) if setup.theorem.keys == 1 else 0
    last = wanted << DOUBLINGS
    while True:
        sample = draw_sample(setup, wanted, draws)
        judged = judge_readings(setup, sample, wanted, progress)
        if wanted >= last or not _undersampled(setup, sample, judged, last):
            return sample, judged
        wanted *= 2


def _undersampled(setup: Setup, sample: Sample, judged: Judgements, last: int) -> bool:
    """Whether some claim asks for more instances than it had, and doubling gives it some."""
    return any(
        judged[reading.name][claim.name].undersampled and len(sample.rows_of(reading, claim)) < last
        for reading in setup.readings
        for claim in reading.claims
    )


def _verify_instance(
    theorem: Theorem,
    readings: tuple[ResolvedReading, ...],
    instance: Mapping[str, Any] | str | Path,
    seed: int,
) -> Report:
    """Replay one instance: pointwise claims on it alone, ladders over a field climbed from it.

    The rungs of a size have instances of their own, drawn anew.
    """
    x, key = read_instance(theorem, instance)
    if key is None:
        key = np.asarray(jax.random.key_data(jax.random.fold_in(jax.random.key(seed), 0)))
    stacked = jax.tree.map(lambda leaf: np.asarray(leaf)[None], x)
    rows = {r.name: np.flatnonzero(feasible(theorem, r, stacked)) for r in readings}
    sample = Sample(stacked, key[None], rows, 1)
    setup = Setup(theorem, readings, Settings(dict(size_items(x)), {}), seed)
    return make_report(setup, sample, judge_readings(setup, sample, 1))
