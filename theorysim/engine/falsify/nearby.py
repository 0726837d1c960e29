"""Instances nearby: where a violation persists that is none of rounding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from theorysim.engine.falsify.shrink import Values
from theorysim.engine.measure.setup import Setup
from theorysim.errors import InstanceError

# A sum that absorbs a small addend errs alike however its inputs are jittered by ulps: the measured
# rounding misses it. A violation must therefore be confirmed, and found at all
# feasible instances about it, with fields scaled by about this much: the slack is continuous,
# rounding is not.
NEARBY = 1e-6
# What is attained at the boundary of the space may be exceeded in a smaller neighbourhood only: a
# product of numbers up to 2 exceeds 4 - 1e-6 within 5e-7 of its corner. All instances nearby then
# lie on one side; this radius is still far above rounding.
AT_BOUNDARY = 1e-10

# Steps of an integrator that far away are others: the error of one instance may cancel by chance.
FAR = 1e-2


class Candidate(NamedTuple):
    """An instance and the data of the key that it is simulated with."""

    values: Values
    key: np.ndarray


@dataclass(frozen=True)
class Nearby:
    """Instances about one of a setup, `count` of them at a time."""

    setup: Setup
    count: int

    def about(self, candidate: Candidate, radius: float) -> list[Candidate]:
        """Instances nearby, with fields moved by about `radius` of themselves."""
        rng = np.random.default_rng(self.setup.seed)
        steps = radius * rng.normal(size=(self.count, len(candidate.values)))
        return [
            candidate._replace(values={**candidate.values, **self._scaled(candidate.values, row)})
            for row in steps
        ]

    def one_sided(self, values: Values) -> bool:
        """Whether a field of the instance lies at an end of what belongs to it."""
        return any(
            self._belongs(name, (1 + NEARBY) * value) != self._belongs(name, (1 - NEARBY) * value)
            for name, value in self._scalable(values)
        )

    def _scaled(self, values: Values, steps: np.ndarray) -> Values:
        """Fields times 1 + step or 1 - step, where either belongs to them."""
        scaled: Values = {}
        for (name, value), step in zip(self._scalable(values), steps):
            moved = [factor * value for factor in (1 + step, 1 - step)]
            scaled[name] = next((new for new in moved if self._belongs(name, new)), value)
        return scaled

    def _scalable(self, values: Values) -> list[tuple[str, np.ndarray]]:
        """Fields of real numbers that are not fixed."""
        free = values.keys() - self.setup.settings.values.keys()
        return [(n, v) for n, v in values.items() if n in free and v.dtype.kind == "f"]

    def _belongs(self, name: str, value: np.ndarray) -> bool:
        try:
            self.setup.theorem.space.fields[name].check(name, value, self.setup.settings.sizes)
        except InstanceError:
            return False
        return True
