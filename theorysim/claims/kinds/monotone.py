"""Sequences that grow or fall: every entry against the one before it, along the last axis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import jax.numpy as jnp

from theorysim.claims.kinds.base import Side
from theorysim.claims.kinds.inequality import Inequality


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


def _all_but_last(sequence: Side) -> Side:
    return lambda r: jnp.asarray(sequence(r))[..., :-1]


def _all_but_first(sequence: Side) -> Side:
    return lambda r: jnp.asarray(sequence(r))[..., 1:]


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
    sides = _all_but_last(sequence), _all_but_first(sequence)
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
    sides = _all_but_last(sequence), _all_but_first(sequence)
    return Decreasing(name, *sides, where, statement, strict)
