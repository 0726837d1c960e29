"""Numbers over a box that know their slopes.

A `Sloped` number carries, along each coordinate, an interval around its slopes over the whole box:
they tell where a function is monotone and bound its range by the mean value theorem. Kinks are
allowed (the hull of both slopes bounds every difference quotient of |x|, max and min); where a
function may jump its slopes are undefined.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache

from flint import arb

from theorysim.enclosures.arithmetic.base import Arithmetic
from theorysim.enclosures.arithmetic.intervals import (
    INTERVAL_FUNCTIONS,
    NOWHERE,
    ONE,
    ZERO,
    Interval,
    add,
    at_most,
    div,
    hull,
    interval,
    larger,
    mul,
    neg,
    power,
    real_power,
    sign,
    smaller,
    sub,
)


@dataclass(frozen=True, slots=True, eq=False)
class Sloped:
    """The range of a function over a box, and of its slope along each coordinate.

    None stands for a slope that is zero because the coordinate does not enter.
    """

    value: Interval
    slopes: tuple[Interval | None, ...]


F = INTERVAL_FUNCTIONS


def _one_minus_square(x: Interval) -> Interval:
    return mul(sub(ONE, x), add(ONE, x))


def _one_plus_square(x: Interval) -> Interval:
    return add(ONE, power(x, 2))


def _constant(ball: Callable[[], arb]) -> Callable[[], Interval]:
    """A constant at the precision of the moment."""
    return lambda: interval(ball())


_log_2 = _constant(lambda: arb(2).log())
_gauss = _constant(lambda: 2 / arb.pi().sqrt())


def _flat_between_jumps(x: Interval, y: Interval) -> Interval:
    return ZERO if y.low == y.high else NOWHERE


# Derivatives of the functions of one number, from the number x and the value y.
DERIVATIVES: dict[str, Callable[[Interval, Interval], Interval]] = {
    "exp": lambda x, y: y,
    "exp2": lambda x, y: mul(y, _log_2()),
    "expm1": lambda x, y: F["exp"](x),
    "log": lambda x, y: div(ONE, x),
    "log1p": lambda x, y: div(ONE, add(ONE, x)),
    "sqrt": lambda x, y: div(ONE, add(y, y)),
    "rsqrt": lambda x, y: neg(div(y, add(x, x))),
    "cbrt": lambda x, y: div(ONE, mul(interval(arb(3)), power(y, 2))),
    "tanh": lambda x, y: _one_minus_square(y),
    "logistic": lambda x, y: mul(y, sub(ONE, y)),
    "sin": lambda x, y: F["cos"](x),
    "cos": lambda x, y: neg(F["sin"](x)),
    "tan": lambda x, y: _one_plus_square(y),
    "asin": lambda x, y: F["rsqrt"](_one_minus_square(x)),
    "acos": lambda x, y: neg(F["rsqrt"](_one_minus_square(x))),
    "atan": lambda x, y: div(ONE, _one_plus_square(x)),
    "sinh": lambda x, y: F["cosh"](x),
    "cosh": lambda x, y: F["sinh"](x),
    "asinh": lambda x, y: F["rsqrt"](_one_plus_square(x)),
    "acosh": lambda x, y: F["rsqrt"](sub(power(x, 2), ONE)),
    "atanh": lambda x, y: div(ONE, _one_minus_square(x)),
    "erf": lambda x, y: mul(_gauss(), F["exp"](neg(power(x, 2)))),
    "erfc": lambda x, y: neg(mul(_gauss(), F["exp"](neg(power(x, 2))))),
    "erf_inv": lambda x, y: div(F["exp"](power(y, 2)), _gauss()),
    "neg": lambda x, y: neg(ONE),
    "abs": lambda x, y: sign(x),
    **dict.fromkeys(("sign", "floor", "ceil"), _flat_between_jumps),
}


def _scaled(factor: Interval, slope: Interval | None) -> Interval | None:
    return None if slope is None else mul(factor, slope)


def _summed(a: Interval | None, b: Interval | None) -> Interval | None:
    if a is None:
        return b
    return a if b is None else add(a, b)


def _combined(value: Interval, parts: Iterable[tuple[Interval, Sloped]]) -> Sloped:
    """The chain rule: a value, and (partial derivative, argument) of each argument that varies."""
    slopes: list[Interval | None] = []
    for derivative, argument in parts:
        scaled = [_scaled(derivative, slope) for slope in argument.slopes]
        slopes = scaled if not slopes else [_summed(a, b) for a, b in zip(slopes, scaled)]
    return Sloped(value, tuple(slopes))


def _is_still(a: Sloped) -> bool:
    return all(slope is None for slope in a.slopes)


def _sloped_unary(name: str) -> Callable[[Sloped], Sloped]:
    function, derivative = F[name], DERIVATIVES[name]

    def applied(a: Sloped) -> Sloped:
        value = function(a.value)
        if _is_still(a):
            return Sloped(value, a.slopes)
        return _combined(value, [(derivative(a.value, value), a)])

    return applied


def _sloped_add(a: Sloped, b: Sloped) -> Sloped:
    if a.value.is_exactly(0) and _is_still(a):
        return b
    if b.value.is_exactly(0) and _is_still(b):
        return a
    return Sloped(add(a.value, b.value), tuple(map(_summed, a.slopes, b.slopes)))


def _sloped_neg(a: Sloped) -> Sloped:
    turned = tuple(None if slope is None else neg(slope) for slope in a.slopes)
    return Sloped(neg(a.value), turned)


def _sloped_sub(a: Sloped, b: Sloped) -> Sloped:
    if a is b and a.value.is_finite:
        return Sloped(ZERO, (None,) * len(a.slopes))
    return _sloped_add(a, _sloped_neg(b))


def _sloped_mul(a: Sloped, b: Sloped) -> Sloped:
    if a is b:
        return _sloped_power(a, 2)
    if a.value.is_exactly(1) and _is_still(a):
        return b
    if b.value.is_exactly(1) and _is_still(b):
        return a
    return _combined(mul(a.value, b.value), [(b.value, a), (a.value, b)])


def _sloped_div(a: Sloped, b: Sloped) -> Sloped:
    value = div(a.value, b.value)
    if a is b and value.is_exactly(1):
        return Sloped(value, (None,) * len(a.slopes))
    if _is_still(b):
        return _combined(value, [(div(ONE, b.value), a)])
    return _combined(value, [(div(ONE, b.value), a), (neg(div(value, b.value)), b)])


def _sloped_power(a: Sloped, n: int) -> Sloped:
    value = power(a.value, n)
    if n == 0 or _is_still(a):
        return Sloped(value, (None,) * len(a.slopes))
    return _combined(value, [(mul(interval(arb(n)), power(a.value, n - 1)), a)])


def _sloped_real_power(a: Sloped, b: Sloped) -> Sloped:
    value = real_power(a.value, b.value)
    by_base = mul(b.value, real_power(a.value, sub(b.value, ONE)))
    if _is_still(b):
        return _combined(value, [(by_base, a)])
    return _combined(value, [(by_base, a), (mul(value, F["log"](a.value)), b)])


def _sloped_hull(a: Sloped, b: Sloped) -> Sloped:
    """Either of two, with a jump between them."""
    return Sloped(hull(a.value, b.value), (NOWHERE,) * len(a.slopes))


def _sloped_extreme(pick: Callable, first_wins: Callable[[bool], bool]) -> Callable:
    """max or min: of two that overlap, the hull of both slopes."""

    def applied(a: Sloped, b: Sloped) -> Sloped:
        order = True if a is b else at_most(a.value, b.value)
        if order is not None:
            return a if first_wins(order) else b
        pairs = zip(a.slopes, b.slopes)
        slopes = (None if s is t is None else hull(s or ZERO, t or ZERO) for s, t in pairs)
        return Sloped(pick(a.value, b.value), tuple(slopes))

    return applied


@lru_cache
def slopes_arithmetic(coordinates: int) -> Arithmetic:
    """The arithmetic of sloped numbers over a box of so many coordinates."""
    still = (None,) * coordinates

    def atan2(a: Sloped, b: Sloped) -> Sloped:
        return Sloped(F["atan2"](a.value, b.value), (NOWHERE,) * coordinates)

    return Arithmetic(
        lift=lambda ball: Sloped(interval(ball), still),
        functions={
            **{name: _sloped_unary(name) for name in DERIVATIVES},
            "add": _sloped_add,
            "sub": _sloped_sub,
            "mul": _sloped_mul,
            "div": _sloped_div,
            "max": _sloped_extreme(larger, lambda at_most: not at_most),
            "min": _sloped_extreme(smaller, lambda at_most: at_most),
            "pow": _sloped_real_power,
            "atan2": atan2,
        },
        power=_sloped_power,
        at_most=lambda a, b: True if a is b and a.value.is_finite else at_most(a.value, b.value),
        hull=_sloped_hull,
        is_finite=lambda a: a.value.is_finite,
        ball=lambda a: a.value.ball(),
    )
