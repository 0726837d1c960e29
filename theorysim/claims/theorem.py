"""A theorem as an executable object: its space, what is predicted, simulated and claimed."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

import jax.numpy as jnp
from jaxtyping import Array

from theorysim.claims.claim import TRUTH, Claim
from theorysim.claims.instance import Instance
from theorysim.claims.space import Space
from theorysim.errors import UsageError

Margin = Callable[[Instance], Any]
Predict = Callable[[Instance], Any]
Simulate = Callable[[Instance, Array], Any]


def least(margin: Margin, x: Instance) -> Array:
    """The smallest entry of a margin or a demand.

    Raises:
        UsageError: for one that is true or false: both would count as met.
    """
    entries = jnp.asarray(margin(x))
    if entries.dtype == bool:
        raise UsageError(f"the margin {_place(margin)} {TRUTH}")
    return jnp.min(entries.astype(float))


def _place(function: Callable) -> str:
    code = getattr(function, "__code__", None)
    return f"of {code.co_filename}:{code.co_firstlineno}" if code else repr(function)


def nothing(x: Instance) -> tuple[()]:
    """The prediction of a statement that predicts nothing beyond its claims."""
    return ()


@dataclass(frozen=True)
class Citation:
    """A paper."""

    title: str
    authors: str
    year: int
    venue: str


@dataclass(frozen=True, eq=False)
class Reading:
    """One way in which a statement is printed, corrected or got wrong.

    What is None is inherited from the theorem. `claims` replaces all claims; `demands` are numbers
    that the hypotheses ask for (a batch size, a logarithm of one), reported beside the verdict.
    """

    name: str
    predict: Predict | None = None
    simulate: Simulate | None = None
    claims: tuple[Claim, ...] | None = None
    hypotheses: Mapping[str, Margin] | None = None
    demands: Mapping[str, Margin] | None = None
    primary: bool = False
    note: str = ""


@dataclass(frozen=True, eq=False)
class ResolvedReading:
    """A reading with nothing left to inherit."""

    name: str
    predict: Predict
    simulate: Simulate
    claims: tuple[Claim, ...]
    hypotheses: Mapping[str, Margin]
    demands: Mapping[str, Margin]
    primary: bool
    note: str

    def margin(self, x: Instance) -> Array:
        """The smallest margin of the hypotheses: below 0 where one is not met, NaN if undefined."""
        margins = [least(margin, x) for margin in self.hypotheses.values()]
        return jnp.min(jnp.stack(margins)) if margins else jnp.ones(())

    def only(self, claims: Collection[str]) -> ResolvedReading:
        """The reading with no other claims than those of these names."""
        kept = tuple(claim for claim in self.claims if claim.name in claims)
        return self if kept == self.claims else _with_claims(self, kept)


@lru_cache(maxsize=256)
def _with_claims(reading: ResolvedReading, claims: tuple[Claim, ...]) -> ResolvedReading:
    """The same object for the same claims: compiled programs are remembered by their readings."""
    return dataclasses.replace(reading, claims=claims)


@dataclass(frozen=True, eq=False)
class Theorem:
    """A statement of a paper that can be verified, falsified and swept.

    Attributes:
        space: the instances.
        simulate: `simulate(x, key)`, the real thing: steps the paper's loss. Pure, jit- and
            vmap-able; it never uses the theory.
        predict: `predict(x)`, the theory; it never calls the simulation.
        claims: what is printed (the reading named `printed`).
        hypotheses: named signed margins, >= 0 where satisfied.
        demands: named numbers that the hypotheses ask for.
        readings: further readings.
        wrong: a plausible false reading that the check must reject within `teeth` instances.
        printed: name of the theorem's own reading.
        keys: how many independent simulations each instance gets; claims with `r.mean` need a
            multiple of 64.
        instances: how many instances `verify` checks unless told otherwise.
        integrates: predict or simulate integrate an ODE with `tolerance_scale=x.tolerance_scale`;
            a second, coarser run measures its error.
        aliases: other numbers of the same statement, such as the appendix's.
    """

    space: Space
    simulate: Simulate
    claims: tuple[Claim, ...]
    wrong: Reading
    predict: Predict = nothing
    hypotheses: Mapping[str, Margin] = field(default_factory=dict)
    demands: Mapping[str, Margin] = field(default_factory=dict)
    readings: tuple[Reading, ...] = ()
    printed: str = "as printed"
    keys: int = 1
    instances: int = 64
    teeth: int = 64
    integrates: bool = False
    aliases: tuple[str, ...] = ()
    id: str = ""
    title: str = ""

    def __post_init__(self):
        names = [reading.name for reading in self.all_readings()]
        if len(set(names)) < len(names):
            raise ValueError(f"two readings of one name: {names}")
        if sum(reading.primary for reading in self.all_readings()) != 1:
            raise ValueError(
                "exactly one reading is primary (the printed one unless one is marked)"
            )
        for reading in (*self.all_readings(), self.resolve(self.wrong)):
            claims = [claim.name for claim in reading.claims]
            if len(set(claims)) < len(claims):
                raise ValueError(f"two claims of one name in reading {reading.name!r}: {claims}")
            self._check_ladders(reading)

    def _check_ladders(self, reading: ResolvedReading) -> None:
        known = {*self.space.sizes, *self.space.fields}
        for claim in reading.claims:
            unknown = set(claim.ladders) - known
            if unknown:
                raise ValueError(
                    f"{claim.name}: a ladder over {min(unknown)!r}, which is no size or field of "
                    f"the space; it has {sorted(known)}"
                )

    @cached_property
    def _resolved(self) -> dict[Reading, ResolvedReading]:
        """Resolved once: compiled programs are remembered by their readings."""
        primary = not any(reading.primary for reading in self.readings)
        printed = Reading(self.printed, primary=primary)
        resolved = {}
        for reading in (printed, *self.readings, self.wrong):
            own = {f.name: getattr(reading, f.name) for f in dataclasses.fields(ResolvedReading)}
            filled = {k: getattr(self, k) if v is None else v for k, v in own.items()}
            resolved[reading] = ResolvedReading(**filled)
        return resolved

    def resolve(self, reading: Reading) -> ResolvedReading:
        """One of its readings with what that leaves open inherited from the theorem."""
        return self._resolved[reading]

    def all_readings(self) -> tuple[ResolvedReading, ...]:
        """The printed reading first, then the others; `wrong` is not among them."""
        return tuple(self._resolved.values())[:-1]

    def primary(self) -> ResolvedReading:
        """The reading whose verdict is the theorem's."""
        return next(reading for reading in self.all_readings() if reading.primary)

    def named(self, id: str, title: str) -> Theorem:
        """The theorem with its id and title."""
        return dataclasses.replace(self, id=id, title=title)
