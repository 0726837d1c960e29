"""How entries are compared, selected, raised to powers and converted, as JAX does."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import jax.numpy as jnp
import numpy as np
from flint import arb

from theorysim.enclosures.arithmetic.base import Undecided, both, either, negated
from theorysim.enclosures.interpreter.arrays import evaluate_exactly, is_float, map_entries
from theorysim.enclosures.interpreter.interpreter import Interpreter, Rule, UnknownPrimitive


def _select(
    interpreter: Interpreter, equation: Any, which: np.ndarray, *cases: np.ndarray
) -> np.ndarray:
    def select(which: Any, *cases: Any) -> Any:
        if which is None:  # a new number each time: not two unknown choices are the same
            return interpreter.either(*cases)
        return cases[int(which)]

    return map_entries(select, which, *cases)


def _compare(relation: str) -> Rule:
    def compare(
        interpreter: Interpreter, equation: Any, a: np.ndarray, b: np.ndarray
    ) -> np.ndarray:
        return map_entries(functools.partial(interpreter.compare, relation), a, b)

    return compare


def _differ(a: bool | None, b: bool | None) -> bool | None:
    return None if a is None or b is None else a != b


def _logic(function: Callable) -> Rule:
    def logic(interpreter: Interpreter, equation: Any, *arrays: np.ndarray) -> Any:
        if equation.invars[0].aval.dtype.kind != "b":
            return evaluate_exactly(equation, list(arrays))
        return map_entries(function, *arrays)

    return logic


def _is_finite(interpreter: Interpreter, equation: Any, array: np.ndarray) -> np.ndarray:
    return map_entries(lambda a: True if interpreter.arithmetic.is_finite(a) else None, array)


def _power(interpreter: Interpreter, equation: Any, base: np.ndarray, *exponent: Any) -> Any:
    """Integer powers; `pow` has the exponents as its second operand."""
    power = interpreter.arithmetic.power
    if not is_float(equation.invars[0]):
        return evaluate_exactly(equation, [base, *exponent])
    if not exponent:
        y = equation.params.get("y", 2)  # `square` has none
        return interpreter.apply(("power", y), lambda a: power(a, y), base)
    if is_float(equation.invars[1]):
        return interpreter.elementwise("pow", base, exponent[0])
    return map_entries(lambda a, n: power(a, int(n)), base, exponent[0])


def _clamp(interpreter: Interpreter, equation: Any, low: Any, array: Any, high: Any) -> Any:
    if not is_float(equation.invars[0]):
        return evaluate_exactly(equation, [low, array, high])
    return interpreter.elementwise("min", interpreter.elementwise("max", array, low), high)


def _iota(interpreter: Interpreter, equation: Any) -> np.ndarray:
    shape, axis = equation.params["shape"], equation.params["dimension"]
    places = np.arange(shape[axis], dtype=int)
    spread = places.reshape([-1 if a == axis else 1 for a in range(len(shape))])
    array = np.broadcast_to(spread, shape)
    dtype = equation.params["dtype"]
    return interpreter.floats(array) if jnp.issubdtype(dtype, np.floating) else array.astype(dtype)


def _convert(interpreter: Interpreter, equation: Any, array: np.ndarray) -> Any:
    """Floats of any width are real numbers, so that widening and narrowing change nothing."""
    old, new = equation.invars[0].aval.dtype, equation.params["new_dtype"]
    if jnp.issubdtype(new, np.floating):
        if old.kind == "b":
            return _select(interpreter, equation, array, *interpreter.floats(np.arange(2)))
        return array if is_float(equation.invars[0]) else interpreter.floats(array)
    if not is_float(equation.invars[0]):
        return evaluate_exactly(equation, [array])
    if new.kind == "b":
        return map_entries(
            functools.partial(interpreter.compare, "ne"), array, interpreter.floats(0)
        )
    return map_entries(lambda number: _truncated(interpreter.arithmetic.ball(number)), array)


def _truncated(ball: arb) -> int:
    """The integer towards zero, as JAX converts."""
    if not (ball >= 0 or ball <= 0):
        raise Undecided
    whole = (ball.floor() if ball >= 0 else ball.ceil()).unique_fmpz()
    if whole is None:
        raise Undecided
    return int(whole)


def _bitcast(interpreter: Interpreter, equation: Any, array: np.ndarray) -> Any:
    """Random bits become the float that has them, exactly."""
    if is_float(equation.invars[0]):
        raise UnknownPrimitive("bits of a float", interpreter.subject)
    new = equation.params["new_dtype"]
    if not jnp.issubdtype(new, np.floating):
        return evaluate_exactly(equation, [array])
    numbers = np.asarray(array).view(new).astype(float)
    return map_entries(lambda number: interpreter.arithmetic.lift(arb(float(number))), numbers)


def _identity(interpreter: Interpreter, equation: Any, *arrays: Any) -> list[Any]:
    return list(arrays)


ELEMENTWISE: Mapping[str, Rule] = {
    **{relation: _compare(relation) for relation in ("lt", "le", "gt", "ge", "eq", "ne")},
    "select_n": _select,
    "and": _logic(both),
    "or": _logic(either),
    "xor": _logic(_differ),
    "not": _logic(negated),
    "is_finite": _is_finite,
    "integer_pow": _power,
    "square": _power,
    "pow": _power,
    "clamp": _clamp,
    "add_any": lambda m, e, a, b: m.elementwise("add", a, b),
    "iota": _iota,
    "convert_element_type": _convert,
    "bitcast_convert_type": _bitcast,
    "copy": _identity,
    "copy_p": _identity,
    "optimization_barrier": _identity,
    "stop_gradient": _identity,
}
