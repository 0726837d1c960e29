"""A theorem as an executable object: its space, what is predicted, simulated and claimed."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from theorysim.claims.checks import (
    MEMBERS,
    check_calls,
    check_parts,
    check_sequence,
    refuse_repeated,
)
from theorysim.claims.hypotheses import Assumption
from theorysim.claims.kinds.base import Claim
from theorysim.claims.margins import Margin
from theorysim.claims.reading import (
    SEPARATOR,
    Mutant,
    Predict,
    Reading,
    ResolvedReading,
    Simulate,
    mutate,
    nothing,
)
from theorysim.claims.source import Printed, Source
from theorysim.claims.space import Space

# The source of a statement whose file does not say where it is printed.
UNPLACED = Printed("", "")


@dataclass(frozen=True, eq=False)
class Theorem:
    """A statement of a paper that can be verified, falsified and swept.

    Attributes:
        space: the instances.
        simulate: `simulate(x, key)`, the real thing: steps the paper's loss. Pure, jit- and
            vmap-able; it never uses the theory.
        claims: what is printed (the reading named `printed`).
        predict: `predict(x)`, the theory; it never calls the simulation.
        assumes: assumptions that it shares with other statements.
        hypotheses: named signed margins, >= 0 where satisfied, > 0 where `strict`.
        requirements: named numbers that the hypotheses ask for.
        source: where its own reading is printed.
        note: on its own reading.
        readings: further readings.
        mutants: small false variants; every claim of the primary reading, and of every printed
            reading that holds, must refute one of them.
        survivors: why a claim refutes none, by the claim's name.
        printed: name of the theorem's own reading.
        keys: how many independent simulations each instance gets. With one, `r.sim` is what
            `simulate` returns; with more, its arrays lead with the axis of keys, and claims with
            `r.mean` need a multiple of 64.
        instances: how many instances `verify` checks by default.
        mutant_instances: how many instances a mutant is tried on.
        integrates: predict or simulate integrate an ODE with `tolerance_scale=x.tolerance_scale`,
            whose error a second, coarser run measures.
        aliases: other numbers of the same statement, such as the appendix's.

    Raises:
        ValueError: for no claims, two of one name, no or several primary readings, a ladder over
            an unknown variable, and mutants or survivors of what is not there.
    """

    space: Space
    simulate: Simulate
    claims: tuple[Claim, ...]
    predict: Predict = nothing
    assumes: tuple[Assumption, ...] = ()
    hypotheses: Mapping[str, Margin] = field(default_factory=dict)
    requirements: Mapping[str, Margin] = field(default_factory=dict)
    source: Source = UNPLACED
    note: str = ""
    readings: tuple[Reading, ...] = ()
    mutants: tuple[Mutant, ...] = ()
    survivors: Mapping[str, str] = field(default_factory=dict)
    printed: str = "as printed"
    keys: int = 1
    instances: int = 64
    mutant_instances: int = 64
    integrates: bool = False
    aliases: tuple[str, ...] = ()
    id: str = ""
    title: str = ""

    def __post_init__(self):
        margins = ("hypotheses", "requirements")
        check_parts(self.space, {name: getattr(self, name) for name in margins})
        for name in MEMBERS:
            check_sequence(name, getattr(self, name))
        for reading in self.readings:
            if reading.claims is not None:
                check_sequence("claims", reading.claims)
        for mutant in self.mutants:
            if mutant.claims is not None:
                check_sequence("claims", mutant.claims)
        for reading in (self, *self.readings):
            if not hasattr(reading.source, "kind"):
                raise ValueError(
                    f"source {reading.source!r}: expected Printed(place, words), Corrected(change) "
                    "or Finding(about)"
                )
        for name in ("keys", "instances", "mutant_instances"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} = {getattr(self, name)}: expected at least 1")
        refuse_repeated([self.printed, *(reading.name for reading in self.readings)], "readings")
        readings = self.all_readings()
        if sum(reading.primary for reading in readings) != 1:
            raise ValueError(
                "exactly one reading is primary (the printed one unless one is marked)"
            )
        for reading in readings:
            if not reading.claims:
                raise ValueError(
                    f"reading {reading.name!r} has no claims: it says nothing; give "
                    'claims=(at_most("name", lambda r: ..., lambda r: ...),)'
                )
            refuse_repeated([claim.name for claim in reading.claims], f"claims of {reading.name}")
            check_calls(reading)
            self._check_ladders(reading)
            self._check_keys(reading)
        self._check_mutants(readings)

    def _check_ladders(self, reading: ResolvedReading) -> None:
        known = {*self.space.sizes, *self.space.fields}
        for claim in reading.claims:
            unknown = set(claim.over) - known
            if unknown:
                raise ValueError(
                    f"{claim.name}: a ladder over {min(unknown)!r}, which is not a size or field "
                    f"of the space; it has {sorted(known)}"
                )

    def _check_keys(self, reading: ResolvedReading) -> None:
        for claim in reading.claims:
            if claim.averages_keys and self.keys == 1:
                raise ValueError(f"{claim.name}: a probability over one key; set keys=512, say")

    def _check_mutants(self, readings: tuple[ResolvedReading, ...]) -> None:
        names = [*(reading.name for reading in readings), *(mutant.name for mutant in self.mutants)]
        refuse_repeated(names, "readings and mutants")
        for name in names:
            if SEPARATOR in name:
                raise ValueError(f"{name!r}: {SEPARATOR!r} stands between readings and mutants")
        for mutant in self.mutants:
            refuse_repeated([claim.name for claim in mutant.claims or ()], mutant.name)
            refuse_repeated(list(mutant.of), f"readings of {mutant.name}")
            unknown = set(mutant.of) - {reading.name for reading in readings}
            if unknown:
                raise ValueError(
                    f"mutant {mutant.name!r} of {min(unknown)!r}, which is not a reading"
                )
            claims = {c.name for reading in self.mutates(mutant) for c in reading.claims}
            lost = ({claim.name for claim in mutant.claims or ()} | set(mutant.breaks)) - claims
            if lost:
                raise ValueError(
                    f"mutant {mutant.name!r} is about {min(lost)!r}, which is not a claim of the "
                    f"readings that it varies; they have {sorted(claims)}"
                )
            for reading in self.mutates(mutant):
                self._check_ladders(mutate(reading, mutant))
                self._check_keys(mutate(reading, mutant))
        every = {claim.name for reading in readings for claim in reading.claims}
        if set(self.survivors) - every:
            raise ValueError(f"survivors: {min(set(self.survivors) - every)!r} is not a claim")

    @cached_property
    def _resolved(self) -> dict[str, ResolvedReading]:
        """Resolved once: compiled programs are remembered by their readings."""
        primary = not any(reading.primary for reading in self.readings)
        own = Reading(self.printed, self.source, primary=primary, note=self.note)
        return {reading.name: self._resolve(reading) for reading in (own, *self.readings)}

    def _resolve(self, reading: Reading) -> ResolvedReading:
        names = [part.name for part in dataclasses.fields(ResolvedReading)]
        values = {name: getattr(reading, name) for name in names}
        filled = {name: getattr(self, name) if v is None else v for name, v in values.items()}
        for part in ("hypotheses", "requirements"):
            filled[part] = _joined([*(getattr(a, part) for a in filled["assumes"]), filled[part]])
        return ResolvedReading(**filled)

    def all_readings(self) -> tuple[ResolvedReading, ...]:
        """The printed reading first, then the others."""
        return tuple(self._resolved.values())

    def reading(self, name: str) -> ResolvedReading:
        """The reading of that name; KeyError where there is none."""
        return self._resolved[name]

    def primary(self) -> ResolvedReading:
        """The reading whose verdict is the theorem's."""
        return next(reading for reading in self.all_readings() if reading.primary)

    def mutates(self, mutant: Mutant) -> tuple[ResolvedReading, ...]:
        """The readings that a mutant varies."""
        if not mutant.of:
            return (self.primary(),)
        return tuple(self.reading(name) for name in mutant.of)

    def variants(self) -> dict[str, ResolvedReading]:
        """Every mutant applied to every reading that it varies, by "reading | mutant".

        One that varies a single reading answers to its own name, too.
        """
        found = {}
        for mutant in self.mutants:
            varied = [mutate(reading, mutant) for reading in self.mutates(mutant)]
            found |= {reading.name: reading for reading in varied}
            if len(varied) == 1:
                found[mutant.name] = varied[0]
        return found

    def mutants_of(self, reading: ResolvedReading) -> dict[Mutant, ResolvedReading]:
        """The mutants of a reading, each with the reading as it makes it; a mutant has none."""
        own = self._resolved.get(reading.name)
        if own is None:
            return {}
        found = {m: mutate(own, m) for m in self.mutants if own in self.mutates(m)}
        names = {claim.name for claim in reading.claims}
        return {mutant: variant.only(names) for mutant, variant in found.items()}

    def with_id(self, id: str, title: str) -> Theorem:
        """The theorem with its id and title."""
        return dataclasses.replace(self, id=id, title=title)

    def with_keys(self, keys: int) -> Theorem:
        """The theorem with so many keys; its readings, and their mutants, are the same objects."""
        several = dataclasses.replace(self, keys=keys)
        several.__dict__["_resolved"] = self._resolved
        return several


def _joined(parts: list[Mapping[str, Margin]]) -> dict[str, Margin]:
    """Margins of several assumptions; one name for two different ones would hide the first."""
    found: dict[str, Margin] = {}
    for name, margin in (item for part in parts for item in part.items()):
        if found.setdefault(name, margin) is not margin:
            raise ValueError(f"two different margins are called {name!r}: rename one of them")
    return found
