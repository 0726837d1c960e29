"""Real numbers known up to a ball of python-flint."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping

from flint import arb

from theorysim.enclosures.arithmetic.base import Arithmetic
from theorysim.enclosures.arithmetic.numbers import UNDEFINED

# 2^(2^40) has the digits of a disk.
MOST = 2**64


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


def whole(a: arb) -> int | None:
    """The only integer in a ball, if there is one, and a machine could hold it."""
    found = a.unique_fmpz() if abs(a) < MOST else None
    return None if found is None else int(found)


def _power(a: arb, n: int) -> arb:
    if not a.is_finite():
        return UNDEFINED
    if n < 0:
        return 1 / a**-n
    return a if n == 1 else a**n


def _real_power(a: arb, b: arb) -> arb:
    exponent = whole(b)
    if exponent is not None and b == exponent:
        return _power(a, exponent)
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
