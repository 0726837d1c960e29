"""Drawing instances until enough of them satisfy the hypotheses of every reading."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import jax
import numpy as np
from jax.stages import Traced
from jaxtyping import Array

from theorysim.claims.hypotheses import least
from theorysim.claims.instance import Instance, SizeItems
from theorysim.claims.margins import Margin, is_met
from theorysim.claims.reading import ResolvedReading
from theorysim.claims.space import Space
from theorysim.claims.theorem import Theorem
from theorysim.engine.measure.cost import Cost, cost_of
from theorysim.engine.measure.making import made_of, made_of_margins
from theorysim.engine.measure.setup import Setup
from theorysim.kept import Program

# How many candidates are drawn for each instance wanted before a reading counts as vacuous.
DRAWS_PER_INSTANCE = 256
DRAW_CHUNK = 512
# Where many more are drawn than are wanted.
LONG_CHUNK = 1 << 14


@dataclass(frozen=True)
class Drawn:
    """Candidate instances (stacked), their keys' data, and their margins and requirements.

    `values` holds one number per candidate for every margin and requirement of the readings. All
    on the host, where picking rows compiles nothing.
    """

    instances: Instance
    keys: np.ndarray
    values: Mapping[Margin, np.ndarray]

    def satisfied(self, reading: ResolvedReading) -> np.ndarray:
        """Per candidate, whether it meets every hypothesis of the reading; NaN does not."""
        count = self.keys.shape[0]
        met = [is_met(m, self.values[m]) for m in reading.hypotheses.values()]
        return np.all(met, axis=0) if met else np.ones(count, bool)


@lru_cache(maxsize=64)
def _feasibility_program(theorem: Theorem, reading: ResolvedReading) -> Program:
    known_by = made_of(theorem, (reading,), (), "feasible")
    return Program(jax.vmap(lambda x: reading.margin(x) >= 0), known_by)


def feasible(theorem: Theorem, reading: ResolvedReading, instances: Instance) -> np.ndarray:
    """Per stacked instance, whether it meets every hypothesis of the reading; NaN does not."""
    return np.asarray(_feasibility_program(theorem, reading)(instances))


def candidate_key(seed: Array, index: Array) -> Array:
    """The key of a seed's candidate: it simulates it, and folded with 0 it has drawn it."""
    return jax.random.fold_in(jax.random.key(seed), index)


@lru_cache(maxsize=256)
def _candidate_program(space: Space, sizes: SizeItems, functions: tuple[Margin, ...]):
    """Traced once for theorems that share a space and what is asked of its instances."""
    size_map = dict(sizes)

    def draw(seed: Array, index: Array, fixed: dict[str, Array]) -> tuple:
        key = candidate_key(seed, index)
        x = space.sample(jax.random.fold_in(key, 0), size_map).replace(**fixed)
        values = [least(function, x) for function in functions]
        return x, jax.random.key_data(key), values

    return jax.jit(draw)


@lru_cache(maxsize=256)
def _drawing_program(
    space: Space, sizes: SizeItems, functions: tuple[Margin, ...], known_by: str | None
):
    many = jax.vmap(_candidate_program(space, sizes, functions), in_axes=(None, 0, None))
    return Program(many, known_by)


def _functions(setup: Setup) -> tuple[Margin, ...]:
    """The margins and requirements of all readings."""
    wanted = [(*r.hypotheses.values(), *r.requirements.values()) for r in setup.readings]
    return tuple(dict.fromkeys(f for several in wanted for f in several))


def drawing_cost(setup: Setup) -> Cost:
    """What drawing one candidate costs; counted on `traced_drawing`, and kept."""
    sizes, fixed = setup.settings.size_items, sorted(setup.settings.values)
    known_by = made_of_margins(setup.theorem, _functions(setup), sizes, fixed)
    return cost_of(known_by, "cost of drawing", lambda: traced_drawing(setup))


def traced_drawing(setup: Setup) -> Traced:
    """The program that draws one candidate; the trace is the one that `draw` compiles."""
    settings = setup.settings
    program = _candidate_program(setup.theorem.space, settings.size_items, _functions(setup))
    return program.trace(setup.seed, np.arange(1)[0], dict(settings.values))


def draw(setup: Setup, wanted: int, least: int = 0, hoped: int | None = None) -> Drawn:
    """Candidates from the space until `wanted` satisfy each reading, or the budget is spent.

    Candidate i of a seed is the same whatever is wanted: its key is folded from the seed by i.
    At least `least` are drawn, however many are found. `hoped`: draw so many first, and no more if
    they do.
    """
    rejects = any(r.hypotheses for r in setup.readings)
    if hoped is not None and rejects:
        few = _drawn(setup, 0, hoped)
        if np.all(_found(setup, few) >= wanted):
            return few
    chunk = max(DRAW_CHUNK if rejects else wanted, min(least, LONG_CHUNK))
    parts: list[Drawn] = []
    found, drawn = np.zeros(len(setup.readings), int), 0
    while drawn < least or (drawn < wanted * DRAWS_PER_INSTANCE and np.any(found < wanted)):
        parts.append(_drawn(setup, drawn, chunk))
        found += _found(setup, parts[-1])
        drawn += chunk
    return _join(parts)


def _drawn(setup: Setup, first: int, count: int) -> Drawn:
    """So many candidates, from this one on."""
    functions, theorem, settings = _functions(setup), setup.theorem, setup.settings
    known_by = made_of_margins(theorem, functions, settings.size_items, "draw")
    program = _drawing_program(theorem.space, settings.size_items, functions, known_by)
    outcome = program(setup.seed, np.arange(first, first + count), dict(settings.values))
    instances, keys, values = jax.tree.map(np.asarray, outcome)
    return Drawn(instances, keys, dict(zip(functions, values, strict=True)))


def _found(setup: Setup, drawn: Drawn) -> np.ndarray:
    """How many candidates satisfy each reading."""
    return np.array([int(drawn.satisfied(reading).sum()) for reading in setup.readings])


def _join(parts: list[Drawn]) -> Drawn:
    if len(parts) == 1:
        return parts[0]
    instances = jax.tree.map(lambda *leaves: np.concatenate(leaves), *(p.instances for p in parts))
    keys = np.concatenate([p.keys for p in parts])
    values = {f: np.concatenate([p.values[f] for p in parts]) for f in parts[0].values}
    return Drawn(instances, keys, values)
