"""What an arithmetic of enclosures provides, and logic of three values.

Formulas are read over the real numbers. A comparison is three-valued (True, False, None where the
enclosures overlap), and what is undefined (NaN) stays undefined. The same object is the same
number: this decides ties such as |x - a| <= 1 * |x - a|, which no precision decides.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from flint import arb


class Undecided(Exception):
    """The enclosures overlap where a program has to branch: more precision or smaller boxes."""


@dataclass(frozen=True)
class Arithmetic:
    """Enclosures of real numbers, and what a program does with them.

    Attributes:
        lift: an enclosure from a ball.
        functions: elementwise functions by the name of their primitive; an argument outside the
            domain gives an undefined enclosure.
        power: integer powers, of any sign.
        at_most: whether a <= b certainly (True), certainly not (False) or perhaps (None).
        hull: an enclosure of both.
        is_finite: whether the enclosure is defined and bounded.
        ball: a ball around the enclosure.
    """

    lift: Callable[[arb], Any]
    functions: Mapping[str, Callable]
    power: Callable[[Any, int], Any]
    at_most: Callable[[Any, Any], bool | None]
    hull: Callable[[Any, Any], Any]
    is_finite: Callable[[Any], bool]
    ball: Callable[[Any], arb]


def both(a: bool | None, b: bool | None) -> bool | None:
    """Three-valued and."""
    if a is False or b is False:
        return False
    return None if a is None or b is None else True


def either(a: bool | None, b: bool | None) -> bool | None:
    """Three-valued or."""
    return negated(both(negated(a), negated(b)))


def negated(a: bool | None) -> bool | None:
    """Three-valued not."""
    return None if a is None else not a
