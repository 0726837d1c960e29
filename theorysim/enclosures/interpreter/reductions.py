"""The operations of JAX that combine the entries of whole arrays: sums, products, orders."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from flint import acb_mat, arb, arb_mat

from theorysim.enclosures.arithmetic.balls import BALLS
from theorysim.enclosures.arithmetic.base import Undecided, both, either
from theorysim.enclosures.arithmetic.numbers import UNDEFINED
from theorysim.enclosures.interpreter.arrays import (
    evaluate_exactly,
    is_float,
    map_entries,
    object_array,
)
from theorysim.enclosures.interpreter.interpreter import Interpreter, Rule, UnknownPrimitive


def _fold(name: str, empty: float) -> Rule:
    def fold(interpreter: Interpreter, equation: Any, array: np.ndarray) -> Any:
        if not is_float(equation.invars[0]):
            return evaluate_exactly(equation, [array])
        function = functools.partial(interpreter.elementwise, name)
        return _folded(
            function, interpreter.lift(np.asarray(empty)), array, equation.params["axes"]
        )

    return fold


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
        if not is_float(equation.invars[0]):
            return evaluate_exactly(equation, [array])
        axis, reverse = equation.params["axis"], equation.params["reverse"]
        rows = np.flip(array, axis) if reverse else array
        function = np.frompyfunc(interpreter.arithmetic.functions[name], 2, 1)
        sums = function.accumulate(rows, axis=axis)
        return np.flip(sums, axis) if reverse else sums

    return accumulate


def _dot(interpreter: Interpreter, equation: Any, a: np.ndarray, b: np.ndarray) -> Any:
    if not is_float(equation.invars[0]):
        return evaluate_exactly(equation, [a, b])
    (a_sum, b_sum), (a_batch, b_batch) = equation.params["dimension_numbers"]
    a_free = [axis for axis in range(a.ndim) if axis not in (*a_sum, *a_batch)]
    b_free = [axis for axis in range(b.ndim) if axis not in (*b_sum, *b_batch)]
    lead = len(a_batch)
    a = a.transpose(*a_batch, *a_free, *a_sum)
    b = b.transpose(*b_batch, *b_free, *b_sum)
    a = np.expand_dims(a, tuple(range(lead + len(a_free), lead + len(a_free) + len(b_free))))
    b = np.expand_dims(b, tuple(range(lead, lead + len(a_free))))
    products = interpreter.elementwise("mul", a, b)
    summed = tuple(range(products.ndim - len(a_sum), products.ndim))
    add = functools.partial(interpreter.elementwise, "add")
    return _folded(add, interpreter.floats(0), products, summed)


def _place_of_extreme(relation: str) -> Rule:
    def place(interpreter: Interpreter, equation: Any, array: np.ndarray) -> np.ndarray:
        """The first place, as JAX has it; NaN is undecided."""

        def better(row: np.ndarray, best: int, place: int) -> int:
            return place if interpreter.decide(relation, row[place], row[best]) else best

        (axis,) = equation.params["axes"]
        rows = np.moveaxis(array, axis, -1)
        lead = rows.shape[:-1]
        found = [
            functools.reduce(functools.partial(better, rows[at]), range(array.shape[axis]))
            for at in np.ndindex(*lead)
        ]
        return np.asarray(found, equation.params["index_dtype"]).reshape(lead)

    return place


def _sort(interpreter: Interpreter, equation: Any, *arrays: np.ndarray) -> list[np.ndarray]:
    keys, axis = equation.params["num_keys"], equation.params["dimension"]
    rows = [np.moveaxis(array, axis, -1) for array in arrays]
    order = np.empty(rows[0].shape, int)

    def precedes(at: tuple[int, ...], i: int, j: int) -> int:
        for key in rows[:keys]:
            a, b = key[at][i], key[at][j]
            if interpreter.decide("ne", a, b):
                return -1 if interpreter.decide("lt", a, b) else 1
        return 0

    for at in np.ndindex(*order.shape[:-1]):
        before = functools.cmp_to_key(functools.partial(precedes, at))
        order[at] = sorted(range(arrays[0].shape[axis]), key=before)
    return [np.moveaxis(np.take_along_axis(row, order, -1), -1, axis) for row in rows]


def _singular_values(interpreter: Interpreter, equation: Any, array: np.ndarray) -> np.ndarray:
    """Square roots of the eigenvalues of A^T A, which python-flint encloses with multiplicity."""
    if equation.params["compute_uv"] or interpreter.arithmetic is not BALLS:
        raise UnknownPrimitive("svd", interpreter.subject)
    if array.shape[-2] < array.shape[-1]:
        array = np.swapaxes(array, -2, -1)
    values = [_root_spectrum(array[at]) for at in np.ndindex(*array.shape[:-2])]
    return object_array([value for row in values for value in row], equation.outvars[0].aval.shape)


def _root_spectrum(matrix: np.ndarray) -> list[arb]:
    """The k-th largest value lies between the k-th largest lower and upper ends."""
    balls = arb_mat(matrix.tolist())
    if not all(ball.is_finite() for ball in matrix.flat):
        return [UNDEFINED] * matrix.shape[1]
    try:
        spectrum = acb_mat(balls.transpose() * balls).eig(multiple=True)
    except ValueError:
        raise Undecided from None
    lows = sorted((arb(0).max(value.real.lower()) for value in spectrum), reverse=True)
    highs = sorted((arb(0).max(value.real.upper()) for value in spectrum), reverse=True)
    return [low.sqrt().union(high.sqrt()) for low, high in zip(lows, highs)]


REDUCTIONS: Mapping[str, Rule] = {
    "reduce_sum": _fold("add", 0.0),
    "reduce_prod": _fold("mul", 1.0),
    "reduce_max": _fold("max", -np.inf),
    "reduce_min": _fold("min", np.inf),
    "reduce_and": _fold_logic(both, True),
    "reduce_or": _fold_logic(either, False),
    "cumsum": _accumulate("add"),
    "cumprod": _accumulate("mul"),
    "cummax": _accumulate("max"),
    "cummin": _accumulate("min"),
    "dot_general": _dot,
    "argmax": _place_of_extreme("gt"),
    "argmin": _place_of_extreme("lt"),
    "sort": _sort,
    "svd": _singular_values,
}
