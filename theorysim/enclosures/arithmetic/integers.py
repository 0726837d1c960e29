"""Integers, which are exact: what a machine would wrap around is left to who stores them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping


def _quotient(a: int, b: int) -> int:
    """Rounded towards zero, as machines do."""
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


INTEGERS: Mapping[str, Callable] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "neg": operator.neg,
    "abs": abs,
    "max": max,
    "min": min,
    "sign": lambda a: (a > 0) - (a < 0),
    "div": _quotient,
    "rem": lambda a, b: a - b * _quotient(a, b),
    "shift_left": operator.lshift,
}
