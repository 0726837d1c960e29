"""Real numbers known up to a ball of python-flint, and what an arithmetic of enclosures provides.

Formulas are read over the real numbers. A comparison is three-valued (True, False, None where the
enclosures overlap), and what is undefined (NaN) stays undefined. The same object is the same
number: this decides ties such as |x - a| <= 1 * |x - a|, which no precision decides.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from theorysim.errors import UsageError

try:
    from flint import arb, fmpq
except ImportError as missing:
    raise UsageError("certificates need python-flint: pip install python-flint") from missing

# A float that is printed with at most half of its type's decimal digits (8 in double precision)
# stands for that decimal: 0.1 is 1/10. A longer one is taken for the result of a computation.
EXACT_INTEGERS = 2**53

UNDEFINED = arb("nan")


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
    """The enclosure of a float that stands in a formula: its short decimal, else half an ulp."""
    scalar: Any = np.asarray(value)[()]
    if np.isnan(scalar):
        return UNDEFINED
    if np.isinf(scalar):
        return arb("inf") if scalar > 0 else arb("-inf")
    decimal = short_decimal(scalar)
    if decimal is not None:
        return arb(decimal)
    half_ulp = arb(float(np.spacing(np.abs(scalar)))) / 2
    return arb(float(scalar)) + half_ulp * arb(0, 1)


def at_most(a: arb, b: arb) -> bool | None:
    """Whether a <= b."""
    if a is b:
        return True if a.is_finite() else None
    if a <= b:
        return True
    return False if b < a else None


def _picked(first: bool | None, a: arb, b: arb, hull: Callable[[arb, arb], arb]) -> arb:
    """The same object where it is certain which one it is."""
    if first is None:
        return hull(a, b)
    return a if first else b


def _add(a: arb, b: arb) -> arb:
    if a == 0:
        return b
    return a if b == 0 else a + b


def _sub(a: arb, b: arb) -> arb:
    if a is b and a.is_finite():
        return arb(0)
    return a if b == 0 else a - b


def _mul(a: arb, b: arb) -> arb:
    if a == 1:
        return b
    return a if b == 1 else a * b


def _div(a: arb, b: arb) -> arb:
    if a is b and a.is_finite() and a != 0:
        return arb(1)
    return a if b == 1 else a / b


def _power(a: arb, n: int) -> arb:
    if not a.is_finite():
        return UNDEFINED
    if n < 0:
        return 1 / a**-n
    return a if n == 1 else a**n


def _real_power(a: arb, b: arb) -> arb:
    exponent = b.unique_fmpz()
    if exponent is not None and b == exponent:
        return _power(a, int(exponent))
    return a**b if a >= 0 else UNDEFINED


def _cube_root(a: arb) -> arb:
    if a == 0:
        return a
    return -((-a).root(3)) if a < 0 else a.root(3)


def angle(a: arb, b: arb) -> arb:
    """The angle of the point (b, a)."""
    return a.atan2(a, b)  # python-flint made it a method without a self


def _defined(function: Callable[..., arb]) -> Callable[..., arb]:
    """Undefined where an argument is: Arb encloses the sine of NaN by [-1, 1]."""

    def guarded(*numbers: arb) -> arb:
        return function(*numbers) if all(a.is_finite() for a in numbers) else UNDEFINED

    return guarded


def _of_arb(*names: str) -> dict[str, Callable]:
    return {name: getattr(arb, name) for name in names}


UNARY: Mapping[str, Callable[[arb], arb]] = {
    **_of_arb("exp", "expm1", "log", "log1p", "sqrt", "rsqrt", "sin", "cos", "tan"),
    **_of_arb("asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh"),
    **_of_arb("erf", "erfc"),
    "erf_inv": arb.erfinv,
    "exp2": lambda a: (a * arb(2).log()).exp(),
    "cbrt": _cube_root,
    "logistic": lambda a: 1 / (1 + (-a).exp()),
    "sign": arb.sgn,
    "floor": arb.floor,
    "ceil": arb.ceil,
}

BALLS = Arithmetic(
    lift=lambda ball: ball,
    functions={
        **{name: _defined(function) for name, function in UNARY.items()},
        "add": _add,
        "sub": _sub,
        "mul": _mul,
        "div": _div,
        "neg": operator.neg,
        "abs": abs,
        "max": lambda a, b: _picked(at_most(a, b), b, a, arb.max),
        "min": lambda a, b: _picked(at_most(a, b), a, b, arb.min),
        "pow": _defined(_real_power),
        "atan2": _defined(angle),
    },
    power=_power,
    at_most=at_most,
    hull=arb.union,
    is_finite=arb.is_finite,
    ball=lambda ball: ball,
)
