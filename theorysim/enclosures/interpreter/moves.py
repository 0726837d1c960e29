"""The operations of JAX that only move the entries of arrays about.

Where JAX's own indexing rules matter (gather, scatter, pad), the operation itself is run on the
places of the entries, which are integers and therefore exact.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from theorysim.enclosures.interpreter.arrays import by_jax
from theorysim.enclosures.interpreter.interpreter import Interpreter
from theorysim.enclosures.interpreter.rulebook import Rule, Table


def _result_shape(equation: Any) -> tuple[int, ...]:
    return equation.outvars[0].aval.shape


def _reshape(interpreter: Interpreter, equation: Any, array: np.ndarray) -> np.ndarray:
    return array.reshape(_result_shape(equation))


def _broadcast(interpreter: Interpreter, equation: Any, array: np.ndarray) -> np.ndarray:
    shape = equation.params["shape"]
    spread = [1] * len(shape)
    for axis, length in zip(equation.params["broadcast_dimensions"], array.shape):
        spread[axis] = length
    return np.broadcast_to(array.reshape(spread), shape)


def _slice(interpreter: Interpreter, equation: Any, array: np.ndarray) -> np.ndarray:
    p = equation.params
    strides = p["strides"] or (1,) * array.ndim
    cut = zip(p["start_indices"], p["limit_indices"], strides)
    return array[tuple(slice(*piece) for piece in cut)]


def _window(array: np.ndarray, starts: tuple, lengths: tuple[int, ...]) -> tuple[slice, ...]:
    """JAX moves a window that would stick out back into the array."""
    clamped = [min(max(int(s), 0), n - k) for s, n, k in zip(starts, array.shape, lengths)]
    return tuple(slice(s, s + k) for s, k in zip(clamped, lengths))


def _dynamic_slice(
    interpreter: Interpreter, equation: Any, array: np.ndarray, *starts: Any
) -> np.ndarray:
    return array[_window(array, starts, equation.params["slice_sizes"])]


def _dynamic_update_slice(
    interpreter: Interpreter, equation: Any, array: np.ndarray, update: np.ndarray, *starts: Any
) -> np.ndarray:
    array = array.copy()
    array[_window(array, starts, update.shape)] = update
    return array


def _split(interpreter: Interpreter, equation: Any, array: np.ndarray) -> list[np.ndarray]:
    ends = np.cumsum(equation.params["sizes"])[:-1]
    return np.split(array, ends, equation.params["axis"])


def _places(array: np.ndarray) -> np.ndarray:
    return np.arange(array.size).reshape(array.shape)


def _gather(interpreter: Interpreter, equation: Any, array: np.ndarray, indices: Any) -> Any:
    """JAX gathers the places of the entries, -1 where it would fill in."""
    params = {**equation.params, "fill_value": -1}
    with jax.enable_x64(True):
        inside, wanted = jnp.asarray(_places(array)), jnp.asarray(indices)
        places = np.asarray(equation.primitive.bind(inside, wanted, **params))
    fill = equation.params["fill_value"]
    if not (places < 0).any():
        return _taken(array.ravel(), places)
    interpreter.require(fill is not None or array.dtype == object, "gather beyond the array")
    missing = interpreter.lift(
        np.asarray(np.nan if fill is None else fill, equation.invars[0].aval.dtype)
    )
    return _taken(np.append(array.ravel(), missing.ravel()), places)


def _taken(entries: np.ndarray, places: np.ndarray) -> np.ndarray:
    """An array also for a single place, where NumPy would hand out the entry itself."""
    return entries[places.ravel()].reshape(places.shape)


def _pad(
    interpreter: Interpreter, equation: Any, array: np.ndarray, padding: np.ndarray
) -> np.ndarray:
    """The map of places depends on nothing but the operation, so that it is made once."""
    if id(equation) not in interpreter.index_maps:
        with jax.enable_x64(True):
            inside, outside = _places(array), np.asarray(array.size)
            places = equation.primitive.bind(inside, outside, **equation.params)
        interpreter.index_maps[id(equation)] = equation, np.asarray(places)
    return np.append(array.ravel(), padding.ravel())[interpreter.index_maps[id(equation)][1]]


def _scatter(combine: str | None) -> Rule:
    def scatter(
        interpreter: Interpreter,
        equation: Any,
        array: np.ndarray,
        indices: Any,
        updates: np.ndarray,
    ) -> Any:
        """For every update, JAX marks the entry that it goes to."""
        applied = combine is None and equation.params["update_jaxpr"] is not None
        interpreter.require(not applied, "scatter of a function, as by .at[].apply")
        single = np.eye(updates.size, dtype=int).reshape(updates.size, *updates.shape)
        p = equation.params

        def mark(one: Any) -> Any:
            numbers, mode = p["dimension_numbers"], p["mode"]
            empty = jnp.zeros(array.shape, int)
            return jax.lax.scatter_add(empty, jnp.asarray(indices), one, numbers, mode=mode)

        with jax.enable_x64(True):
            marks = np.asarray(jax.vmap(mark)(jnp.asarray(single)))
        pairs = np.argwhere(marks.reshape(updates.size, -1))
        once = len(set(pairs[:, 1].tolist())) == len(pairs)
        interpreter.require(once or combine is not None, "scatter to the same place twice")
        entries = array.astype(object).ravel()
        for update, place in pairs:
            new = updates.ravel()[update : update + 1]
            if combine is not None:
                new = interpreter.function(combine, equation)(entries[place : place + 1], new)
            entries[place] = new[0]
        return entries.reshape(array.shape)

    return scatter


# Keys are moved by JAX; its own rules for all else.
MOVED: dict[str, tuple[str, Rule]] = {
    "reshape": ("", _reshape),
    "squeeze": ("", _reshape),
    "expand_dims": ("", _reshape),
    "broadcast_in_dim": ("", _broadcast),
    "transpose": ("", lambda m, e, a: a.transpose(e.params["permutation"])),
    "rev": ("", lambda m, e, a: np.flip(a, e.params["dimensions"])),
    "slice": ("", _slice),
    "dynamic_slice": ("i*", _dynamic_slice),
    "gather": ("i", _gather),
    "split": ("", _split),
}

MOVES: Table = {
    **{
        name: {rf"([fib]){rest}>\1+": move, f"k{rest}>k+": by_jax}
        for name, (rest, move) in MOVED.items()
    },
    "dynamic_update_slice": {r"([fib])\1i*>\1": _dynamic_update_slice},
    "concatenate": {
        r"([fib])\1*>\1": lambda m, e, *arrays: np.concatenate(arrays, e.params["dimension"]),
        "k+>k": by_jax,
    },
    "stack": {r"([fib])\1*>\1": lambda m, e, *arrays: np.stack(arrays, e.params["axis"])},
    "pad": {r"([fib])\1>\1": _pad},
    "scatter": {r"([fib])i\1>\1": _scatter(None)},
    **{
        f"scatter-{name}": {r"([fi])i\1>\1": _scatter(name)}
        for name in ("add", "mul", "min", "max")
    },
}
