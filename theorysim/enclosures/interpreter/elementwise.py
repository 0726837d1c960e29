"""How entries are compared, selected, raised to powers and converted, as JAX does."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from flint import arb

from theorysim.enclosures.arithmetic.balls import BALLS, whole
from theorysim.enclosures.arithmetic.base import Undecided, both, either, negated
from theorysim.enclosures.arithmetic.integers import INTEGERS
from theorysim.enclosures.interpreter.arrays import by_jax, map_entries, require_decided
from theorysim.enclosures.interpreter.interpreter import Interpreter
from theorysim.enclosures.interpreter.rulebook import Rule, Table


def _function(name: str) -> Rule:
    def apply(interpreter: Interpreter, equation: Any, *arrays: np.ndarray) -> np.ndarray:
        return interpreter.function(name, equation)(*arrays)

    return apply


def _integer_function(name: str) -> Rule:
    def apply(interpreter: Interpreter, equation: Any, *arrays: np.ndarray) -> np.ndarray:
        second = arrays[-1]
        bits = 8 * equation.outvars[0].aval.dtype.itemsize
        shifts = (second >= 0) & (second < bits)
        meant = {"div": second != 0, "rem": second != 0, "shift_left": shifts}
        interpreter.require(bool(np.all(meant.get(name, True))), f"{name} of integers by {second}")
        return map_entries(INTEGERS[name], *arrays)

    return apply


def _select(
    interpreter: Interpreter, equation: Any, which: np.ndarray, *cases: np.ndarray
) -> np.ndarray:
    return map_entries(functools.partial(_selected, interpreter), which, *cases)


def _selected(interpreter: Interpreter, which: bool | None, *cases: Any) -> Any:
    if which is None:  # a new number each time: not two unknown choices are the same
        return interpreter.either(*cases)
    return cases[which]


def _select_place(
    interpreter: Interpreter, equation: Any, which: np.ndarray, *cases: np.ndarray
) -> np.ndarray:
    inside = bool(((which >= 0) & (which < len(cases))).all())
    interpreter.require(inside, "select_n of a case that is not there")
    return _select(interpreter, equation, which, *cases)


def _compare(relation: str) -> Rule:
    def compare(
        interpreter: Interpreter, equation: Any, a: np.ndarray, b: np.ndarray
    ) -> np.ndarray:
        return map_entries(functools.partial(interpreter.compare, relation), a, b)

    return compare


def _differ(a: bool | None, b: bool | None) -> bool | None:
    return None if a is None or b is None else a != b


def _logic(function: Callable) -> Rule:
    return lambda interpreter, equation, *arrays: map_entries(function, *arrays)


def _is_finite(interpreter: Interpreter, equation: Any, array: np.ndarray) -> np.ndarray:
    return map_entries(lambda a: True if interpreter.arithmetic.is_finite(a) else None, array)


def _power(interpreter: Interpreter, equation: Any, base: np.ndarray, *exponent: Any) -> Any:
    """Integer powers; `pow` has the exponents as its second operand."""
    power = interpreter.arithmetic.power
    if exponent:
        return map_entries(lambda a, n: power(a, int(n)), base, exponent[0])
    y = equation.params.get("y", 2)  # `square` has none
    return interpreter.apply(("power", y), lambda a: power(a, y), base)


def _integer_power(interpreter: Interpreter, equation: Any, base: np.ndarray) -> np.ndarray:
    y = equation.params.get("y", 2)
    interpreter.require(y >= 0, "a negative power of an integer")
    return map_entries(lambda a: a**y, base)


def _clamp(interpreter: Interpreter, equation: Any, low: Any, array: Any, high: Any) -> Any:
    smaller, larger = (interpreter.function(name, equation) for name in ("min", "max"))
    return smaller(larger(array, low), high)


def _floor_if(interpreter: Interpreter, up: np.ndarray, array: np.ndarray) -> np.ndarray:
    """Rounded down, or up where `up` is true."""
    cases = (interpreter.elementwise(name, array) for name in ("floor", "ceil"))
    return map_entries(functools.partial(_selected, interpreter), up, *cases)


def _remainder(interpreter: Interpreter, equation: Any, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a - b trunc(a / b), which has the sign of a."""
    quotient = interpreter.elementwise("div", a, b)
    zero = interpreter.floats(0)
    negative = map_entries(functools.partial(interpreter.compare, "lt"), quotient, zero)
    whole = _floor_if(interpreter, negative, quotient)
    return interpreter.elementwise("sub", a, interpreter.elementwise("mul", b, whole))


def _round(interpreter: Interpreter, equation: Any, array: np.ndarray) -> np.ndarray:
    """To the nearest integer; of two, to the even one: floor(x + 1/2) or one less."""
    if equation.params["rounding_method"] == jax.lax.RoundingMethod.AWAY_FROM_ZERO:
        return _round_away(interpreter, array)
    half, one, two = (interpreter.lift(np.asarray(number)) for number in (0.5, 1.0, 2.0))
    apply, equal = interpreter.elementwise, functools.partial(interpreter.compare, "eq")
    above = apply("floor", apply("add", array, half))
    tie = map_entries(equal, apply("sub", above, array), half)
    rest = apply("sub", above, apply("mul", two, apply("floor", apply("div", above, two))))
    odd = map_entries(equal, rest, one)
    down = map_entries(both, tie, odd)
    select = functools.partial(_selected, interpreter)
    return map_entries(select, down, above, apply("sub", above, one))


