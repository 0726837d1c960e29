"""The kinds of claims. A claim's sides are functions of a `Run`; its kind picks the check."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import pairwise
from typing import Any

import jax.numpy as jnp
from jaxtyping import Array

from theorysim.claims.run import Run

Side = Callable[[Run], Any]

# What is wrong with a margin that is a comparison.
TRUTH = "is true or false; give a number that is >= 0 where it holds: `b - a` for `a <= b`"


class Kind(StrEnum):
    """What a claim says of its two sides."""

    EQUAL = "equal"
    AT_MOST = "at_most"
    AT_LEAST = "at_least"
    INCREASING = "increasing"
    DECREASING = "decreasing"
    SCALES_AS = "scales_as"
    TENDS_TO = "tends_to"
    WITH_PROBABILITY = "with_probability"
    EXISTS_CONSTANT = "exists_constant"


@dataclass(frozen=True, eq=False)
class Claim:
    """A relation between two sides, made by the functions below.

    Attributes:
        lhs, rhs: the sides, functions of a run; their shapes broadcast.
        strict: an inequality in which equality is not allowed.
        given: a signed margin; the claim speaks only of points where it is >= 0.
        probability: for `with_probability`, the printed probability as a function of the run.
        ladders: for claims over a ladder, the rungs of every quantified variable (a field or a
            size of the space).
        exponent, relation: for `scales_as`, the printed power and how the measured one relates
            to it ("equal", "at_most", "at_least").
        statement: the formula as printed, for reports.
    """

    name: str
    kind: Kind
    lhs: Side
    rhs: Side
    strict: bool = False
    given: Side | None = None
    probability: Side | None = None
    ladders: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    exponent: float = 0.0
    relation: str = "equal"
    statement: str = ""

    def __post_init__(self):
        if self.relation not in ("equal", "at_most", "at_least"):
            raise ValueError(f"relation {self.relation!r}: expected equal, at_most or at_least")
        for variable, rungs in self.ladders.items():
            if len(rungs) < 3:
                raise ValueError(f"{self.name}: a ladder in {variable} needs at least three rungs")
            steps = {b > a for a, b in pairwise(rungs)}
            if min(rungs) <= 0 or len(steps) > 1 or len(set(rungs)) < len(rungs):
                raise ValueError(
                    f"{self.name}: the rungs {rungs} of {variable} must be positive and go one way"
                )
        if self.kind is Kind.EXISTS_CONSTANT and not self.ladders:
            raise ValueError(f"{self.name}: name what the constant must not depend on in `over`")


def equal(
    name: str, lhs: Side, rhs: Side, *, given: Side | None = None, statement: str = ""
) -> Claim:
    """lhs = rhs at every point."""
    return Claim(name, Kind.EQUAL, lhs, rhs, given=given, statement=statement)


def at_most(
    name: str,
    lhs: Side,
    rhs: Side,
    *,
    strict: bool = False,
    given: Side | None = None,
    statement: str = "",
) -> Claim:
    """lhs <= rhs at every point (`strict`: lhs < rhs)."""
    return Claim(name, Kind.AT_MOST, lhs, rhs, strict, given, statement=statement)


def at_least(
    name: str,
    lhs: Side,
    rhs: Side,
    *,
    strict: bool = False,
    given: Side | None = None,
    statement: str = "",
) -> Claim:
    """lhs >= rhs at every point (`strict`: lhs > rhs)."""
    return Claim(name, Kind.AT_LEAST, lhs, rhs, strict, given, statement=statement)


def _all_but_last(sequence: Side) -> Side:
    return lambda r: jnp.asarray(sequence(r))[..., :-1]


def _all_but_first(sequence: Side) -> Side:
    return lambda r: jnp.asarray(sequence(r))[..., 1:]


def increasing(
    name: str,
    sequence: Side,
    *,
    strict: bool = False,
    given: Side | None = None,
    statement: str = "",
) -> Claim:
    """Every entry along the last axis is at least (`strict`: above) the one before it.

    `given` has one entry per step, so one less than the sequence.
    """
    before, after = _all_but_last(sequence), _all_but_first(sequence)
    return Claim(name, Kind.INCREASING, before, after, strict, given, statement=statement)


def decreasing(
    name: str,
    sequence: Side,
    *,
    strict: bool = False,
    given: Side | None = None,
    statement: str = "",
) -> Claim:
    """Every entry along the last axis is at most (`strict`: below) the one before it."""
    before, after = _all_but_last(sequence), _all_but_first(sequence)
    return Claim(name, Kind.DECREASING, before, after, strict, given, statement=statement)


def scales_as(
    name: str,
    quantity: Side,
    *,
    over: str,
    rungs: tuple[float, ...],
    exponent: float,
    relation: str = "equal",
    given: Side | None = None,
    statement: str = "",
) -> Claim:
    """A positive quantity (one number per instance) grows as `over ** exponent` over the rungs.

    `relation="at_most"` reads `O(over ** exponent)`: the fitted exponent is at most the printed.
    """
    return Claim(
        name,
        Kind.SCALES_AS,
        quantity,
        _unit,
        given=given,
        ladders={over: rungs},
        exponent=exponent,
        relation=relation,
        statement=statement,
    )


def tends_to(
    name: str,
    lhs: Side,
    rhs: Side,
    *,
    over: str,
    rungs: tuple[float, ...],
    given: Side | None = None,
    statement: str = "",
) -> Claim:
    """|lhs - rhs| (its largest entry) shrinks to zero as `over` climbs the rungs."""
    return Claim(
        name, Kind.TENDS_TO, lhs, rhs, given=given, ladders={over: rungs}, statement=statement
    )


def with_probability(
    name: str,
    lhs: Side,
    rhs: Side,
    *,
    at_least: Side,
    given: Side | None = None,
    statement: str = "",
) -> Claim:
    """P(lhs <= rhs at every point of the run) >= probability, over the keys of the simulation.

    Both sides lead with the axis of keys.
    """
    return Claim(
        name,
        Kind.WITH_PROBABILITY,
        lhs,
        rhs,
        given=given,
        probability=at_least,
        statement=statement,
    )


def exists_constant(
    name: str,
    lhs: Side,
    scale: Side,
    *,
    over: Mapping[str, tuple[float, ...]],
    given: Side | None = None,
    statement: str = "",
) -> Claim:
    """There is a constant c with lhs <= c * scale for all instances and all values of `over`.

    The smallest c per rung is reported; the claim holds where it stays bounded over the ladder of
    every quantified variable, one at a time.
    """
    return Claim(
        name, Kind.EXISTS_CONSTANT, lhs, scale, given=given, ladders=over, statement=statement
    )


def _unit(run: Run) -> Array:
    return jnp.ones(())
