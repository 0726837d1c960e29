"""Verifying a theorem: draw instances, measure its claims on them, judge."""

from __future__ import annotations

import json
import platform
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from theorysim.claims.claim import Kind
from theorysim.claims.space import Instance
from theorysim.claims.theorem import ResolvedReading, Theorem
from theorysim.engine import registry
from theorysim.engine.draw import Drawn, Settings, SizeItems, draw, parse_settings
from theorysim.engine.judge import judge
from theorysim.engine.judge_points import Judgement
from theorysim.engine.measure import (
    LANE_KEYS,
    ROUNDING_LANES,
    Measurement,
    Measurements,
    compiled,
    measure,
    replace_coarsening,
)
from theorysim.engine.memory import chunk_length, tree_bytes
from theorysim.engine.results import ClaimReport, HypothesisReport, ReadingReport, Report
from theorysim.errors import InstanceError, UsageError

Progress = Callable[[int, int], None]

# Instances are doubled at most this often while too few of them can tell true from false.
DOUBLINGS = 2


@dataclass(frozen=True)
class _Sample:
    """The instances that are measured, and which of them each reading speaks of."""

    instances: Instance
    keys: np.ndarray
    rows: Mapping[str, np.ndarray]
    drawn: Drawn | None

    def of(self, readings: Iterable[ResolvedReading]) -> _Sample:
        """The instances that some of the readings speak of."""
        own = {r.name: self.rows[r.name] for r in readings}
        union = np.unique(np.concatenate(list(own.values())))
        instances = jax.tree.map(lambda leaf: leaf[union], self.instances)
        rows = {name: np.searchsorted(union, rows) for name, rows in own.items()}
        return _Sample(instances, self.keys[union], rows, self.drawn)


