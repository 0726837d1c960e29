"""What is asked of a theorem: which readings, at which sizes and values, under which seed."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from theorysim.claims.experiment import Experiment
from theorysim.claims.instance import SizeItems
from theorysim.claims.reading import ResolvedReading
from theorysim.claims.theorem import Theorem
from theorysim.errors import UsageError


@dataclass(frozen=True)
class Settings:
    """What the user fixes: sizes (all of them) and values of some fields."""

    sizes: Mapping[str, int]
    values: Mapping[str, np.ndarray]

    @property
    def size_items(self) -> SizeItems:
        """Sizes in a hashable form."""
        return tuple(self.sizes.items())


@dataclass(frozen=True)
class Setup:
    """A theorem with the readings that are looked at, the settings and the seed."""

    theorem: Theorem
    readings: tuple[ResolvedReading, ...]
    settings: Settings
    seed: int = 0

    def __str__(self) -> str:
        sizes = ", ".join(f"{name} = {number}" for name, number in self.settings.sizes.items())
        return self.theorem.id + (f" with {sizes}" if sizes else "")

    def at(self, settings: Settings) -> Setup:
        """The same at other settings."""
        return dataclasses.replace(self, settings=settings)

    def of(self, *readings: ResolvedReading) -> Setup:
        """The same with other readings."""
        return dataclasses.replace(self, readings=readings)


def refuse_experiment(theorem: Theorem, what: str) -> None:
    """Raise UsageError where it is an experiment, of which `what` cannot be said."""
    if isinstance(theorem, Experiment):
        raise UsageError(
            f"{theorem.id} is an experiment, which cannot be {what}: `theorysim reproduce "
            f"{theorem.id}` runs it, with --runs and --seed for more of it"
        )


def find_reading(theorem: Theorem, name: str | None) -> ResolvedReading:
    """The theorem's own reading of that name; the primary one without a name.

    Raises:
        UsageError: listing the readings there are.
    """
    if name is None:
        return theorem.primary()
    known = {reading.name: reading for reading in theorem.all_readings()}
    if name not in known:
        nulls = [mutant.name for mutant in theorem.mutants]
        told = f" and the nulls {nulls}" if isinstance(theorem, Experiment) else ""
        raise UsageError(f"{theorem.id} has no reading {name!r}; it has {list(known)}{told}")
    return known[name]


def select_readings(
    theorem: Theorem, name: str | None, claims: str | Collection[str] | None = None
) -> tuple[ResolvedReading, ...]:
    """All readings, or the one (or the mutant) of that name; of their claims all, or the named.

    Raises:
        UsageError: listing the names there are.
    """
    readings = theorem.all_readings()
    if name is not None:
        own = {reading.name for reading in readings}
        mutant = None if name in own else theorem.variants().get(name)
        readings = (mutant or find_reading(theorem, name),)
    if claims is None:
        return readings
    claims = [claims] if isinstance(claims, str) else claims
    known = sorted({claim.name for reading in readings for claim in reading.claims})
    if not claims:
        raise UsageError(f"no claim is named: {theorem.id} has {known}")
    for claim in claims:
        if claim not in known:
            raise UsageError(f"{theorem.id} has no claim {claim!r}; it has {known}")
    return tuple(reading for reading in (r.only(claims) for r in readings) if reading.claims)


def parse_settings(theorem: Theorem, given: Mapping[str, Any]) -> Settings:
    """Checked sizes and values; text is read as JSON.

    Raises:
        UsageError: for an unknown name, or a value out of range, with what would be accepted.
    """
    space = theorem.space
    parsed = {name: _parse(name, value) for name, value in given.items()}
    for name in parsed:
        if name not in space.sizes and name not in space.fields:
            raise unknown_name(theorem, name)
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


def unknown_name(theorem: Theorem, name: str) -> UsageError:
    """The error for a name that is neither a size nor a field, with those there are."""
    sizes, fields = (
        ", ".join(part) or "none" for part in (theorem.space.sizes, theorem.space.fields)
    )
    return UsageError(
        f"{name!r} is not a size or field of {theorem.id}; sizes: {sizes}; fields: {fields}"
    )


def _parse(name: str, value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (json.JSONDecodeError, RecursionError):
        raise UsageError(f"{name} = {value}: expected a number or a JSON list") from None
