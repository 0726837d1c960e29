"""Readings of a statement, and the mutants that its claims must refute."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from jaxtyping import Array, Float

from theorysim.claims.hypotheses import Assumption, smallest
from theorysim.claims.instance import Instance
from theorysim.claims.kinds.base import Claim
from theorysim.claims.margins import Margin
from theorysim.claims.source import Corrected, Finding, Source

Predict = Callable[[Instance], Any]
Simulate = Callable[[Instance, Array], Any]


def nothing(x: Instance) -> tuple[()]:
    """The prediction of a statement that predicts nothing beyond its claims."""
    return ()


@dataclass(frozen=True, eq=False)
class Reading:
    """One way in which a statement is printed, corrected, or found by us.

    What is None is inherited from the theorem. `claims` replaces all claims; `assumes` and
    `hypotheses` together are what an instance must meet, and replace the theorem's one by one;
    `requirements` are numbers that they ask for (a batch size, a logarithm of one), reported
    beside the verdict. Exactly one reading of a theorem is primary.
    """

    name: str
    source: Source
    predict: Predict | None = None
    simulate: Simulate | None = None
    claims: tuple[Claim, ...] | None = None
    assumes: tuple[Assumption, ...] | None = None
    hypotheses: Mapping[str, Margin] | None = None
    requirements: Mapping[str, Margin] | None = None
    primary: bool = False
    note: str = ""


def corrected(change: str, *, name: str = "corrected", **parts: Any) -> Reading:
    """The primary reading of what is printed wrongly: `change` says what was changed in the print.

    The other `parts` are those of a `Reading`.
    """
    return Reading(name, Corrected(change), primary=True, **parts)


@dataclass(frozen=True, eq=False)
class ResolvedReading:
    """A reading with nothing left to inherit; assumptions are merged into the hypotheses."""

    name: str
    source: Source
    predict: Predict
    simulate: Simulate
    claims: tuple[Claim, ...]
    assumes: tuple[Assumption, ...]
    hypotheses: Mapping[str, Margin]
    requirements: Mapping[str, Margin]
    primary: bool
    note: str

    def margin(self, x: Instance) -> Float[Array, ""]:
        """The smallest margin of the hypotheses: below 0 where one is not met, NaN if undefined."""
        return smallest(self.hypotheses.values(), x)

    def only(self, claims: Collection[str]) -> ResolvedReading:
        """The reading with no other claims than those of these names."""
        kept = tuple(claim for claim in self.claims if claim.name in claims)
        return self if kept == self.claims else _with_claims(self, kept)


@lru_cache(maxsize=1024)
def _with_claims(reading: ResolvedReading, claims: tuple[Claim, ...]) -> ResolvedReading:
    """The same object for the same claims: compiled programs are remembered by their readings."""
    return dataclasses.replace(reading, claims=claims)


@dataclass(frozen=True, eq=False)
class Mutant:
    """A small false variant of a reading, that its claims must refute.

    A lost factor 2, a swapped pair, a missing transpose, a reversed monotonicity, a wrong power.
    What is None stays as the reading has it. Claims replace those of the same name and leave the
    others; `Claim.scaled`, `Claim.against`, `Inequality.reversed` and `PowerLaw.with_exponent`
    make them.

    Attributes:
        name: what is wrong, in words.
        of: names of the readings that it varies; the primary one where empty.
        breaks: names of the claims that it should break; where empty, all that compare what it
            changes: every one where it has another `predict` or `simulate`.
    """

    name: str
    of: tuple[str, ...] = ()
    predict: Predict | None = None
    simulate: Simulate | None = None
    claims: tuple[Claim, ...] | None = None
    breaks: tuple[str, ...] = ()

    def touches(self, reading: ResolvedReading, claim: Claim) -> bool:
        """Whether the mutant should break a claim of a reading."""
        if self.breaks:
            return claim.name in self.breaks
        names = {changed.name for changed in self.claims or ()}
        return self.predict is not None or self.simulate is not None or claim.name in names


# Between the name of a reading and that of its mutant.
SEPARATOR = " | "


@lru_cache(maxsize=1024)
def mutate(reading: ResolvedReading, mutant: Mutant) -> ResolvedReading:
    """The reading with what the mutant changes; the same object for the same pair."""
    changed = {claim.name: claim for claim in mutant.claims or ()}
    return dataclasses.replace(
        reading,
        name=f"{reading.name}{SEPARATOR}{mutant.name}",
        predict=mutant.predict or reading.predict,
        simulate=mutant.simulate or reading.simulate,
        claims=tuple(changed.get(claim.name, claim) for claim in reading.claims),
        source=Finding(f"a mutant: {mutant.name}"),
        primary=False,
        note="",
    )
