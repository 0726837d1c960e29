"""Points that an adversary tries: coordinates in the unit cube of a space, each with a key."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, UInt32


@dataclass(frozen=True)
class Points:
    """Coordinates in the closed unit cube, and the data of the key that each is simulated with."""

    cube: Float[np.ndarray, "points dimension"]
    keys: UInt32[np.ndarray, "points 2"]

    def __len__(self) -> int:
        return len(self.cube)

    def rows(self, rows: np.ndarray | slice) -> Points:
        """Some of the points."""
        return Points(self.cube[rows], self.keys[rows])

    def identities(self) -> list[bytes]:
        """What tells each point from every other one."""
        return [point.tobytes() + key.tobytes() for point, key in zip(self.cube, self.keys)]

    @staticmethod
    def under(key: UInt32[np.ndarray, "2"], cube: Float[np.ndarray, "points dimension"]) -> Points:
        """Points that are simulated with one key."""
        return Points(cube, np.tile(key, (len(cube), 1)))

    @staticmethod
    def join(*parts: Points) -> Points:
        """All points of several parts."""
        return Points(
            np.concatenate([part.cube for part in parts]),
            np.concatenate([part.keys for part in parts]),
        )


@dataclass(frozen=True)
class Scored:
    """Points with their scores (relative violation) and log lhs/rhs for one claim."""

    points: Points
    scores: Float[np.ndarray, " points"]
    ratios: Float[np.ndarray, " points"]

    def rows(self, rows: np.ndarray | slice) -> Scored:
        """Some of the points."""
        return Scored(self.points.rows(rows), self.scores[rows], self.ratios[rows])

    def best(self, count: int) -> Scored:
        """The best few, best first, without repetitions."""
        order = np.argsort(-self.scores, kind="stable")
        names = self.points.rows(order).identities()
        first = dict(zip(reversed(names), reversed(order)))
        return self.rows(
            np.array([row for name, row in zip(names, order) if first[name] == row][:count])
        )

    @staticmethod
    def join(*parts: Scored) -> Scored:
        """All points of several parts."""
        return Scored(
            Points.join(*(part.points for part in parts)),
            np.concatenate([part.scores for part in parts]),
            np.concatenate([part.ratios for part in parts]),
        )
