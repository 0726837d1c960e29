"""What every kind of claim is: two sides of a run, and a judge of what was measured of them."""

from __future__ import annotations

import abc
import dataclasses
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from itertools import pairwise
from typing import Any, ClassVar, TypeVar

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from theorysim.claims.evidence import Evidence, Judgement
from theorysim.claims.margins import is_met, margin_entries, place_of
from theorysim.claims.run import Run
from theorysim.errors import UsageError

Side = Callable[[Run], Any]
# Rungs by the field or size that climbs them.
Rungs = Mapping[str, tuple[float, ...]]
AnyClaim = TypeVar("AnyClaim", bound="Claim")

# What is wrong with a margin that is a comparison.


# What the left side must be of the right one by `relation`, and what if the claim is strict.
RELATIONS = {
    "at_most": ("at most", "below"),
    "at_least": ("at least", "above"),
    "equal": ("equal to", "equal to"),
}


class Attack(Enum):
    """How the falsifier goes about a claim."""

    SEARCH = auto()  # one instance can violate it: search for the worst one
    RESAMPLE = auto()  # many runs decide it together: verify it on ever new draws
    ENLARGE = auto()  # verify it on new draws, then search for the largest ratio of its sides


@dataclass(frozen=True, eq=False)
class Claim(abc.ABC):
    """A relation between two sides; a subclass is a kind, and says how it is checked.

    Attributes:
        name: what reports call it; claims of mutants and readings are matched by it.
        lhs, rhs: the sides, functions of a run; their shapes broadcast.
        where: a signed margin; the claim speaks only of points where it is >= 0, or above 0 where
            it is `strict(margin)`.
        statement: the formula as printed, for reports.
        strict: for inequalities, whether equality violates them.
        over: the ladders that the claim climbs, by their variable.
        printed: whether the paper says it; else it is a check of ours beside what it says.

    Class attributes:
        kind: the name of the kind.
        attack: how the falsifier goes about it.
        relation: what a certifier decides at a point: "equal", "at_most", "at_least", or None
            where no single instance decides.
        has_slack: whether a point compares the sides (a sweep then shows the slack).
        has_contrasts: whether what it resolves is measured on its mutants.
        averages_keys: whether it is about many runs of one instance, so that it needs several keys.
        ratio_limit: the largest lhs / rhs at which the claim holds; NaN where no ratio tells.
        labels: what a picture calls the left and the right side.
    """

    name: str
    lhs: Side
    rhs: Side
    where: Side | None = None
    statement: str = ""
    strict: bool = False
    over: Rungs = field(default_factory=dict)
    printed: bool = field(default=True, kw_only=True)

    kind: ClassVar[str]
    attack: ClassVar[Attack]
    relation: ClassVar[str | None] = None
    has_slack: ClassVar[bool] = True
    has_contrasts: ClassVar[bool] = False
    averages_keys: ClassVar[bool] = False
    ratio_limit: ClassVar[float] = math.nan
    labels: ClassVar[tuple[str, str]] = ("left side", "right side")

    @abc.abstractmethod
    def judge(self, evidence: Evidence) -> Judgement:
        """The verdict, from what was measured on all instances and ladders (at least one row)."""

    @abc.abstractmethod
    def slack(self, lhs: Any, rhs: Any) -> Any:
        """Signed room, of NumPy's or JAX's arrays: negative where the relation is violated."""

    def bounded_and_bound(self, lhs: Any, rhs: Any) -> tuple[Any, Any]:
        """The side that must be the smaller one, and the other."""
        return lhs, rhs

    def printed_probability(self, run: Run) -> Any:
        """The probability that the claim prints; 0 where it prints none."""
        return jnp.zeros(())

    def sides(self, run: Run) -> tuple[Float[Array, "*points"], Float[Array, "*points"]]:
        """Both sides in a common shape.

        Raises:
            UsageError: for sides that are not arrays of real numbers, or whose shapes do not go
                together.
        """
        found = self.lhs(run), self.rhs(run)
        try:
            sides = [jnp.asarray(side) for side in found]
            if any(isinstance(side, bool) for side in found):
                raise UsageError(
                    f"{self._place()}claim {self.name!r}: a side is True or False; give the two "
                    "numbers that are compared, one a side"
                )
            if any(jnp.iscomplexobj(side) for side in sides):
                raise UsageError(
                    f"{self._place()}claim {self.name!r}: a side is complex, which has no order; "
                    "compare its real and imaginary parts, or its modulus"
                )
            lhs, rhs = (side.astype(float) for side in sides)
            shape = jnp.broadcast_shapes(lhs.shape, rhs.shape)
        except UsageError:
            raise
        except OverflowError:
            raise UsageError(
                f"{self._place()}claim {self.name!r}: a side is an integer of more than 64 bits; "
                "make it a float"
            ) from None
        except (TypeError, ValueError):
            what = " and ".join(str(getattr(side, "shape", type(side).__name__)) for side in found)
            raise UsageError(
                f"{self._place()}claim {self.name!r}: its sides are {what}; expected arrays of "
                f"shapes that go together {_hint(run)}"
            ) from None
        if self.averages_keys and shape[:1] != (run.keys,):
            raise UsageError(
                f"{self._place()}claim {self.name!r}: its sides have shape {shape}; expected them "
                f"to lead with the axis of the {run.keys} keys"
            )
        return jnp.broadcast_to(lhs, shape), jnp.broadcast_to(rhs, shape)

    def _place(self) -> str:
        """Where the left side is written, as the beginning of a message; "" if nobody knows."""
        place = place_of(self.lhs)
        return f"{place}: " if place else ""

    def applies(self, run: Run, shape: tuple[int, ...]) -> Bool[Array, "*points"]:
        """At which points of this shape the claim says something."""
        if self.where is None:
            return jnp.ones(shape, bool)
        margin = self.margin(run)
        try:
            return jnp.broadcast_to(is_met(self.where, margin), shape)
        except ValueError:
            whose = f"{self._place()}claim {self.name!r}: `where`"
            raise UsageError(
                f"{whose} has shape {margin.shape}, its sides {shape}; give one number, or one for "
                f"each of their entries {_hint(run)}"
            ) from None

    def margin(self, run: Run) -> Array:
        """The entries of its condition, which it must have."""
        assert self.where is not None
        whose = f"{self._place()}claim {self.name!r}: `where`"
        return margin_entries(self.where(run), whose)

    def scaled(self: AnyClaim, factor: float) -> AnyClaim:
        """A mutant: the same claim with `factor` times the right side."""
        rhs = self.rhs
        return dataclasses.replace(self, rhs=lambda r: factor * jnp.asarray(rhs(r)))

    def against(self: AnyClaim, rhs: Side) -> AnyClaim:
        """A mutant: the same claim with another right side."""
        return dataclasses.replace(self, rhs=rhs)