def verify(
    theorem: Theorem | str,
    *,
    instances: int | None = None,
    seed: int = 0,
    settings: Mapping[str, Any] | None = None,
    reading: str | None = None,
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
        instance: one instance to check instead, as JSON data or a file with it.
        progress: called with (measured, total) instances.

    Raises:
        UsageError: for an unknown id, name or value, with the remedy.
    """
    if isinstance(theorem, str):
        theorem = registry.load(registry.find(theorem))
    with jax.enable_x64(True):
        readings = readings_named(theorem, reading)
        if instance is not None:
            if settings:
                raise UsageError("an instance fixes every value: leave out the other settings")
            return _verify_instance(theorem, readings, instance, seed)
        fixed = parse_settings(theorem, settings or {})
        wanted = theorem.instances if instances is None else instances
        if wanted < 1:
            raise UsageError(f"{wanted} instances: expected at least 1")
        last = wanted << DOUBLINGS
        while True:
            sample = _sample(theorem, readings, fixed, seed, wanted)
            judged = _judged(theorem, readings, fixed, sample, seed, wanted, progress)
            unresolved = any(j.unresolved for claims in judged.values() for j in claims.values())
            if not unresolved or wanted >= last:
                break
            wanted *= 2
        return _report(theorem, readings, fixed, sample, judged, seed)


def readings_named(theorem: Theorem, name: str | None) -> tuple[ResolvedReading, ...]:
    """All readings, or the one of that name (`wrong` included).

    Raises:
        UsageError: listing the names there are.
    """
    readings = theorem.all_readings()
    if name is None:
        return readings
    candidates = {r.name: r for r in (*readings, theorem.resolve(theorem.wrong))}
    if name not in candidates:
        raise UsageError(f"{theorem.id} has no reading {name!r}; it has {list(candidates)}")
    return (candidates[name],)


def _sample(
    theorem: Theorem,
    readings: tuple[ResolvedReading, ...],
    settings: Settings,
    seed: int,
    wanted: int,
) -> _Sample:
    """The first `wanted` satisfying candidates of each reading, measured once where shared."""
    _check_memory(theorem, readings, settings, wanted)
    drawn = draw(theorem, readings, settings, seed, wanted)
    picked = {r.name: np.flatnonzero(drawn.satisfied(r))[:wanted] for r in readings}
    return _Sample(drawn.instances, drawn.keys, picked, drawn).of(readings)


def _by_simulation(readings: Iterable[ResolvedReading]) -> list[tuple[ResolvedReading, ...]]:
    """Readings that share a simulation, together: it runs once, and on their instances only."""
    groups: dict[Any, list[ResolvedReading]] = {}
    for reading in readings:
        groups.setdefault(reading.simulate, []).append(reading)
    return [tuple(group) for group in groups.values()]


def _with_wrong(theorem: Theorem, readings: tuple[ResolvedReading, ...]) -> tuple:
    """The readings and, last, the wrong one where it shows the resolution of their equalities."""
    wrong = theorem.resolve(theorem.wrong)
    equalities = {c.name for r in readings for c in r.claims if c.kind is Kind.EQUAL}
    useful = equalities & {claim.name for claim in wrong.claims}
    known = wrong.name in {reading.name for reading in readings}
    return (*readings, wrong) if useful and not known else readings


@lru_cache(maxsize=256)
def _measuring_program(theorem: Theorem, names: tuple[str, ...], sizes: SizeItems):
    """Compiled once per theorem, readings and sizes (`sizes` are static inside the instance)."""
    del sizes
    every = (*theorem.all_readings(), theorem.resolve(theorem.wrong))
    readings = tuple(r for r in every if r.name in names)

    def program(x: Instance, key_data: Array) -> Measurements:
        key = jax.random.wrap_key_data(key_data)
        return measure(readings, theorem.keys, theorem.integrates, x, key)

    return jax.jit(jax.vmap(program))


def instance_bytes(theorem: Theorem, readings: tuple, sizes: Mapping[str, int]) -> int:
    """Bytes that one instance takes with all its keys and lanes."""
    return _instance_bytes(theorem, readings, tuple(sizes.items()))


@lru_cache(maxsize=64)
def _instance_bytes(theorem: Theorem, readings: tuple, sizes: SizeItems) -> int:
    def one(key: Array) -> tuple:
        x = replace_coarsening(theorem.space.sample(key, dict(sizes)), 1.0)
        simulations = {compiled(r.simulate) for r in readings}
        return x, [s(x, key) for s in simulations], [compiled(r.predict)(x) for r in readings]

    x, sims, theories = jax.eval_shape(one, jax.random.key(0))
    lanes = 1 + ROUNDING_LANES + theorem.integrates
    keys = theorem.keys + lanes * min(LANE_KEYS, theorem.keys)
    return lanes * tree_bytes(x) + keys * tree_bytes(sims) + (lanes + 1) * tree_bytes(theories)


def _check_memory(theorem: Theorem, readings: tuple, settings: Settings, wanted: int) -> int:
    sizes = ", ".join(f"{name} = {number}" for name, number in settings.sizes.items())
    need = instance_bytes(theorem, readings, settings.sizes)
    return chunk_length(need, wanted, f"{theorem.id} with {sizes}")


def measured(
    theorem: Theorem,
    readings: tuple[ResolvedReading, ...],
    settings: Settings,
    instances: Instance,
    keys: np.ndarray,
    chunk: int,
    progress: Progress | None = None,
) -> Measurements:
    """Measurements of all instances as NumPy arrays, computed in chunks of one fixed length."""
    readings = _with_wrong(theorem, readings)
    names = tuple(reading.name for reading in readings)
    program = _measuring_program(theorem, names, settings.size_items)
    total = keys.shape[0]
    chunk = min(chunk, total)
    parts = []
    for start in range(0, total, chunk):
        rows = np.minimum(np.arange(start, start + chunk), total - 1)
        part = program(jax.tree.map(lambda leaf, rows=rows: leaf[rows], instances), keys[rows])
        kept = min(chunk, total - start)
        parts.append(jax.tree.map(lambda leaf, kept=kept: np.asarray(leaf)[:kept], part))
        if progress is not None:
            progress(start + kept, total)
    return jax.tree.map(lambda *leaves: np.concatenate(leaves), *parts)


def _rows(measurement: Measurement, rows: np.ndarray) -> Measurement:
    return jax.tree.map(lambda leaf: leaf[rows], measurement)


def _judged(
    theorem: Theorem,
    readings: tuple[ResolvedReading, ...],
    settings: Settings,
    sample: _Sample,
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
    sample: _Sample,
    seed: int,
    wanted: int,
    progress: Progress | None = None,
) -> dict[str, dict[str, Judgement]]:
    if not len(sample.keys):
        return {r.name: {c.name: judge(c, None, None, {}) for c in r.claims} for r in readings}
    chunk = _check_memory(theorem, readings, settings, len(sample.keys))
    found = measured(theorem, readings, settings, sample.instances, sample.keys, chunk, progress)
    climbed = _climbed(theorem, readings, settings, sample, seed, wanted, chunk)
    judged: dict[str, dict[str, Judgement]] = {}
    for r in readings:
        rows = sample.rows[r.name]
        wrong = found.get(theorem.wrong.name, {}) if r.name != theorem.wrong.name else {}
        judged[r.name] = {}
        for claim in r.claims:
            base = _rows(found[r.name][claim.name], rows) if len(rows) else None
            contrast = wrong.get(claim.name)
            ladders = {
                variable: [(rung, climbed[variable, rung][r.name][claim.name]) for rung in rungs]
                for variable, rungs in claim.ladders.items()
                if len(rows)
            }
            judged[r.name][claim.name] = judge(
                claim, base, None if contrast is None else _rows(contrast, rows), ladders
            )
    return judged


def _climbed(
    theorem: Theorem,
    readings: tuple[ResolvedReading, ...],
    settings: Settings,
    sample: _Sample,
    seed: int,
    wanted: int,
    chunk: int,
) -> dict[tuple[str, float], dict[str, dict[str, Measurement]]]:
    """Measurements on every rung that a claim of the readings climbs, for each reading's rows."""
    rungs = {
        (variable, rung)
        for reading in readings
        for claim in reading.claims
        for variable, values in claim.ladders.items()
        for rung in values
    }
    climbed = {}
    for variable, rung in sorted(rungs):
        if variable in theorem.space.sizes:
            at = settings.resized(**{variable: int(rung)})
            stage = _sample(theorem, readings, at, seed, wanted)
            instances, keys, rows = stage.instances, stage.keys, stage.rows
        else:
            at, keys, rows = settings, sample.keys, sample.rows
            value = theorem.space.fields[variable].check(variable, rung, settings.sizes)
            filled = np.broadcast_to(value, (len(keys), *value.shape))
            instances = sample.instances.replace(**{variable: filled})
        if not len(keys):
            raise UsageError(f"no instance satisfies the hypotheses at {variable} = {rung:g}")
        found = measured(theorem, readings, at, instances, keys, chunk)
        climbed[variable, rung] = {
            r.name: {c.name: _rows(found[r.name][c.name], rows[r.name]) for c in r.claims}
            for r in readings
        }
    return climbed


def _report(
    theorem: Theorem,
    readings: tuple[ResolvedReading, ...],
    settings: Settings,
    sample: _Sample,
    judged: Mapping[str, Mapping[str, Judgement]],
    seed: int,
) -> Report:
    return Report(
        theorem=theorem.id,
        title=theorem.title,
        seed=seed,
        instances=max(len(rows) for rows in sample.rows.values()),
        sizes=settings.sizes,
        versions=versions(),
        readings=tuple(_reading_report(theorem, r, sample, judged[r.name]) for r in readings),
    )


def _reading_report(
    theorem: Theorem, reading: ResolvedReading, sample: _Sample, judged: Mapping[str, Judgement]
) -> ReadingReport:
    rows, drawn = sample.rows[reading.name], sample.drawn
    hypotheses = ()
    if drawn is not None:
        hypotheses = tuple(
            HypothesisReport(
                name,
                int((drawn.values[margin] >= 0).sum()),
                len(drawn.values[margin]),
                float(np.min(drawn.values[margin])),
            )
            for name, margin in reading.hypotheses.items()
        )
    return ReadingReport(
        name=reading.name,
        primary=reading.primary,
        note=reading.note,
        hypotheses=hypotheses,
        claims=tuple(_located(theorem, sample, rows, judgement) for judgement in judged.values()),
        demands=_demands(reading, sample),
        satisfying=len(rows) if drawn is None else int(drawn.satisfied(reading).sum()),
        drawn=len(rows) if drawn is None else len(drawn.keys),
    )


def _demands(reading: ResolvedReading, sample: _Sample) -> dict[str, tuple[float, float]]:
    """Least and median over the instances that satisfy; over all drawn ones where none does."""
    if sample.drawn is None:
        values = {
            name: np.asarray(jax.vmap(f)(sample.instances)) for name, f in reading.demands.items()
        }
    else:
        met = sample.drawn.satisfied(reading)
        chosen = met if met.any() else ~met
        values = {name: sample.drawn.values[f][chosen] for name, f in reading.demands.items()}
    return {name: (float(np.min(v)), float(np.median(v))) for name, v in values.items()}


def _located(
    theorem: Theorem, sample: _Sample, rows: np.ndarray, judgement: Judgement
) -> ClaimReport:
    """The claim's report with the instance that decided it, in a form that can be replayed."""
    if judgement.row is None:
        return judgement.report
    row = rows[judgement.row]
    x = jax.tree.map(lambda leaf: leaf[row], sample.instances)
    data = {"theorem": theorem.id, **theorem.space.to_json(x)}
    data["key"] = sample.keys[row].tolist()
    return replace(judgement.report, worst_instance=data)


def _verify_instance(
    theorem: Theorem,
    readings: tuple[ResolvedReading, ...],
    instance: Mapping[str, Any] | str | Path,
    seed: int,
) -> Report:
    """Replay one instance: pointwise claims on it alone, ladders climbed from it."""
    data = instance if isinstance(instance, Mapping) else read_instance(instance)
    unknown = set(data) - {"theorem", "sizes", "values", "key"}
    if unknown:
        raise InstanceError(f"unknown entry {min(unknown)!r} in the instance")
    if data.get("theorem", theorem.id) != theorem.id:
        raise InstanceError(f"an instance of {data['theorem']}, not of {theorem.id}")
    x = theorem.space.from_json({k: v for k, v in data.items() if k in ("sizes", "values")})
    key = _instance_key(data.get("key"), seed)
    stacked = jax.tree.map(lambda leaf: np.asarray(leaf)[None], x)
    met = {
        r.name: all(float(jnp.min(margin(x))) >= 0 for margin in r.hypotheses.values())
        for r in readings
    }
    rows = {r.name: np.arange(1 if met[r.name] else 0) for r in readings}
    sample = _Sample(stacked, key[None], rows, None)
    settings = Settings(dict(x.sizes), {})
    judged = _judged(theorem, readings, settings, sample, seed, 1)
    return _report(theorem, readings, settings, sample, judged, seed)


def read_instance(path: str | Path) -> dict[str, Any]:
    """An instance file's data.

    Raises:
        InstanceError: where the file is missing, truncated or no JSON object.
    """
    try:
        data = json.loads(Path(path).read_text())
    except OSError as error:
        raise InstanceError(f"cannot read {path}: {error.strerror}") from None
    except ValueError as error:
        raise InstanceError(f"{path} is no complete JSON file: {error}") from None
    if not isinstance(data, dict):
        raise InstanceError(f"{path} holds no JSON object with sizes and values")
    return data


def _instance_key(data: Any, seed: int) -> np.ndarray:
    if data is None:
        return np.asarray(jax.random.key_data(jax.random.fold_in(jax.random.key(seed), 0)))
    try:
        key = np.asarray(data, np.uint32)
    except (TypeError, ValueError, OverflowError):
        key = np.zeros(0, np.uint32)
    if key.shape != (2,):
        raise InstanceError(f"key: expected two integers below 2^32, but {data} arrived")
    return key


def versions() -> dict[str, str]:
    """Versions of what computes a verdict."""
    packages = ("theorysim", "jax", "jaxlib", "diffrax", "numpy", "scipy")
    found = {"python": platform.python_version()}
    for package in packages:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = "not installed"
    return found


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
