"""Measuring many instances: one compiled program, in chunks that fit into memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache, lru_cache, partial

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
    with_errors_at_points,
)
from theorysim.engine.measure.making import made_of
from theorysim.engine.measure.over_keys import runs_in_cache
from theorysim.engine.measure.setup import Setup
from theorysim.jaxprs.lengths import known_length
from theorysim.jaxprs.monte_carlo_arithmetic import perturb_rounding
from theorysim.jaxprs.waiting import side_by_side
from theorysim.kept import Program, kept_value, standing
from theorysim.memory import chunk_length, tree_bytes
from theorysim.progress import Progress, silent
from theorysim.threads import threads_for

# Additions in all runs together (`theorysim.jaxprs.cost`), a second or so, from which on knowing
# their lengths before is worth a program of its own.
WORTH_SORTING = 1e9
LENGTHS_AT_ONCE = 256


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
    return _measurement_cost(setup.theorem, setup.readings, setup.settings.size_items, standing())


@lru_cache(maxsize=256)
def _measurement_cost(
    theorem: Theorem, readings: tuple[ResolvedReading, ...], sizes: SizeItems, standing: str
) -> Cost:
    """Counted once: a search measures thousands of times."""
    del standing  # settings of JAX, by which programs are traced anew
    known_by = made_of(theorem, readings, sizes)
    return cost_of(known_by, "cost of measuring", lambda: _traced(theorem, readings, sizes))


def traced_measurement(setup: Setup) -> Traced:
    """The program that measures one instance; the trace is the one that `measure_all` compiles."""
    return _traced(setup.theorem, setup.readings, setup.settings.size_items)


def _traced(theorem: Theorem, readings: tuple[ResolvedReading, ...], sizes: SizeItems) -> Traced:
    def one(key: Array) -> tuple[Instance, Array]:
        return theorem.space.sample(key, dict(sizes)), jax.random.key_data(key)

    arguments = jax.eval_shape(one, jax.random.key(0))
    arrays = jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype), arguments)
    return _instance_program(theorem, readings, sizes, False).trace(*arrays)


def instance_bytes(theorem: Theorem, readings: tuple, sizes: Mapping[str, int]) -> int:
    """Bytes that one instance takes with all its keys and perturbed runs."""
    return _kept_bytes(theorem, readings, tuple(sizes.items()), standing())


@lru_cache(maxsize=256)
def _kept_bytes(theorem: Theorem, readings: tuple, sizes: SizeItems, standing: str) -> int:
    del standing  # settings of JAX, double precision among them
    return kept_value(
        made_of(theorem, readings, sizes),
        "bytes of an instance",
        lambda: _instance_bytes(theorem, readings, sizes),
    )


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
    alike: int | None = None,
) -> Measurements:
    """Measurements of all instances as NumPy arrays, computed in chunks of one fixed length.

    No more than `alike` are run at once where runs differ in length, and on a CPU: it gains little
    by more, and the program that measured so many then measures all. With `monte_carlo`,
    simulation and prediction run in Monte Carlo arithmetic: the rounding error is larger, and
    misses less.
    """
    program = _measuring_program(
        setup.theorem, setup.readings, setup.settings.size_items, monte_carlo
    )
    total, cost = keys.shape[0], measurement_cost(setup)
    few = cost.waits or jax.default_backend() == "cpu"
    most = min(alike or total, total) if few else total
    threads = threads_for(cost.calls_libraries)
    wanted = min(
        side_by_side(cost.waits, shared_length(most)), threads * runs_in_cache(cost.largest)
    )
    chunk = chunk_that_fits(setup, int(wanted))
    order = _longest_first(setup, instances, keys, chunk)
    rows = jax.tree.map(lambda leaf: np.asarray(leaf)[order], (instances, keys))
    parts, done = [], 0
    progress(done, total, "compiling and measuring")
    chunked = Chunked(program, chunk, str(setup), threads)
    for part in chunked.parts(rows):
        parts.append(part)
        done += len(jax.tree.leaves(part)[0])
        progress(done, total, "measuring")
    place = np.argsort(order)
    return with_errors_at_points(
        jax.tree.map(lambda *leaves: np.concatenate(leaves)[place], *parts)
    )


def _longest_first(setup: Setup, instances: Instance, keys: np.ndarray, chunk: int) -> np.ndarray:
    """An order of the rows in which those of a chunk wait little for one another.

    The given one where there is little to wait for, or where no length is known before.
    """
    total, cost = len(keys), measurement_cost(setup)
    if cost.waits and total > chunk and total * cost.operations > WORTH_SORTING:
        program = _length_program(setup.theorem, setup.readings, setup.settings.size_items)
        if program is not None:
            lengths = Chunked(program, LENGTHS_AT_ONCE, str(setup))((instances, keys))
            return np.argsort(-lengths, kind="stable")
    return np.arange(total)


@lru_cache(maxsize=256)
def _length_program(
    theorem: Theorem, readings: tuple[ResolvedReading, ...], sizes: SizeItems
) -> Program | None:
    """How long measuring each of stacked instances takes, as far as that is known before."""

    @cache
    def length() -> Callable[..., Array] | None:
        return known_length(_traced(theorem, readings, sizes).jaxpr)

    def lengths(rows: tuple[Instance, Array]) -> Array:
        return jax.vmap(length())(*jax.tree.leaves(rows))  # type: ignore[arg-type]

    known_by = made_of(theorem, readings, sizes, "length")
    is_known = kept_value(known_by, "whether it is known before", lambda: length() is not None)
    return Program(lengths, known_by) if is_known else None
