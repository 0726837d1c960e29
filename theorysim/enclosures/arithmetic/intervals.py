"""Real numbers known up to an interval.

On a wide box the product of two balls is wider than the product of two intervals, and a ball that
should end at zero sticks out; so the numbers of a box are intervals, whose ends are exact numbers
of python-flint rounded outwards.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from flint import arb

from theorysim.enclosures.arithmetic.balls import UNARY, angle, whole
from theorysim.enclosures.arithmetic.base import Arithmetic
from theorysim.enclosures.arithmetic.numbers import UNDEFINED


@dataclass(frozen=True, slots=True, eq=False)
class Interval:
    """All numbers from `low` to `high`, two exact balls; NaN where something may be undefined."""

    low: arb
    high: arb

    def ball(self) -> arb:
        """A ball around it."""
        return self.low if self.low == self.high else self.low.union(self.high)

    def magnitude(self) -> arb:
        """The largest absolute value."""
        return abs(self.low).max(abs(self.high))

    @property
    def is_finite(self) -> bool:
        """Whether it is defined and bounded."""
        return self.low.is_finite() and self.high.is_finite()

    def is_exactly(self, number: int) -> bool:
        """Whether it holds nothing but this number."""
        return self.low == number and self.high == number


def interval(ball: arb) -> Interval:
    """The interval that a ball covers."""
    if ball.is_finite():
        return Interval(ball.lower(), ball.upper())
    return Interval(ball, ball) if ball.is_exact() else NOWHERE


NOWHERE = Interval(UNDEFINED, UNDEFINED)
ZERO, ONE = interval(arb(0)), interval(arb(1))


def _spanned(balls: Iterable[arb]) -> Interval:
    """The interval that covers some balls; undefined where one of them is."""
    balls = list(balls)
    if not all(ball.is_finite() for ball in balls):
        return NOWHERE
    low, high = balls[0].lower(), balls[0].upper()
    for ball in balls[1:]:
        low, high = low.min(ball.lower()), high.max(ball.upper())
    return Interval(low, high)


def add(a: Interval, b: Interval) -> Interval:
    """a + b."""
    if a.is_exactly(0):
        return b
    if b.is_exactly(0):
        return a
    return Interval((a.low + b.low).lower(), (a.high + b.high).upper())


def neg(a: Interval) -> Interval:
    """-a."""
    return Interval(-a.high, -a.low)


def sub(a: Interval, b: Interval) -> Interval:
    """a - b; zero for the same number."""
    if a is b and a.is_finite:
        return ZERO
    return add(a, neg(b))


def mul(a: Interval, b: Interval) -> Interval:
    """a b, the square for the same number."""
    if a is b:
        return power(a, 2)
    if a.is_exactly(1):
        return b
    if b.is_exactly(1):
        return a
    if a.low >= 0 and b.low >= 0:
        return _spanned((a.low * b.low, a.high * b.high))
    return _spanned(x * y for x in (a.low, a.high) for y in (b.low, b.high))


def div(a: Interval, b: Interval) -> Interval:
    """a / b, undefined where b may be zero."""
    if not (b.low > 0 or b.high < 0):
        return NOWHERE
    if a is b and a.is_finite:
        return ONE
    return _spanned(x / y for x in (a.low, a.high) for y in (b.low, b.high))


def power(a: Interval, n: int) -> Interval:
    """a^n for any integer n."""
    if n < 0:
        return div(ONE, power(a, -n))
    if n == 0:
        return ONE if a.is_finite else NOWHERE
    if n == 1:
        return a
    if n % 2 == 0:
        a = _abs(a)
    return _spanned((a.low**n, a.high**n))


def _abs(a: Interval) -> Interval:
    if a.low >= 0:
        return a
    if a.high <= 0:
        return neg(a)
    return Interval(arb(0), a.magnitude()) if a.is_finite else NOWHERE


def larger(a: Interval, b: Interval) -> Interval:
    """max(a, b)."""
    order = at_most(a, b)
    if order is None:
        return Interval(a.low.max(b.low), a.high.max(b.high))
    return b if order else a


def smaller(a: Interval, b: Interval) -> Interval:
    """min(a, b)."""
    order = at_most(a, b)
    if order is None:
        return Interval(a.low.min(b.low), a.high.min(b.high))
    return a if order else b


def sign(a: Interval) -> Interval:
    """-1, 0 or 1."""
    return Interval(a.low.sgn(), a.high.sgn()) if a.is_finite else NOWHERE


def _monotone(function: Callable[[arb], arb]) -> Callable[[Interval], Interval]:
    return lambda a: _spanned((function(a.low), function(a.high))) if a.is_finite else NOWHERE


def _through_ball(function: Callable[..., arb]) -> Callable[..., Interval]:
    """For functions that are not monotone; Arb encloses their range over a ball."""

    def applied(*numbers: Interval) -> Interval:
        defined = all(a.is_finite for a in numbers)
        return interval(function(*(a.ball() for a in numbers))) if defined else NOWHERE

    return applied


def real_power(a: Interval, b: Interval) -> Interval:
    """a^b is monotone in each of both where a > 0, so that corners are the extremes."""
    exponent = whole(b.low) if b.low == b.high else None
    if exponent is not None and b.low == exponent:
        return power(a, exponent)
    corners = itertools.product((a.low, a.high), (b.low, b.high))
    return _spanned(x**y for x, y in corners) if a.low > 0 and b.is_finite else NOWHERE


def _cosh(a: Interval) -> Interval:
    return _monotone(arb.cosh)(_abs(a))


def hull(a: Interval, b: Interval) -> Interval:
    """The smallest interval around both."""
    if not (a.is_finite and b.is_finite):
        return a if a is b else NOWHERE
    return Interval(a.low.min(b.low), a.high.max(b.high))


def at_most(a: Interval, b: Interval) -> bool | None:
    """Whether a <= b."""
    if a is b:
        return True if a.is_finite else None
    if a.high <= b.low:
        return True
    return False if b.high < a.low else None


NOT_MONOTONE = ("sin", "cos", "tan", "cosh", "sign")

INTERVAL_FUNCTIONS: dict[str, Callable[..., Interval]] = {
    **{name: _monotone(f) for name, f in UNARY.items() if name not in NOT_MONOTONE},
    **{name: _through_ball(UNARY[name]) for name in ("sin", "cos", "tan")},
    "cosh": _cosh,
    "sign": sign,
    "add": add,
    "sub": sub,
    "mul": mul,
    "div": div,
    "neg": neg,
    "abs": _abs,
    "max": larger,
    "min": smaller,
    "pow": real_power,
    "atan2": _through_ball(angle),
}

INTERVALS = Arithmetic(
    lift=interval,
    functions=INTERVAL_FUNCTIONS,
    power=power,
    at_most=at_most,
    hull=hull,
    is_finite=lambda a: a.is_finite,
    ball=Interval.ball,
)
