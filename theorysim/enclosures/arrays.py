"""Arrays of objects, and the operations of JAX that only move their entries about.

Where JAX's own indexing rules matter (gather, scatter, pad), the operation itself is run on the
places of the entries, which are integers and therefore exact.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from theorysim.enclosures.balls import Undecided
from theorysim.errors import UsageError

if TYPE_CHECKING:
    from theorysim.enclosures.interpreter import Machine


class UnknownPrimitive(UsageError):
    """A formula uses an operation of JAX for which no enclosure is known."""

    def __init__(self, operation: str, machine: Machine):
        super().__init__(
            f"certify does not know the operation {operation!r} in {machine.subject}: "
            "state that part of the formula with other operations"
        )


def filled(entries: list[Any], shape: tuple[int, ...]) -> np.ndarray:
    """An array of objects."""
    array = np.empty(len(entries), object)
    array[:] = entries
    return array.reshape(shape)


def objects(function: Callable, *arrays: Any) -> np.ndarray:
    """A function applied to every entry of broadcast arrays of objects."""
    result = np.frompyfunc(function, len(arrays), 1)(*arrays)
    return result if isinstance(result, np.ndarray) else filled([result], ())


def concrete(equation: Any, values: list[Any]) -> list[Any]:
    """An operation on integers, booleans and random keys only, run by JAX itself.

    Raises:
        Undecided: where a boolean is unknown.
    """
    with jax.enable_x64(True):
        inputs = [jnp.asarray(known(v)) for v in values]
        outputs = equation.primitive.bind(*inputs, **equation.params)
    return [_held(v) for v in (outputs if equation.primitive.multiple_results else [outputs])]


def known(value: Any) -> Any:
    """Booleans that are all decided, for NumPy; anything else as it is."""
    if value.dtype != object:
        return value
    entries = value.ravel().tolist()
    if None in entries:
        raise Undecided
    if not all(isinstance(entry, bool) for entry in entries):
        raise TypeError("an enclosure is no boolean")
    return value.astype(bool)


def _held(value: Any) -> Any:
    if jnp.issubdtype(value.dtype, jax.dtypes.prng_key):
        return value
    array = np.asarray(value)
    return array.astype(object) if array.dtype == bool else array


def _result_shape(equation: Any) -> tuple[int, ...]:
    return equation.outvars[0].aval.shape


def is_float(atom: Any) -> bool:
    """Whether a variable of a program holds floats."""
    return jnp.issubdtype(atom.aval.dtype, np.floating)


def _reshape(machine: Machine, equation: Any, array: np.ndarray) -> np.ndarray:
    return array.reshape(_result_shape(equation))


def _broadcast(machine: Machine, equation: Any, array: np.ndarray) -> np.ndarray:
    shape = equation.params["shape"]
    spread = [1] * len(shape)
    for axis, length in zip(equation.params["broadcast_dimensions"], array.shape):
        spread[axis] = length
    return np.broadcast_to(array.reshape(spread), shape)


def _slice(machine: Machine, equation: Any, array: np.ndarray) -> np.ndarray:
    p = equation.params
    strides = p["strides"] or (1,) * array.ndim
    cut = zip(p["start_indices"], p["limit_indices"], strides)
    return array[tuple(slice(*piece) for piece in cut)]


def _window(array: np.ndarray, starts: tuple, lengths: tuple[int, ...]) -> tuple[slice, ...]:
    """JAX moves a window that would stick out back into the array."""
    clamped = [min(max(int(s), 0), n - k) for s, n, k in zip(starts, array.shape, lengths)]
    return tuple(slice(s, s + k) for s, k in zip(clamped, lengths))


def _dynamic_slice(machine: Machine, equation: Any, array: np.ndarray, *starts: Any) -> np.ndarray:
    return array[_window(array, starts, equation.params["slice_sizes"])]


def _dynamic_update_slice(
    machine: Machine, equation: Any, array: np.ndarray, update: np.ndarray, *starts: Any
) -> np.ndarray:
    array = array.copy()
    array[_window(array, starts, update.shape)] = update
    return array


def _split(machine: Machine, equation: Any, array: np.ndarray) -> list[np.ndarray]:
    ends = np.cumsum(equation.params["sizes"])[:-1]
    return np.split(array, ends, equation.params["axis"])


def _places(array: np.ndarray) -> np.ndarray:
    return np.arange(array.size).reshape(array.shape)


def _gather(machine: Machine, equation: Any, array: np.ndarray, indices: Any) -> Any:
    """JAX gathers the places of the entries, -1 where it would fill in."""
    if not is_float(equation.invars[0]):
        return concrete(equation, [array, indices])
    params = {**equation.params, "fill_value": -1}
    with jax.enable_x64(True):
        inside, wanted = jnp.asarray(_places(array)), jnp.asarray(indices)
        places = np.asarray(equation.primitive.bind(inside, wanted, **params))
    fill = equation.params["fill_value"]
    missing = machine.lifted(np.asarray(np.nan if fill is None else fill, float))
    return np.append(array.ravel(), missing.ravel())[places]


def _pad(machine: Machine, equation: Any, array: np.ndarray, padding: np.ndarray) -> np.ndarray:
    """The map of places depends on nothing but the operation, so that it is made once."""
    if id(equation) not in machine.index_maps:
        with jax.enable_x64(True):
            inside, outside = jnp.asarray(_places(array)), jnp.asarray(array.size)
            places = equation.primitive.bind(inside, outside, **equation.params)
        machine.index_maps[id(equation)] = equation, np.asarray(places)
    return np.append(array.ravel(), padding.ravel())[machine.index_maps[id(equation)][1]]


def _scatter(combine: str | None) -> Callable:
    def scatter(
        machine: Machine, equation: Any, array: np.ndarray, indices: Any, updates: np.ndarray
    ) -> Any:
        """For every update, JAX marks the entry that it goes to."""
        if not is_float(equation.invars[0]):
            return concrete(equation, [array, indices, updates])
        single = np.eye(updates.size, dtype=int).reshape(updates.size, *updates.shape)
        p = equation.params

        def mark(one: Any) -> Any:
            numbers, mode = p["dimension_numbers"], p["mode"]
            empty = jnp.zeros(array.shape, int)
            return jax.lax.scatter_add(empty, jnp.asarray(indices), one, numbers, mode=mode)

        with jax.enable_x64(True):
            marks = np.asarray(jax.vmap(mark)(jnp.asarray(single)))
        entries = array.copy().ravel()
        for update, place in np.argwhere(marks.reshape(updates.size, -1)):
            new = updates.ravel()[update]
            if combine is not None:
                new = machine.arithmetic.functions[combine](entries[place], new)
            entries[place] = new
        return entries.reshape(array.shape)

    return scatter


MOVES: dict[str, Callable] = {
    "reshape": _reshape,
    "squeeze": _reshape,
    "expand_dims": _reshape,
    "broadcast_in_dim": _broadcast,
    "transpose": lambda m, e, a: a.transpose(e.params["permutation"]),
    "rev": lambda m, e, a: np.flip(a, e.params["dimensions"]),
    "slice": _slice,
    "dynamic_slice": _dynamic_slice,
    "dynamic_update_slice": _dynamic_update_slice,
    "concatenate": lambda m, e, *arrays: np.concatenate(arrays, e.params["dimension"]),
    "stack": lambda m, e, *arrays: np.stack(arrays, e.params["axis"]),
    "split": _split,
    "gather": _gather,
    "pad": _pad,
    "scatter": _scatter(None),
    "scatter-add": _scatter("add"),
}
