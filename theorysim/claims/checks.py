"""What a theorem is made of, checked when it is made: sequences, their members, functions."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from theorysim.claims.kinds.base import Claim
from theorysim.claims.margins import place_of
from theorysim.claims.reading import Mutant, Reading, ResolvedReading
from theorysim.claims.space import Space

# What the members of each sequence are, and one as an example.
MEMBERS: dict[str, tuple[type, str]] = {
    "claims": (Claim, "at_most(...)"),
    "readings": (Reading, "corrected(...)"),
    "mutants": (Mutant, "Mutant(...)"),
}

# The functions of a run that claims have, by what an author calls them.
SIDES = {"lhs": "lhs", "rhs": "rhs", "where": "where", "probability": "at_least"}


def check_sequence(name: str, given: Any) -> None:
    """Refuse what is no sequence of claims, readings or mutants.

    Raises:
        ValueError: naming what arrived; a single one lacks the comma that makes a tuple of it.
    """
    kind, example = MEMBERS[name]
    if isinstance(given, kind):
        raise ValueError(
            f"{name} is one {type(given).__name__} and no tuple: a comma is missing, "
            f"{name}=({example},) with a comma before the last bracket"
        )
    if not isinstance(given, Sequence) or isinstance(given, str):
        raise ValueError(f"{name} = {given!r}: expected a tuple, {name}=({example},)")
    for member in given:
        if not isinstance(member, kind):
            raise ValueError(f"{name} has {member!r} among them: expected {example} only")


def check_parts(space: Any, margins: Mapping[str, Any]) -> None:
    """Refuse a space that is none, and margins without names.

    Args:
        space: that of a theorem.
        margins: what stands for its hypotheses and for its requirements.

    Raises:
        ValueError: naming what arrived.
    """
    if not isinstance(space, Space):
        raise ValueError(
            f"space is of type {type(space).__name__}: expected Space(d=Size(4), a=Real(0, 1))"
        )
    for name, given in margins.items():
        if not isinstance(given, Mapping):
            raise ValueError(
                f"{name} is of type {type(given).__name__}: expected names with margins, "
                f'{name}={{"a <= b": lambda x: x.b - x.a}}'
            )


def refuse_repeated(names: list[str], what: str) -> None:
    """ValueError where two of these have one name."""
    if len(set(names)) < len(names):
        repeated = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"two {what} of one name, {repeated!r}: {names}: rename one of them")


def check_calls(reading: ResolvedReading) -> None:
    """Refuse what is no function, and functions that do not take what they are called with.

    Raises:
        ValueError: naming the function, its reading and its arguments.
    """
    functions = {"simulate": (reading.simulate, "x, key"), "predict": (reading.predict, "x")}
    for name, margin in reading.hypotheses.items():
        functions[f"hypothesis {name!r}"] = margin, "x"
    for claim in reading.claims:
        for side, name in SIDES.items():
            if getattr(claim, side, None) is not None:
                functions[f"{name} of claim {claim.name!r}"] = getattr(claim, side), "r"
    for name, (function, arguments) in functions.items():
        _check_call(f"reading {reading.name!r}: {name}", function, arguments)


def _check_call(what: str, function: Any, arguments: str) -> None:
    if not callable(function):
        raise ValueError(
            f"{what} is {function!r}: expected a function, lambda {arguments}: {function!r}"
        )
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # compiled functions need not tell
        return
    try:
        signature.bind(*arguments.split(", "))
    except TypeError as error:
        place = place_of(function)
        defined = f" (defined at {place})" if place else ""
        raise ValueError(f"{what} is called as f({arguments}): {error}{defined}") from None
