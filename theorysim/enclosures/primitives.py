"""How a `Machine` compares, selects, converts, repeats and branches, as JAX does."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from theorysim.enclosures.arrays import (
    MOVES,
    UnknownPrimitive,
    concrete,
    is_float,
    known,
    objects,
)
from theorysim.enclosures.balls import Undecided, arb, both, either, negated
from theorysim.enclosures.reductions import REDUCTIONS

if TYPE_CHECKING:
    from theorysim.enclosures.interpreter import Machine

# A loop that has not come to its end after so many rounds is given up.
LONGEST_LOOP = 10**6


def _select(machine: Machine, equation: Any, which: np.ndarray, *cases: np.ndarray) -> np.ndarray:
    def select(which: Any, *cases: Any) -> Any:
        if which is None:  # a new number each time: not two unknown choices are the same
            return machine.either(*cases)
        return cases[int(which)]

    return objects(select, which, *cases)


def _compare(relation: str) -> Callable:
    def compare(machine: Machine, equation: Any, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return objects(functools.partial(machine.compared, relation), a, b)

    return compare


def _differ(a: bool | None, b: bool | None) -> bool | None:
    return None if a is None or b is None else a != b


def _logic(function: Callable) -> Callable:
    def logic(machine: Machine, equation: Any, *arrays: np.ndarray) -> Any:
        if equation.invars[0].aval.dtype.kind != "b":
            return concrete(equation, list(arrays))
        return objects(function, *arrays)

    return logic


def _is_finite(machine: Machine, equation: Any, array: np.ndarray) -> np.ndarray:
    return objects(lambda a: True if machine.arithmetic.is_finite(a) else None, array)


def _power(machine: Machine, equation: Any, base: np.ndarray, *exponent: Any) -> Any:
    """Integer powers; `pow` has the exponents as its second operand."""
    power = machine.arithmetic.power
    if not is_float(equation.invars[0]):
        return concrete(equation, [base, *exponent])
    if not exponent:
        y = equation.params.get("y", 2)  # `square` has none
        return machine.applied(("power", y), lambda a: power(a, y), base)
    if is_float(equation.invars[1]):
        return machine.elementwise("pow", base, exponent[0])
    return objects(lambda a, n: power(a, int(n)), base, exponent[0])


def _clamp(machine: Machine, equation: Any, low: Any, array: Any, high: Any) -> Any:
    if not is_float(equation.invars[0]):
        return concrete(equation, [low, array, high])
    return machine.elementwise("min", machine.elementwise("max", array, low), high)


def _iota(machine: Machine, equation: Any) -> np.ndarray:
    shape, axis = equation.params["shape"], equation.params["dimension"]
    places = np.arange(shape[axis], dtype=int)
    spread = places.reshape([-1 if a == axis else 1 for a in range(len(shape))])
    array = np.broadcast_to(spread, shape)
    dtype = equation.params["dtype"]
    return machine.floats(array) if jnp.issubdtype(dtype, np.floating) else array.astype(dtype)


def _convert(machine: Machine, equation: Any, array: np.ndarray) -> Any:
    """Floats of any width are real numbers, so that widening and narrowing change nothing."""
    old, new = equation.invars[0].aval.dtype, equation.params["new_dtype"]
    if jnp.issubdtype(new, np.floating):
        if old.kind == "b":
            return _select(machine, equation, array, *machine.floats(np.arange(2)))
        return array if is_float(equation.invars[0]) else machine.floats(array)
    if not is_float(equation.invars[0]):
        return concrete(equation, [array])
    if new.kind == "b":
        return objects(functools.partial(machine.compared, "ne"), array, machine.floats(0))
    return objects(lambda number: _truncated(machine.arithmetic.ball(number)), array)


def _truncated(ball: arb) -> int:
    """The integer towards zero, as JAX converts."""
    if not (ball >= 0 or ball <= 0):
        raise Undecided
    whole = (ball.floor() if ball >= 0 else ball.ceil()).unique_fmpz()
    if whole is None:
        raise Undecided
    return int(whole)


def _bitcast(machine: Machine, equation: Any, array: np.ndarray) -> Any:
    """Random bits become the float that has them, exactly."""
    if is_float(equation.invars[0]):
        raise UnknownPrimitive("bits of a float", machine)
    new = equation.params["new_dtype"]
    if not jnp.issubdtype(new, np.floating):
        return concrete(equation, [array])
    numbers = np.asarray(array).view(new).astype(float)
    return objects(lambda number: machine.arithmetic.lift(arb(float(number))), numbers)


def _row(array: Any, place: int) -> Any:
    return array[place : place + 1].reshape(array.shape[1:])


def _scan(machine: Machine, equation: Any, *operands: Any) -> list[Any]:
    p = equation.params
    fixed, state = p["num_consts"], p["num_consts"] + p["num_carry"]
    constants, carry, inputs = operands[:fixed], list(operands[fixed:state]), operands[state:]
    length = p["length"]
    kept: list[list[Any]] = [[] for _ in equation.outvars[p["num_carry"] :]]
    for place in reversed(range(length)) if p["reverse"] else range(length):
        rows = [_row(array, place) for array in inputs]
        results = machine.loop(p["jaxpr"], [*constants, *carry, *rows])
        carry = results[: p["num_carry"]]
        for rounds, result in zip(kept, results[p["num_carry"] :]):
            rounds.append(result)
    paths = [rounds[::-1] if p["reverse"] else rounds for rounds in kept]
    outvars = equation.outvars[p["num_carry"] :]
    return carry + [_stacked(path, v.aval) for path, v in zip(paths, outvars)]


def _stacked(path: list[Any], aval: Any) -> Any:
    if path:
        return jnp.stack(path) if isinstance(path[0], jax.Array) else np.stack(path)
    dtype = object if jnp.issubdtype(aval.dtype, np.floating) or aval.dtype == bool else aval.dtype
    return np.empty(aval.shape, dtype)


def _while(machine: Machine, equation: Any, *operands: Any) -> list[Any]:
    p = equation.params
    tests, bodies = p["cond_nconsts"], p["cond_nconsts"] + p["body_nconsts"]
    state = list(operands[bodies:])
    for _ in range(LONGEST_LOOP):
        (test,) = machine.loop(p["cond_jaxpr"], [*operands[:tests], *state])
        goes_on = known(test)
        if not goes_on.any():
            return state
        moved = machine.loop(p["body_jaxpr"], [*operands[tests:bodies], *state])
        state = [_advanced(goes_on, new, old) for new, old in zip(moved, state)]
    raise Undecided


def _advanced(goes_on: np.ndarray, new: Any, old: Any) -> Any:
    """In a loop under vmap, whose test leads with the mapped axes, each lane stops by itself."""
    if goes_on.all():
        return new
    return np.where(goes_on.reshape(*goes_on.shape, *[1] * (new.ndim - goes_on.ndim)), new, old)


def _cond(machine: Machine, equation: Any, index: np.ndarray, *operands: Any) -> list[Any]:
    branches = equation.params["branches"]
    chosen = int(known(index).item())
    return machine.call(branches[min(max(chosen, 0), len(branches) - 1)], list(operands))


def _identity(machine: Machine, equation: Any, *arrays: Any) -> list[Any]:
    return list(arrays)


RULES: dict[str, Callable] = {
    **MOVES,
    **REDUCTIONS,
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
    "scan": _scan,
    "while": _while,
    "cond": _cond,
    "copy": _identity,
    "copy_p": _identity,
    "optimization_barrier": _identity,
    "stop_gradient": _identity,
}
