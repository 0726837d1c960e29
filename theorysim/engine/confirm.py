"""Whether a point that a search found violates a claim: measured with its error, then shrunk."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from theorysim.claims.claim import Claim
from theorysim.claims.space import Instance
from theorysim.claims.theorem import ResolvedReading, Theorem
from theorysim.engine.attack import Points, Scored
from theorysim.engine.draw import Settings, SizeItems
from theorysim.engine.judge import violated_rows
from theorysim.engine.judge_points import slack, tabulate
from theorysim.engine.measure_many import chunk_that_fits, measured
from theorysim.engine.shrink import Values, shrunk
from theorysim.errors import InstanceError

# How many of the best points are measured, in one batch.
BATCH = 16

# A search picks the worst rounding of thousands of points, while the measured one comes from a few
# lanes: over all true statements it lay up to 2.3 times below a difference that was found.
SEARCH_HEADROOM = 10.0

# A sum that absorbs a small addend errs alike however its inputs are jittered by ulps: the measured
# rounding misses it. A violation must therefore be found at all feasible instances about it, with
# fields scaled by about this much: the slack is continuous, rounding is not.
NEARBY = 1e-6

# A simpler counterexample must keep this share of the relative violation.
KEPT_SHARE = 0.1


class _Outcome(NamedTuple):
    """Of candidates: whether each violates beyond its error, how much, and whether it may be."""

    violated: np.ndarray
    relative: np.ndarray
    feasible: np.ndarray


@lru_cache(maxsize=64)
def _decoding_program(theorem: Theorem, sizes: SizeItems) -> Callable:
    return jax.jit(jax.vmap(lambda u: theorem.space.decode(u, dict(sizes)).values))


@lru_cache(maxsize=64)
def _feasibility_program(reading: ResolvedReading) -> Callable:
    """Whether stacked instances satisfy every hypothesis; NaN does not."""

    def feasible(x: Instance) -> Array:
        met = [jnp.all(jnp.asarray(margin(x)) >= 0) for margin in reading.hypotheses.values()]
        return jnp.all(jnp.stack(met)) if met else jnp.asarray(True)

    return jax.jit(jax.vmap(feasible))


@dataclass(frozen=True)
class Confirmation:
    """Measures candidates for one claim at fixed sizes; no point of the cube twice."""

    theorem: Theorem
    reading: ResolvedReading
    claim: Claim
    settings: Settings
    seed: int
    tried: set[bytes] = field(default_factory=set)

    def confirmed(self, found: Scored) -> Values | None:
        """The shrunk form of the best point that is a violation beyond its error, if one is."""
        violating = found.points[found.scores > 0]
        points = [p for p in violating if p.tobytes() not in self.tried][:BATCH]
        if not points:
            return None
        self.tried.update(point.tobytes() for point in points)
        candidates = self.instances(np.array(points))
        outcome = self._measured(candidates)
        rows = sorted(np.flatnonzero(outcome.violated), key=lambda row: -outcome.relative[row])
        for row in rows:
            if self._persists(candidates[row]):
                return self._shrunk(candidates[row], KEPT_SHARE * outcome.relative[row])
        return None

    def instances(self, points: Points) -> list[Values]:
        """Field values of at most BATCH points of the cube."""
        decode = _decoding_program(self.theorem, self.settings.size_items)
        padded = points[np.minimum(np.arange(BATCH), len(points) - 1)]  # one compiled length
        stacked = {name: np.asarray(value) for name, value in decode(padded).items()}
        values = [{k: np.asarray(v[row]) for k, v in stacked.items()} for row in range(len(points))]
        return [{**one, **self.settings.values} for one in values]

    def as_json(self, values: Values) -> dict[str, Any]:
        """The instance in a form that can be replayed."""
        data = self.theorem.space.to_json(Instance(dict(values), self.settings.size_items))
        return {"theorem": self.theorem.id, **data, "key": self._key().tolist()}

    def _key(self) -> np.ndarray:
        return np.asarray(jax.random.key_data(jax.random.key(self.seed)))

    def _persists(self, values: Values) -> bool:
        """Whether all feasible instances about it violate, too (an isolated one has none)."""
        steps = NEARBY * np.random.default_rng(self.seed).normal(size=(BATCH, len(values)))
        about = [
            {
                name: self._scaled(name, value, step)
                for (name, value), step in zip(values.items(), row)
            }
            for row in steps
        ]
        nearby = self._measured(about)
        return bool(nearby.violated[nearby.feasible].all())

    def _scaled(self, name: str, value: np.ndarray, step: float) -> np.ndarray:
        """A field's value times 1 + step or 1 - step; the same where neither belongs to it."""
        if name in self.settings.values or value.dtype.kind != "f":
            return value
        for factor in (1 + step, 1 - step):
            try:
                self.theorem.space.fields[name].check(name, factor * value, self.settings.sizes)
            except InstanceError:
                continue
            return factor * value
        return value

    def _shrunk(self, values: Values, floor: float) -> Values:
        fixed = self.settings.values

        def violates(candidates: Sequence[Values]) -> np.ndarray:
            again = self._measured(list(candidates))
            kept = [
                all(np.array_equal(one[name], value) for name, value in fixed.items())
                for one in candidates
            ]
            return again.violated & (again.relative >= floor) & np.array(kept)

        return shrunk(self.theorem.space, self.settings.sizes, values, violates)

    def _measured(self, candidates: list[Values]) -> _Outcome:
        """Measured in batches of one length, so that every pass runs the same compiled program."""
        readings, settings = (self.reading,), Settings(self.settings.sizes, {})
        chunk = chunk_that_fits(self.theorem, readings, settings, BATCH)
        padded = candidates + [candidates[-1]] * (-len(candidates) % chunk)
        values = {name: np.stack([one[name] for one in padded]) for name in padded[0]}
        x = Instance(values, self.settings.size_items, np.ones(len(padded)))
        keys = np.tile(self._key(), (len(padded), 1))
        found = measured(self.theorem, readings, settings, x, keys, chunk)
        m = found[self.reading.name][self.claim.name]
        points = tabulate(m)
        with np.errstate(invalid="ignore", divide="ignore"):
            room = slack(self.claim.kind, points.lhs, points.rhs)
            relative = np.where(points.given & (points.scale > 0), -room / points.scale, -1)
        known = np.where(np.isnan(relative), -np.inf, relative)
        feasible = np.asarray(_feasibility_program(self.reading)(x))
        blurred = replace(m, rounding=SEARCH_HEADROOM * m.rounding)
        violated = violated_rows(self.claim, blurred) & feasible
        kept = slice(0, len(candidates))
        return _Outcome(violated[kept], np.max(known, axis=1)[kept], feasible[kept])