def _hint(run: Run) -> str:
    """What usually keeps the shapes of sides apart."""
    if isinstance(run.theory, tuple) and not run.theory:
        return "(r.theory is empty: the theorem has no `predict`)"
    if run.keys > 1:
        return f"(arrays of r.sim lead with the axis of the {run.keys} keys)"
    return "(a path of `descend` leads with its `steps + 1` times)"


def check_rungs(name: str, over: Rungs) -> None:
    """Refuse ladders that are too short, not positive, or not monotone.

    Raises:
        ValueError: naming the claim and the rungs.
    """
    for variable, rungs in over.items():
        if len(rungs) < 3:
            raise ValueError(f"{name}: a ladder in {variable} needs at least three rungs")
        steps = {b > a for a, b in pairwise(rungs)}
        if min(rungs) <= 0 or len(steps) > 1 or len(set(rungs)) < len(rungs):
            raise ValueError(
                f"{name}: the rungs {rungs} of {variable} must be positive and go one way"
            )


def only_ladder(name: str, over: Rungs) -> None:
    """Refuse anything but one ladder.

    Raises:
        ValueError: naming the claim and its variables.
    """
    if len(over) != 1:
        raise ValueError(f"{name}: expected one ladder, over={{variable: rungs}}, not {list(over)}")
    check_rungs(name, over)
