"""The operations of JAX that combine the entries of whole arrays: sums, products, orders."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from theorysim.enclosures.arithmetic.base import both, either
from theorysim.enclosures.arithmetic.integers import INTEGERS
from theorysim.enclosures.interpreter.arrays import by_jax, map_entries, object_array
from theorysim.enclosures.interpreter.interpreter import Interpreter
from theorysim.enclosures.interpreter.rulebook import Rule, Table


def _fold(name: str, empty: float) -> Rule:
    def fold(interpreter: Interpreter, equation: Any, array: np.ndarray) -> Any:
        return _folded(
            interpreter.function(name, equation),
            _neutral(interpreter, equation, empty),
            array,
            equation.params["axes"],
        )

    return fold


def _neutral(interpreter: Interpreter, equation: Any, number: float) -> np.ndarray:
    """What is left of an empty sum, product or extreme."""
    dtype = equation.outvars[0].aval.dtype
    if dtype.kind != "f" and not np.isfinite(number):
        number = np.iinfo(dtype).min if number < 0 else np.iinfo(dtype).max
    return interpreter.lift(np.asarray(number, dtype))


def _fold_logic(function: Callable, empty: bool) -> Rule:
    def fold(interpreter: Interpreter, equation: Any, array: np.ndarray) -> np.ndarray:
        several = functools.partial(map_entries, function)
        return _folded(several, object_array([empty], ()), array, equation.params["axes"])

    return fold


def _folded(
    function: Callable, empty: np.ndarray, array: np.ndarray, axes: tuple[int, ...]
) -> np.ndarray:
    kept = [axis for axis in range(array.ndim) if axis not in axes]
    shape = tuple(array.shape[axis] for axis in kept)
    length = math.prod(array.shape[axis] for axis in axes)
    rows = array.transpose(*kept, *axes).reshape(*shape, length)
    if not length:
        return np.broadcast_to(empty, shape)
    columns = [rows[..., place : place + 1] for place in range(length)]
    return functools.reduce(function, columns).reshape(shape)


def _accumulate(name: str) -> Rule:
    def accumulate(interpreter: Interpreter, equation: Any, array: np.ndarray) -> Any:
        axis, reverse = equation.params["axis"], equation.params["reverse"]
        rows = np.flip(array, axis) if reverse else array
        function = INTEGERS if array.dtype != object else interpreter.arithmetic.functions
        sums = np.frompyfunc(function[name], 2, 1).accumulate(rows.astype(object), axis=axis)
        return np.flip(sums, axis) if reverse else sums

    return accumulate


def _dot(interpreter: Interpreter, equation: Any, a: np.ndarray, b: np.ndarray) -> Any:
    (a_sum, b_sum), (a_batch, b_batch) = equation.params["dimension_numbers"]
    a_free = [axis for axis in range(a.ndim) if axis not in (*a_sum, *a_batch)]
    b_free = [axis for axis in range(b.ndim) if axis not in (*b_sum, *b_batch)]
    whole = slice(None)
    a = a.transpose(*a_batch, *a_free, *a_sum)[..., *[None] * len(b_free), *[whole] * len(a_sum)]
    b = b.transpose(*b_batch, *b_free, *b_sum)[*[whole] * len(b_batch), *[None] * len(a_free), ...]
    products = interpreter.function("mul", equation)(a, b)
    summed = tuple(range(products.ndim - len(a_sum), products.ndim))
    add, none = interpreter.function("add", equation), _neutral(interpreter, equation, 0)
    return _folded(add, none, products, summed)


def first_extreme(interpreter: Interpreter, relation: str, row: np.ndarray) -> int:
    """The first place of the largest ("gt") or smallest ("lt") entry, as JAX has it.

    Raises:
        Undecided: where the enclosures overlap, or one is undefined.
    """

    def better(best: int, place: int) -> int:
        return place if interpreter.decide(relation, row[place], row[best]) else best

    return functools.reduce(better, range(len(row)))


def _place_of_extreme(relation: str) -> Rule:
    def place(interpreter: Interpreter, equation: Any, array: np.ndarray) -> np.ndarray:
        (axis,) = equation.params["axes"]
        rows = np.moveaxis(array, axis, -1)
        lead = rows.shape[:-1]
        found = [first_extreme(interpreter, relation, rows[at]) for at in np.ndindex(*lead)]
        return np.asarray(found, equation.params["index_dtype"]).reshape(lead)

    return place


def _order(interpreter: Interpreter, rows: list[np.ndarray], before: str) -> np.ndarray:
    """Places along the last axis in the order of the first row, then of the next; stable."""
    order = np.empty(rows[0].shape, int)
    length = rows[0].shape[-1]

    def precedes(at: tuple[int, ...], i: int, j: int) -> int:
        for key in rows:
            a, b = key[at][i], key[at][j]
            if interpreter.decide("ne", a, b):
                return -1 if interpreter.decide(before, a, b) else 1
        return 0

    for at in np.ndindex(*order.shape[:-1]):
        compared = functools.cmp_to_key(functools.partial(precedes, at))
        order[at] = sorted(range(length), key=compared)
    return order


def _sort(interpreter: Interpreter, equation: Any, *arrays: np.ndarray) -> list[np.ndarray]:
    keys, axis = equation.params["num_keys"], equation.params["dimension"]
    rows = [np.moveaxis(array, axis, -1) for array in arrays]
    order = _order(interpreter, rows[:keys], "lt")
    return [np.moveaxis(np.take_along_axis(row, order, -1), -1, axis) for row in rows]


def _top(interpreter: Interpreter, equation: Any, array: np.ndarray) -> list[np.ndarray]:
    """The largest ones in falling order, and their places."""
    axis = equation.params["axis"]
    rows = np.moveaxis(array, axis, -1)
    order = _order(interpreter, [rows], "gt")[..., : equation.params["k"]]
    found = np.take_along_axis(rows, order, -1), order
    return [np.moveaxis(each, -1, axis) for each in found]


REDUCTIONS: Table = {
    "reduce_sum": {r"([fi])>\1": _fold("add", 0)},
    "reduce_prod": {r"([fi])>\1": _fold("mul", 1)},
    "reduce_max": {r"([fi])>\1": _fold("max", -np.inf)},
    "reduce_min": {r"([fi])>\1": _fold("min", np.inf)},
    "reduce_and": {"b>b": _fold_logic(both, True), "i>i": by_jax},
    "reduce_or": {"b>b": _fold_logic(either, False), "i>i": by_jax},
    "reduce_xor": {"i>i": by_jax},
    "cumsum": {r"([fi])>\1": _accumulate("add")},
    "cumprod": {r"([fi])>\1": _accumulate("mul")},
    "cummax": {r"([fi])>\1": _accumulate("max")},
    "cummin": {r"([fi])>\1": _accumulate("min")},
    "dot_general": {r"([fi])\1>\1": _dot},
    "argmax": {"[fib]>i": _place_of_extreme("gt")},
    "argmin": {"[fib]>i": _place_of_extreme("lt")},
    "sort": {r"([fib]+)>\1": _sort},
    "top_k": {r"([fi])>\1i": _top},
}
