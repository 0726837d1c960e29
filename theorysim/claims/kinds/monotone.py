"""Sequences that grow or fall: every entry against the one before it, along the last axis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import jax.numpy as jnp
from jaxtyping import Array

from theorysim.claims.kinds.base import Side
from theorysim.claims.kinds.inequality import Inequality
from theorysim.claims.margins import place_of
from theorysim.claims.run import Run
from theorysim.errors import UsageError


@dataclass(frozen=True, eq=False)
class Increasing(Inequality):
    """Every entry (lhs) is at most the next one (rhs)."""

    kind: ClassVar[str] = "increasing"
    relation: ClassVar[str | None] = "at_most"
    upper: ClassVar[bool] = True
    labels: ClassVar[tuple[str, str]] = ("entry", "next entry")


@dataclass(frozen=True, eq=False)
class Decreasing(Inequality):
    """Every entry (lhs) is at least the next one (rhs)."""

    kind: ClassVar[str] = "decreasing"
    relation: ClassVar[str | None] = "at_least"
    upper: ClassVar[bool] = False
    labels: ClassVar[tuple[str, str]] = ("entry", "next entry")


def _all_but_last(name: str, sequence: Side) -> Side:
    return lambda r: _entries(name, sequence, r)[..., :-1]


def _all_but_first(name: str, sequence: Side) -> Side:
    return lambda r: _entries(name, sequence, r)[..., 1:]


def _entries(name: str, sequence: Side, run: Run) -> Array:
    """The sequence of a run; UsageError where it is no array, or has no axis to grow along."""
    given = sequence(run)
    try:
        entries = jnp.asarray(given)
    except (TypeError, ValueError):
        entries = None
    if entries is None or not entries.ndim:
        what = type(given).__name__ if entries is None else "one number"
        place = place_of(sequence)
        claim = f"{place}: claim {name!r}" if place else f"claim {name!r}"
        raise UsageError(
            f"{claim}: expected a sequence along the last axis, but {what} arrived: give the whole "
            "path, as an array"
        )
    return entries


def increasing(
    name: str,
    sequence: Side,
    *,
    strict: bool = False,
    where: Side | None = None,
    statement: str = "",
) -> Increasing:
    """Every entry along the last axis is at least (`strict`: above) the one before it.

    `where` has one entry per step, so one less than the sequence.
    """
    sides = _all_but_last(name, sequence), _all_but_first(name, sequence)
    return Increasing(name, *sides, where, statement, strict)


def decreasing(
    name: str,
    sequence: Side,
    *,
    strict: bool = False,
    where: Side | None = None,
    statement: str = "",
) -> Decreasing:
    """Every entry along the last axis is at most (`strict`: below) the one before it."""
    sides = _all_but_last(name, sequence), _all_but_first(name, sequence)
    return Decreasing(name, *sides, where, statement, strict)
