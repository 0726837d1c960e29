"""Verifying a theorem: draw instances, measure its claims on them, judge."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

import jax
import numpy as np

from theorysim.claims.instance import size_items
from theorysim.claims.theorem import ResolvedReading, Theorem
from theorysim.engine import registry
from theorysim.engine.measure.batch import Progress, chunk_that_fits, measured
from theorysim.engine.measure.draw import Settings, check_seed, feasible, parse_settings
from theorysim.engine.measure.instance_files import read_instance
from theorysim.engine.measure.ladders import Ladders, rows_of
from theorysim.engine.measure.sample import Sample, drawn_sample
from theorysim.engine.verify.points import Judgement
from theorysim.engine.verify.pointwise import judge
from theorysim.engine.verify.report import Report
from theorysim.engine.verify.reporting import reported
from theorysim.errors import UsageError

# Instances are doubled at most this often while too few of them can tell true from false.
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
    progress: Progress | None = None,
) -> Report:
    """Check a theorem on random instances (or on one given instance), in float64.

    Args:
        theorem: a theorem, or an id such as "overtraining/theorem-4.7" or "theorem-4.7".
        instances: how many instances satisfying the hypotheses to check.
        seed: seed of instances and simulations; equal seeds give equal reports.
        settings: sizes and field values to fix, numbers or JSON text.
        reading: check only the reading of this name.
        claims: check only the claim, or the claims, of this name.
        instance: one instance to check instead, as JSON data or a file with it.
        progress: called with (measured, total) instances.

    Raises:
        UsageError: for an unknown id, name or value, with the remedy.
    """
    if isinstance(theorem, str):
        theorem = registry.load(registry.find(theorem))
    check_seed(seed)
    with jax.enable_x64(True):
        readings = readings_named(theorem, reading, claims)
        if instance is not None:
            if settings or instances is not None:
                raise UsageError("an instance fixes every value: leave out the other settings")
            return _verify_instance(theorem, readings, instance, seed)
        fixed = parse_settings(theorem, settings or {})
        wanted = theorem.instances if instances is None else instances
        if wanted < 1:
            raise UsageError(f"{wanted} instances: expected at least 1")
        last = wanted << DOUBLINGS
        while True:
            sample = drawn_sample(theorem, readings, fixed, seed, wanted)
            judged = _judged(theorem, readings, fixed, sample, seed, wanted, progress)
            unresolved = any(j.unresolved for claims in judged.values() for j in claims.values())
            if not unresolved or wanted >= last:
                break
            wanted *= 2
        return reported(theorem, readings, fixed, sample, judged, seed)


def readings_named(
    theorem: Theorem, name: str | None, claims: str | Collection[str] | None = None
) -> tuple[ResolvedReading, ...]:
    """All readings, or the one of that name (`wrong` included); of their claims all, or the named.

    Raises:
        UsageError: listing the names there are.
    """
    readings = theorem.all_readings()
    if name is not None:
        candidates = {r.name: r for r in (*readings, theorem.resolve(theorem.wrong))}
        if name not in candidates:
            raise UsageError(f"{theorem.id} has no reading {name!r}; it has {list(candidates)}")
        readings = (candidates[name],)
    if claims is None:
        return readings
    claims = [claims] if isinstance(claims, str) else claims
    known = sorted({claim.name for reading in readings for claim in reading.claims})
    if not claims:
        raise UsageError(f"no claim is named: {theorem.id} has {known}")
    for claim in claims:
        if claim not in known:
            raise UsageError(f"{theorem.id} has no claim {claim!r}; it has {known}")
    return tuple(reading for reading in (r.only(claims) for r in readings) if reading.claims)


def _by_simulation(readings: Iterable[ResolvedReading]) -> list[tuple[ResolvedReading, ...]]:
    """Readings that share a simulation, together: it runs once, and on their instances only."""
    groups: dict[Any, list[ResolvedReading]] = {}
    for reading in readings:
        groups.setdefault(reading.simulate, []).append(reading)
    return [tuple(group) for group in groups.values()]


def _judged(
    theorem: Theorem,
    readings: tuple[ResolvedReading, ...],
    settings: Settings,
    sample: Sample,
    seed: int,
    wanted: int,
    progress: Progress | None = None,
) -> dict[str, dict[str, Judgement]]:
    """The judgement on every claim of every reading."""
    judged: dict[str, dict[str, Judgement]] = {}
    for group in _by_simulation(readings):
        part = sample.of(group)
        judged |= _judged_together(theorem, group, settings, part, seed, wanted, progress)
    return {reading.name: judged[reading.name] for reading in readings}


def _judged_together(
    theorem: Theorem,
    readings: tuple[ResolvedReading, ...],
    settings: Settings,
    sample: Sample,
    seed: int,
    wanted: int,
    progress: Progress | None = None,
) -> dict[str, dict[str, Judgement]]:
    if not len(sample.keys):
        return {r.name: {c.name: judge(c, None, None, {}) for c in r.claims} for r in readings}
    chunk = chunk_that_fits(theorem, readings, settings, len(sample.keys))
    found = measured(theorem, readings, settings, sample.instances, sample.keys, chunk, progress)
    found_at = Ladders(theorem, readings, settings, sample, seed, wanted).climbed()
    judged: dict[str, dict[str, Judgement]] = {}
    for r in readings:
        rows = sample.rows[r.name]
        wrong = found.get(theorem.wrong.name, {}) if r.name != theorem.wrong.name else {}
        judged[r.name] = {}
        for claim in r.claims:
            base = rows_of(found[r.name][claim.name], rows) if len(rows) else None
            contrast = wrong.get(claim.name)
            ladders = {
                variable: [(rung, found_at[variable, rung][r.name][claim.name]) for rung in rungs]
                for variable, rungs in claim.ladders.items()
                if len(rows)
            }
            judged[r.name][claim.name] = judge(
                claim, base, None if contrast is None else rows_of(contrast, rows), ladders
            )
    return judged


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
    rows = {r.name: np.flatnonzero(feasible(r, stacked)) for r in readings}
    sample = Sample(stacked, key[None], rows, None)
    settings = Settings(dict(size_items(x)), {})
    judged = _judged(theorem, readings, settings, sample, seed, 1)
    return reported(theorem, readings, settings, sample, judged, seed)


def rejects_wrong(
    theorem: Theorem, seed: int = 0, settings: Mapping[str, Any] | None = None
) -> Report:
    """Verify the wrong reading on `teeth` instances; its verdict must be "violated"."""
    return verify(
        theorem,
        reading=theorem.wrong.name,
        instances=theorem.teeth,
        seed=seed,
        settings=settings,
    )
