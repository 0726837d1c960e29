"""NumPy arrays of objects, and the operations of JAX on what is known exactly."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import Primitive

from theorysim.enclosures.arithmetic.base import Undecided


def object_array(entries: list[Any], shape: tuple[int, ...]) -> np.ndarray:
    """An array of objects."""
    array = np.empty(len(entries), object)
    array[:] = entries
    return array.reshape(shape)


def map_entries(function: Callable, *arrays: Any) -> np.ndarray:
    """A function applied to every entry of broadcast arrays, of objects or integers."""
    if any(array.ndim for array in arrays):
        return np.frompyfunc(function, len(arrays), 1)(*arrays)
    return _without_axes(function(*(array.item() for array in arrays)))


def as_array(value: Any) -> Any:
    """An entry, which NumPy hands out where no axis is left, as an array; arrays as they are."""
    return value if hasattr(value, "shape") else _without_axes(value)


def _without_axes(entry: Any) -> np.ndarray:
    scalar = np.empty((), object)  # `object_array` takes twice as long, and most arrays are scalars
    scalar[()] = entry
    return scalar


def by_jax(interpreter: Any, equation: Any, *values: Any) -> list[Any]:
    """An operation on bits and random keys that JAX itself runs: nothing can overflow in it.

    Raises:
        Undecided: where a boolean is unknown.
    """
    with jax.enable_x64(True):
        outputs = _compiled(equation.primitive, **equation.params)(*map(require_decided, values))
    outputs = outputs if equation.primitive.multiple_results else [outputs]
    return [output if is_key(output) else np.asarray(output) for output in outputs]


@functools.lru_cache(maxsize=256)
def _compiled(primitive: Primitive, **params: Any) -> Callable:
    """An operation as one program: JAX alone runs one on keys as several, each to be compiled."""
    return jax.jit(functools.partial(primitive.bind, **params))


def require_decided(value: Any) -> Any:
    """Booleans that are all decided, for NumPy; integers and keys as they are.

    Raises:
        Undecided: where a boolean is unknown.
    """
    if is_key(value) or value.dtype != object:
        return value
    if any(entry is None for entry in value.flat):
        raise Undecided
    return value.astype(bool)


def is_key(value: Any) -> bool:
    """Whether an array holds random keys."""
    return hasattr(value, "dtype") and kind(value.dtype) == "k"


def dtype_of(atom: Any) -> Any:
    """The type of a variable's entries; None of what has none, as a token."""
    return getattr(atom.aval, "dtype", None)


@functools.cache
def kind(dtype: Any) -> str:
    """f, i, b, or k for random keys; "?" for what no rule knows (complex numbers, tokens)."""
    if dtype is None:
        return "?"
    if jnp.issubdtype(dtype, jax.dtypes.prng_key):
        return "k"
    return {"f": "f", "i": "i", "u": "i", "b": "b"}.get(dtype.kind, "?")


def is_float(atom: Any) -> bool:
    """Whether a variable of a program holds floats."""
    return kind(dtype_of(atom)) == "f"
