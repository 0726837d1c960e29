"""Whether points that a search found violate claims: measured with their error, then shrunk."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import islice, zip_longest
from typing import Any, NamedTuple

import jax
import numpy as np

from theorysim.claims.evidence import Measurement, tabulate
from theorysim.claims.instance import Instance, SizeItems, field_values
from theorysim.claims.kinds import Pointwise
from theorysim.claims.theorem import Theorem
from theorysim.engine.confirm.confirm import confirm
from theorysim.engine.confirm.suspect import Case
from theorysim.engine.falsify.objective import Points, Scored
from theorysim.engine.falsify.shrink import Values, shrink
from theorysim.engine.measure.batch import chunk_that_fits, measure_all
from theorysim.engine.measure.draw import feasible
from theorysim.engine.measure.setup import Settings, Setup
from theorysim.errors import InstanceError

# How many of the best points are measured, in one batch.
BATCH = 16

# A search picks the worst error of thousands of points, while the measured one comes from a few
# perturbations: over all true statements it lay up to 2.3 times below a difference that was found.
SEARCH_HEADROOM = 10.0

# A sum that absorbs a small addend errs alike however its inputs are jittered by ulps: the measured
# rounding misses it. A violation must therefore be confirmed, and found at all
# feasible instances about it, with fields scaled by about this much: the slack is continuous,
# rounding is not.
NEARBY = 1e-6

# A simpler counterexample must keep this share of the relative violation.
KEPT_SHARE = 0.1


class _Candidates(NamedTuple):
    """Measurements of candidates by name of claim, and which candidates meet the hypotheses."""

    by_claim: dict[str, Measurement]
    feasible: np.ndarray


class _Outcome(NamedTuple):
    """Of candidates: whether each violates beyond its error, by how much, and is feasible.

    `averages` says whether the claim takes averages over keys.
    """

    violated: np.ndarray
    relative: np.ndarray
    feasible: np.ndarray
    averages: bool


@lru_cache(maxsize=64)
def _decoding_program(theorem: Theorem, sizes: SizeItems) -> Callable:
    return jax.jit(jax.vmap(lambda u: field_values(theorem.space.decode(u, dict(sizes)))))


@dataclass(frozen=True)
class Confirmation:
    """Measures candidates for claims of one reading at fixed sizes; no point of the cube twice.

    `unconfirmed` counts, for each claim, the violations that did not persist.
    """

    setup: Setup
    tried: set[bytes] = field(default_factory=set)
    unconfirmed: Counter[str] = field(default_factory=Counter)

    def confirm(self, found: Mapping[Pointwise, Scored]) -> dict[Pointwise, Values]:
        """For each claim that is violated beyond its error: the shrunk form of its worst point."""
        points = self._untried(list(found.values()))
        if not points:
            return {}
        candidates = self.instances(np.array(points))
        measurements = self._measure(candidates)
        hits = {}
        for claim in found:
            outcome = self._outcome(claim, measurements)
            for row in sorted(np.flatnonzero(outcome.violated), key=lambda r: -outcome.relative[r]):
                if self._persists(claim, candidates[row]):
                    floor = KEPT_SHARE * outcome.relative[row]
                    simple = self._shrink(claim, candidates[row], floor)
                    hits[claim] = simple if self._persists(claim, simple) else candidates[row]
                    break
                self.unconfirmed[claim.name] += 1
        return hits

    def _untried(self, found: Sequence[Scored]) -> list[np.ndarray]:
        """At most BATCH points that seem to violate a claim and were not measured: worst first."""
        violating = [scored.points[scored.scores > 0] for scored in found]
        in_turn = [point for rank in zip_longest(*violating) for point in rank if point is not None]
        fresh = {p.tobytes(): p for p in in_turn if p.tobytes() not in self.tried}
        picked = dict(islice(fresh.items(), BATCH))
        self.tried.update(picked)
        return list(picked.values())

    def instances(self, points: Points) -> list[Values]:
        """Field values of at most BATCH points of the cube."""
        decode = _decoding_program(self.setup.theorem, self.setup.settings.size_items)
        padded = points[np.minimum(np.arange(BATCH), len(points) - 1)]  # one compiled length
        stacked = {name: np.asarray(value) for name, value in decode(padded).items()}
        values = [{k: np.asarray(v[row]) for k, v in stacked.items()} for row in range(len(points))]
        return [{**one, **self.setup.settings.values} for one in values]

    def as_json(self, values: Values) -> dict[str, Any]:
        """The instance in a form that can be replayed."""
        data = self.setup.theorem.space.to_json(
            Instance(dict(values), self.setup.settings.size_items)
        )
        return {"theorem": self.setup.theorem.id, **data, "key": self._key().tolist()}

    def _key(self, fresh: int = 0) -> np.ndarray:
        key = jax.random.key(self.setup.seed)
        return np.asarray(jax.random.key_data(jax.random.fold_in(key, fresh) if fresh else key))

    def _persists(self, claim: Pointwise, values: Values) -> bool:
        """Whether all feasible instances about it violate, and it is confirmed as `verify` does.

        An average must miss with fresh keys as well: a search measures thousands of points.
        """
        about = [values, *self._about(values)]
        found = self._outcome(claim, self._measure(about))
        if not found.violated[found.feasible].all() or not self._is_confirmed(claim, values):
            return False
        if not found.averages:
            return True
        return bool(self._outcome(claim, self._measure([values], fresh=1)).violated)

    def _is_confirmed(self, claim: Pointwise, values: Values) -> bool:
        """Whether the violation survives more bits, or other roundings."""
        (reading,) = self.setup.readings
        stacked = {name: np.asarray(value)[None] for name, value in values.items()}
        x = Instance(stacked, self.setup.settings.size_items, np.ones(1))
        measurement = self._measure([values]).by_claim[claim.name]
        case = Case(self.setup.theorem, reading, claim)
        return confirm(case, measurement, x, self._key()[None]).row is not None

    def _about(self, values: Values) -> list[Values]:
        """Instances nearby that fill a batch."""
        steps = NEARBY * np.random.default_rng(self.setup.seed).normal(
            size=(BATCH - 1, len(values))
        )
        return [
            {
                name: self._scale(name, value, step)
                for (name, value), step in zip(values.items(), row)
            }
            for row in steps
        ]

    def _scale(self, name: str, value: np.ndarray, step: float) -> np.ndarray:
        """A field's value times 1 + step or 1 - step; the same where neither belongs to it."""
        if name in self.setup.settings.values or value.dtype.kind != "f":
            return value
        for factor in (1 + step, 1 - step):
            try:
                self.setup.theorem.space.fields[name].check(
                    name, factor * value, self.setup.settings.sizes
                )
            except InstanceError:
                continue
            return factor * value
        return value

    def _shrink(self, claim: Pointwise, values: Values, floor: float) -> Values:
        fixed = self.setup.settings.values

        def violates(candidates: Sequence[Values]) -> np.ndarray:
            again = self._outcome(claim, self._measure(candidates))
            kept = [
                all(np.array_equal(one[name], value) for name, value in fixed.items())
                for one in candidates
            ]
            return again.violated & (again.relative >= floor) & np.array(kept)

        return shrink(self.setup.theorem.space, self.setup.settings.sizes, values, violates)

    def _measure(self, candidates: Sequence[Values], fresh: int = 0) -> _Candidates:
        """Measured in batches of one length, so that every pass runs the same compiled program.

        All with the key of the search, or with another one where `fresh` is not zero.
        """
        free = self.setup.at(Settings(self.setup.settings.sizes, {}))
        (reading,) = self.setup.readings
        chunk = chunk_that_fits(free, BATCH)
        padded = [*candidates, *[candidates[-1]] * (-len(candidates) % chunk)]
        values = {name: np.stack([one[name] for one in padded]) for name in padded[0]}
        x = Instance(values, self.setup.settings.size_items, np.ones(len(padded)))
        keys = np.tile(self._key(fresh), (len(padded), 1))
        found = measure_all(free, x, keys)
        met = feasible(reading, x)
        return jax.tree.map(
            lambda leaf: leaf[: len(candidates)], _Candidates(found[reading.name], met)
        )

    @staticmethod
    def _outcome(claim: Pointwise, measured: _Candidates) -> _Outcome:
        m = measured.by_claim[claim.name]
        points = tabulate(m)
        with np.errstate(invalid="ignore", divide="ignore"):
            room = claim.slack(points.lhs, points.rhs)
            relative = np.where(points.applies & (points.scale > 0), -room / points.scale, -1)
        known = np.where(np.isnan(relative), -np.inf, relative)
        uncertain = replace(
            m,
            rounding=SEARCH_HEADROOM * m.rounding,
            integrator=SEARCH_HEADROOM * m.integrator,
        )
        violated = claim.violated_rows(uncertain) & measured.feasible
        return _Outcome(
            violated, np.max(known, axis=1), measured.feasible, bool(np.any(m.sampling > 0))
        )
