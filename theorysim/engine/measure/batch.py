"""Measuring many instances: one compiled program, in chunks that fit into memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache

import jax
import numpy as np
from jaxtyping import Array

from theorysim.claims.claim import Kind
from theorysim.claims.instance import Instance
from theorysim.claims.theorem import ResolvedReading, Theorem
from theorysim.engine.measure.draw import Settings, SizeItems
from theorysim.engine.measure.errors import (
    LANE_KEYS,
    ROUNDING_LANES,
    Measurements,
    compiled,
    measure,
    replace_tolerance_scale,
)
from theorysim.jaxprs.monte_carlo_arithmetic import noisy
from theorysim.memory import chunk_length, tree_bytes

Progress = Callable[[int, int], None]


def _with_wrong(theorem: Theorem, readings: tuple[ResolvedReading, ...]) -> tuple:
    """The readings and, last, the wrong one where it shows the resolution of their equalities."""
    wrong = theorem.resolve(theorem.wrong)
    equalities = {c.name for r in readings for c in r.claims if c.kind is Kind.EQUAL}
    useful = equalities & {claim.name for claim in wrong.claims}
    known = wrong.name in {reading.name for reading in readings}
    return (*readings, wrong) if useful and not known else readings


@lru_cache(maxsize=256)
def _measuring_program(
    theorem: Theorem, chosen: tuple[tuple[str, tuple[str, ...]], ...], sizes: SizeItems, noise: bool
):
    """Compiled once per theorem, claims of readings and sizes (static inside the instance)."""
    del sizes
    every = {r.name: r for r in (*theorem.all_readings(), theorem.resolve(theorem.wrong))}
    readings = tuple(every[name].only(claims) for name, claims in chosen)
    if noise:
        readings = tuple(
            replace(r, simulate=noisy(r.simulate), predict=noisy(r.predict)) for r in readings
        )

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
        x = replace_tolerance_scale(theorem.space.sample(key, dict(sizes)), 1.0)
        simulations = {compiled(r.simulate) for r in readings}
        return x, [s(x, key) for s in simulations], [compiled(r.predict)(x) for r in readings]

    x, sims, theories = jax.eval_shape(one, jax.random.key(0))
    lanes = 1 + ROUNDING_LANES + theorem.integrates
    keys = theorem.keys + lanes * min(LANE_KEYS, theorem.keys)
    return lanes * tree_bytes(x) + keys * tree_bytes(sims) + (lanes + 1) * tree_bytes(theories)


def chunk_that_fits(theorem: Theorem, readings: tuple, settings: Settings, wanted: int) -> int:
    """How many of the wanted instances to measure at once; raises SizeError where none fits."""
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
    contrast: bool = True,
    noise: bool = False,
) -> Measurements:
    """Measurements of all instances as NumPy arrays, computed in chunks of one fixed length.

    With `contrast`, equalities are measured under the wrong reading, too: judging whether they can
    tell true from false asks for that, finding violations does not. With `noise`, simulation and
    prediction run in noisy arithmetic: the rounding error is larger, and misses less.
    """
    readings = _with_wrong(theorem, readings) if contrast else readings
    chosen = tuple((r.name, tuple(claim.name for claim in r.claims)) for r in readings)
    program = _measuring_program(theorem, chosen, settings.size_items, noise)
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
