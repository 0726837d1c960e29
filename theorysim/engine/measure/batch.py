"""Measuring many instances: one compiled program, in chunks that fit into memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache, partial

import jax
import numpy as np
from jax.stages import Traced
from jaxtyping import Array

from theorysim.chunks import Chunked
from theorysim.claims.instance import Instance, SizeItems
from theorysim.claims.reading import ResolvedReading
from theorysim.claims.theorem import Theorem
from theorysim.engine.measure.cost import Cost, cost_of
from theorysim.engine.measure.errors import (
    PERTURBATIONS,
    PERTURBED_KEYS,
    Measurements,
    compiled,
    measure,
    replace_tolerance_scale,
)
from theorysim.engine.measure.making import made_of
from theorysim.engine.measure.setup import Setup
from theorysim.jaxprs.monte_carlo_arithmetic import perturb_rounding
from theorysim.jaxprs.waiting import side_by_side
from theorysim.kept import Program, kept_value
from theorysim.memory import chunk_length, tree_bytes
from theorysim.progress import Progress, silent


@lru_cache(maxsize=256)
def _instance_program(
    theorem: Theorem, readings: tuple[ResolvedReading, ...], sizes: SizeItems, monte_carlo: bool
):
    """Traced once per theorem, readings with their claims, and sizes (static in the instance)."""
    del sizes
    if monte_carlo:
        moved = partial(perturb_rounding, ties=not theorem.integrates)
        readings = tuple(
            replace(r, simulate=moved(r.simulate), predict=moved(r.predict)) for r in readings
        )

    def program(x: Instance, key_data: Array) -> Measurements:
        key = jax.random.wrap_key_data(key_data)
        return measure(readings, theorem.keys, theorem.integrates, theorem.space.exact, x, key)

    return jax.jit(program)


@lru_cache(maxsize=256)
def _measuring_program(
    theorem: Theorem, readings: tuple[ResolvedReading, ...], sizes: SizeItems, monte_carlo: bool
):
    one = jax.vmap(_instance_program(theorem, readings, sizes, monte_carlo))
    known_by = made_of(theorem, readings, sizes, "measure", monte_carlo)
    return Program(lambda rows: one(*rows), known_by)


def measurement_cost(setup: Setup) -> Cost:
    """What measuring one instance costs; counted on `traced_measurement`, and kept."""
    known_by = made_of(setup.theorem, setup.readings, setup.settings.size_items)
    return cost_of(known_by, "cost of measuring", lambda: traced_measurement(setup))


def traced_measurement(setup: Setup) -> Traced:
    """The program that measures one instance; the trace is the one that `measure_all` compiles."""
    sizes = setup.settings.sizes

    def one(key: Array) -> tuple[Instance, Array]:
        return setup.theorem.space.sample(key, dict(sizes)), jax.random.key_data(key)

    arguments = jax.eval_shape(one, jax.random.key(0))
    arrays = jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype), arguments)
    program = _instance_program(setup.theorem, setup.readings, setup.settings.size_items, False)
    return program.trace(*arrays)


def instance_bytes(theorem: Theorem, readings: tuple, sizes: Mapping[str, int]) -> int:
    """Bytes that one instance takes with all its keys and perturbed runs."""
    items = tuple(sizes.items())
    known_by = made_of(theorem, readings, items)
    return kept_value(
        known_by, "bytes of an instance", lambda: _instance_bytes(theorem, readings, items)
    )


@lru_cache(maxsize=64)
def _instance_bytes(theorem: Theorem, readings: tuple, sizes: SizeItems) -> int:
    def one(key: Array) -> tuple:
        x = replace_tolerance_scale(theorem.space.sample(key, dict(sizes)), 1.0)
        simulations = {compiled(r.simulate) for r in readings}
        return x, [s(x, key) for s in simulations], [compiled(r.predict)(x) for r in readings]

    x, sims, theories = jax.eval_shape(one, jax.random.key(0))
    copies = 1 + PERTURBATIONS + theorem.integrates
    keys = theorem.keys + copies * min(PERTURBED_KEYS, theorem.keys)
    return copies * tree_bytes(x) + keys * tree_bytes(sims) + (copies + 1) * tree_bytes(theories)


def shared_length(total: int) -> int:
    """The next number of four leading bits, at most an eighth above.

    How many draws meet the hypotheses differs from seed to seed, and every length compiles anew.
    """
    unit = 1 << max(0, total.bit_length() - 4)
    return -(-total // unit) * unit


def chunk_that_fits(setup: Setup, wanted: int) -> int:
    """How many of the wanted instances to measure at once; raises SizeError where none fits."""
    need = instance_bytes(setup.theorem, setup.readings, setup.settings.sizes)
    return chunk_length(need, wanted, str(setup))


def measure_all(
    setup: Setup,
    instances: Instance,
    keys: np.ndarray,
    *,
    progress: Progress = silent,
    monte_carlo: bool = False,
) -> Measurements:
    """Measurements of all instances as NumPy arrays, computed in chunks of one fixed length.

    With `monte_carlo`, simulation and prediction run in Monte Carlo arithmetic: the rounding error
    is larger, and misses less.
    """
    program = _measuring_program(
        setup.theorem, setup.readings, setup.settings.size_items, monte_carlo
    )
    total = keys.shape[0]
    at_once = side_by_side(measurement_cost(setup).waits, shared_length(total))
    chunk = chunk_that_fits(setup, at_once)
    parts, done = [], 0
    progress(done, total, "compiling and measuring")
    for part in Chunked(program, chunk, str(setup)).parts((instances, keys)):
        parts.append(part)
        done += len(jax.tree.leaves(part)[0])
        progress(done, total, "measuring")
    return jax.tree.map(lambda *leaves: np.concatenate(leaves), *parts)