def _round_away(interpreter: Interpreter, array: np.ndarray) -> np.ndarray:
    """To the nearest integer; of two, to the one away from zero."""
    apply, half = interpreter.elementwise, interpreter.lift(np.asarray(0.5))
    distance = apply("floor", apply("add", apply("abs", array), half))
    return apply("mul", apply("sign", array), distance)


def _iota(interpreter: Interpreter, equation: Any) -> np.ndarray:
    shape, axis = equation.params["shape"], equation.params["dimension"]
    spread = [-1 if a == axis else 1 for a in range(len(shape))]
    array = np.broadcast_to(np.arange(shape[axis], dtype=int).reshape(spread), shape)
    return array if equation.params["dtype"].kind != "f" else interpreter.floats(array)


def _to_floats(interpreter: Interpreter, equation: Any, array: np.ndarray) -> np.ndarray:
    return interpreter.floats(array)


def _choose_floats(interpreter: Interpreter, equation: Any, array: np.ndarray) -> np.ndarray:
    return _select(interpreter, equation, array, *map(interpreter.floats, range(2)))


def _truncate(interpreter: Interpreter, equation: Any, array: np.ndarray) -> np.ndarray:
    return map_entries(lambda number: _truncated(interpreter.arithmetic.ball(number)), array)


def _truncated(ball: arb) -> int:
    """The integer towards zero, as JAX converts."""
    if not (ball >= 0 or ball <= 0):
        raise Undecided
    found = whole(ball.floor() if ball >= 0 else ball.ceil())
    if found is None:
        raise Undecided
    return found


def _is_nonzero(interpreter: Interpreter, equation: Any, array: np.ndarray) -> np.ndarray:
    zero = interpreter.floats(0) if array.dtype == object else np.asarray(0)
    return map_entries(functools.partial(interpreter.compare, "ne"), array, zero)


def _same(interpreter: Interpreter, equation: Any, array: np.ndarray) -> np.ndarray:
    """Floats of any width are real numbers; integers stay what they are if the new type can."""
    return array


def _bits_to_float(interpreter: Interpreter, equation: Any, array: np.ndarray) -> np.ndarray:
    """Random bits become the float that has them, exactly."""
    new = equation.params["new_dtype"]
    interpreter.require(array.dtype.itemsize == new.itemsize, "bitcast to another width")
    numbers = np.asarray(array).view(new)
    return map_entries(lambda number: interpreter.arithmetic.lift(arb(float(number))), numbers)


def _identity(interpreter: Interpreter, equation: Any, *arrays: Any) -> list[Any]:
    return list(arrays)


ELEMENTWISE: Table = {
    **{name: {"f+>f": _function(name)} for name in BALLS.functions},
    **{
        name: {"f+>f": _function(name), "i+>i": _integer_function(name)}
        for name in set(BALLS.functions) & set(INTEGERS)
    },
    "shift_left": {"ii>i": _integer_function("shift_left")},
    **{
        relation: {"(ff|ii|bb)>b": _compare(relation)}
        for relation in ("lt", "le", "gt", "ge", "eq", "ne")
    },
    # The orders of sorting differ in NaN only, where nothing is decided.
    **{f"{relation}_to": {"(ff|ii)>b": _compare(relation)} for relation in ("lt", "le")},
    "select_n": {r"b([fib])\1+>\1": _select, r"i([fib])\1+>\1": _select_place},
    "and": {"bb>b": _logic(both), "ii>i": by_jax},
    "or": {"bb>b": _logic(either), "ii>i": by_jax},
    "xor": {"bb>b": _logic(_differ), "ii>i": by_jax},
    "not": {"b>b": _logic(negated), "i>i": by_jax},
    "shift_right_logical": {"ii>i": by_jax},
    "shift_right_arithmetic": {"ii>i": by_jax},
    "population_count": {"i>i": by_jax},
    "clz": {"i>i": by_jax},
    "is_finite": {"f>b": _is_finite},
    "integer_pow": {"f>f": _power, "i>i": _integer_power},
    "square": {"f>f": _power, "i>i": _integer_power},
    "pow": {"ff>f": _function("pow"), "fi>f": _power},
    "rem": {"ff>f": _remainder, "ii>i": _integer_function("rem")},
    "round": {"f>f": _round},
    "clamp": {"fff>f": _clamp, "iii>i": _clamp},
    "add_any": {"ff>f": _function("add")},
    "iota": {">[fi]": _iota},
    "convert_element_type": {
        r"([fib])>\1": _same,
        "i>f": _to_floats,
        "b>f": _choose_floats,
        "f>i": _truncate,
        "[fi]>b": _is_nonzero,
        "b>i": lambda m, e, array: require_decided(array).astype(int),
    },
    "bitcast_convert_type": {"i>f": _bits_to_float, "i>i": by_jax},
    **{
        name: {r"([fibk]+)>\1": _identity}
        for name in ("copy", "copy_p", "optimization_barrier", "stop_gradient")
    },
}
