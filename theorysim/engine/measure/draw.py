"""Drawing instances until enough of them satisfy the hypotheses of every reading."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import jax
import numpy as np
from jaxtyping import Array

from theorysim.claims.instance import Instance
from theorysim.claims.theorem import Margin, ResolvedReading, Theorem, least
from theorysim.errors import UsageError

# How many candidates are drawn for each instance wanted before a reading counts as vacuous.
DRAWS_PER_INSTANCE = 256
DRAW_CHUNK = 512

SizeItems = tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Drawn:
    """Candidate instances (stacked), their keys' data, and their margins and demands.

    `values` holds one number per candidate for every margin and demand of the readings. All on the
    host, where picking rows compiles nothing.
    """

    instances: Instance
    keys: np.ndarray
    values: Mapping[Margin, np.ndarray]

    def satisfied(self, reading: ResolvedReading) -> np.ndarray:
        """Per candidate, whether it meets every hypothesis of the reading; NaN does not."""
        count = self.keys.shape[0]
        met = [self.values[margin] >= 0 for margin in reading.hypotheses.values()]
        return np.all(met, axis=0) if met else np.ones(count, bool)

    def take(self, rows: np.ndarray) -> tuple[Instance, np.ndarray]:
        """The instances and keys of some rows."""
        return jax.tree.map(lambda leaf: leaf[rows], self.instances), self.keys[rows]


@dataclass(frozen=True)
class Settings:
    """What the user fixes: sizes (all of them) and values of some fields."""

    sizes: Mapping[str, int]
    values: Mapping[str, np.ndarray]

    @property
    def size_items(self) -> SizeItems:
        """Sizes in a hashable form."""
        return tuple(self.sizes.items())


@lru_cache(maxsize=64)
def _feasibility_program(reading: ResolvedReading):
    return jax.jit(jax.vmap(lambda x: reading.margin(x) >= 0))


def feasible(reading: ResolvedReading, instances: Instance) -> np.ndarray:
    """Per stacked instance, whether it meets every hypothesis of the reading; NaN does not."""
    return np.asarray(_feasibility_program(reading)(instances))


def check_seed(seed: int) -> None:
    """Raise UsageError for a seed that no generator takes."""
    if not 0 <= seed < 1 << 63:
        raise UsageError(f"seed {seed}: expected an integer from 0 to 2^63 - 1")


def parse_settings(theorem: Theorem, given: Mapping[str, Any]) -> Settings:
    """Checked sizes and values; text is read as JSON.

    Raises:
        UsageError: for an unknown name, or a value out of range, with what would be accepted.
    """
    space = theorem.space
    parsed = {name: _parse(name, value) for name, value in given.items()}
    for name in parsed:
        if name not in space.sizes and name not in space.fields:
            sizes, fields = ", ".join(space.sizes) or "none", ", ".join(space.fields)
            raise UsageError(
                f"{name!r} is no size or field of {theorem.id}; sizes: {sizes}; fields: {fields}"
            )
    sizes = {name: value for name, value in parsed.items() if name in space.sizes}
    for name, value in sizes.items():
        if not isinstance(value, int) or isinstance(value, bool):
            raise UsageError(f"{name} = {value}: expected an integer")
    sizes = space.default_sizes(**sizes)
    values = {
        name: space.fields[name].check(name, value, sizes)
        for name, value in parsed.items()
        if name in space.fields
    }
    return Settings(sizes, values)


def _parse(name: str, value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except json.JSONDecodeError:
        raise UsageError(f"{name} = {value}: expected a number or a JSON list") from None


@lru_cache(maxsize=256)
def _drawing_program(theorem: Theorem, sizes: SizeItems, functions: tuple[Margin, ...]):
    space, size_map = theorem.space, dict(sizes)

    def draw(seed: Array, index: Array, fixed: dict[str, Array]) -> tuple:
        key = jax.random.fold_in(jax.random.key(seed), index)
        x = space.sample(jax.random.fold_in(key, 0), size_map).replace(**fixed)
        values = [least(function, x) for function in functions]
        return x, jax.random.key_data(key), values

    return jax.jit(jax.vmap(draw, in_axes=(None, 0, None)))


def draw(
    theorem: Theorem,
    readings: tuple[ResolvedReading, ...],
    settings: Settings,
    seed: int,
    wanted: int,
) -> Drawn:
    """Candidates from the space until `wanted` satisfy each reading, or the budget is spent.

    Candidate i of a seed is the same whatever is wanted: its key is folded from the seed by i.
    """
    wanted_values = [(*r.hypotheses.values(), *r.demands.values()) for r in readings]
    functions = tuple(dict.fromkeys(f for several in wanted_values for f in several))
    program = _drawing_program(theorem, settings.size_items, functions)
    chunk = DRAW_CHUNK if any(r.hypotheses for r in readings) else wanted
    parts: list[Drawn] = []
    found = np.zeros(len(readings), int)
    drawn = 0
    while drawn < wanted * DRAWS_PER_INSTANCE and np.any(found < wanted):
        candidates = np.arange(drawn, drawn + chunk)
        outcome = program(seed, candidates, dict(settings.values))
        instances, keys, values = jax.tree.map(np.asarray, outcome)
        part = Drawn(instances, keys, dict(zip(functions, values, strict=True)))
        found += [int(part.satisfied(reading).sum()) for reading in readings]
        parts.append(part)
        drawn += chunk
    return _joined(parts)


def _joined(parts: list[Drawn]) -> Drawn:
    if len(parts) == 1:
        return parts[0]
    instances = jax.tree.map(lambda *leaves: np.concatenate(leaves), *(p.instances for p in parts))
    keys = np.concatenate([p.keys for p in parts])
    values = {f: np.concatenate([p.values[f] for p in parts]) for f in parts[0].values}
    return Drawn(instances, keys, values)
