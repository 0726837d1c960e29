"""An instance that seems to violate a claim, and what a second look at it says."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import Generic, TypeVar

import numpy as np
from jaxtyping import Array

from theorysim.claims.evidence import Points
from theorysim.claims.instance import Instance
from theorysim.claims.kinds import Claim
from theorysim.claims.reading import ResolvedReading
from theorysim.claims.theorem import Theorem

AnyClaim = TypeVar("AnyClaim", bound=Claim, covariant=True)


@dataclass(frozen=True)
class Case(Generic[AnyClaim]):
    """What is said to be violated: a claim of a reading of a theorem."""

    theorem: Theorem
    reading: ResolvedReading
    claim: AnyClaim


@dataclass(frozen=True)
class Suspect:
    """One instance with its key (its data), and the points of the claim at which it was measured.

    `points` has the one row of the instance, `room` the relative room of its columns: negative
    where they violate, infinite elsewhere.
    """

    row: int
    instance: Instance
    key: np.ndarray | Array
    points: Points
    room: np.ndarray

    @property
    def violated(self) -> np.ndarray:
        """Which columns violate."""
        return self.room < np.inf

    def worst(self, among: np.ndarray) -> int:
        """The column of the least room among some."""
        return int(np.argmin(np.where(among, self.room, np.inf)))


class Answer(Enum):
    """What a second look says of a suspect."""

    VIOLATED = auto()
    VANISHED = auto()
    UNKNOWN = auto()


@dataclass(frozen=True)
class Finding:
    """An answer, how it was found, and the column of the claim that is violated.

    `means` ("with 212 bits") completes "confirmed" or "vanishes"; of what is unknown it is
    the reason. `work` counts the entries that ball arithmetic computed for it.
    """

    answer: Answer
    means: str
    column: int = 0
    work: int = 0
