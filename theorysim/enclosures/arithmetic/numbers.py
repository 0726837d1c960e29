"""Which real numbers the floats of a formula and of an instance stand for.

A float that is printed with at most half of its type's decimal digits (8 in double precision)
stands for that decimal: 0.1 is 1/10. A longer one is taken for the result of a computation, as of
Python or NumPy before JAX traces: (1 / 49) * 49 is 1 there but for its last bit.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from flint import arb, fmpq

# Doubles hold every integer up to this one.
EXACT_INTEGERS = 2**53

# By how many units of its last place a computed float may err. A constant is made in a few steps,
# each of which errs by half a unit; more would hide what formulas resolve (16 units) behind pi.
COMPUTED = 4

UNDEFINED = arb("nan")


def short_decimal(value: float | np.floating) -> fmpq | None:
    """The decimal of few digits, or the integer, that a finite float stands for, if any."""
    text = np.format_float_scientific(value, unique=True, trim="-")
    return _short_decimal(text, (np.finfo(type(value)).precision + 1) // 2)


@lru_cache(maxsize=4096)
def _short_decimal(text: str, most_digits: int) -> fmpq | None:
    fraction = Fraction(text)
    digits = text.split("e")[0].lstrip("-").replace(".", "")
    whole = fraction.denominator == 1 and abs(fraction) <= EXACT_INTEGERS
    if not whole and len(digits) > most_digits:
        return None
    return fmpq(fraction.numerator, fraction.denominator)


def exact_number(value: float) -> fmpq:
    """The number that a float of an instance stands for: its short decimal, else its own bits."""
    decimal = short_decimal(float(value))
    return fmpq(*float(value).as_integer_ratio()) if decimal is None else decimal


def literal(value: Any) -> arb:
    """The enclosure of a float that stands in a formula: its short decimal, else some ulps."""
    scalar: Any = np.asarray(value)[()]
    if np.isnan(scalar):
        return UNDEFINED
    if np.isinf(scalar):
        return arb("inf") if scalar > 0 else arb("-inf")
    decimal = short_decimal(scalar)
    if decimal is not None:
        return arb(decimal)
    ulps = COMPUTED * arb(float(np.spacing(np.abs(scalar))))
    return arb(float(scalar)) + ulps * arb(0, 1)
