"""NumPy arrays of objects, and the operations of JAX on what is known exactly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from theorysim.enclosures.arithmetic.base import Undecided


def object_array(entries: list[Any], shape: tuple[int, ...]) -> np.ndarray:
    """An array of objects."""
    array = np.empty(len(entries), object)
    array[:] = entries
    return array.reshape(shape)


def map_entries(function: Callable, *arrays: Any) -> np.ndarray:
    """A function applied to every entry of broadcast arrays of objects."""
    result = np.frompyfunc(function, len(arrays), 1)(*arrays)
    return result if isinstance(result, np.ndarray) else object_array([result], ())


def evaluate_exactly(equation: Any, values: list[Any]) -> list[Any]:
    """An operation on integers, booleans and random keys only, run by JAX itself.

    Raises:
        Undecided: where a boolean is unknown.
    """
    with jax.enable_x64(True):
        inputs = [jnp.asarray(require_decided(v)) for v in values]
        outputs = equation.primitive.bind(*inputs, **equation.params)
    return [_hold(v) for v in (outputs if equation.primitive.multiple_results else [outputs])]


def require_decided(value: Any) -> Any:
    """Booleans that are all decided, for NumPy; anything else as it is."""
    if value.dtype != object:
        return value
    entries = value.ravel().tolist()
    if None in entries:
        raise Undecided
    if not all(isinstance(entry, bool) for entry in entries):
        raise TypeError("an enclosure is not a boolean")
    return value.astype(bool)


def _hold(value: Any) -> Any:
    if jnp.issubdtype(value.dtype, jax.dtypes.prng_key):
        return value
    array = np.asarray(value)
    return array.astype(object) if array.dtype == bool else array


def is_float(atom: Any) -> bool:
    """Whether a variable of a program holds floats."""
    return jnp.issubdtype(atom.aval.dtype, np.floating)
