"""How a user's model takes inputs, tried on the first two: one by one or as a batch, or not at all.

What cannot be asked, or would make answers wrong, is refused in one line: models that leave JAX,
that return no finite numbers, or whose inputs mix within a batch.
"""

from __future__ import annotations

import linecache
import traceback
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from theorysim.errors import UsageError

SAME = 1e-3
"""Rounding in single precision stays below this share of the outputs; what mixes inputs does not"""
FIT = "give inputs of the shape that the model takes"
MISFITS = ("shape", "dimension", "size", "broadcast")
"""words of an error that tells of inputs of another shape"""
WRAP = "wrap it in a function model(params, x) that returns one array"
NO_NUMBERS = (
    "look for logarithms or roots of negative numbers, divisions by 0, and numbers that are too "
    "large"
)
"""where NaN and infinity come from"""
AGAIN = (
    "the model gives other outputs when it is called again: turn randomness off (evaluation mode), "
    "or close over a fixed key"
)
MIXING = (
    "the output of an input depends on the other inputs of its batch: use batch norm with running "
    "averages (evaluation mode)"
)
DIFFERENT = (
    "the model takes one input and a batch, with different results: say which by batched=True or "
    "batched=False"
)
LEAVING = (
    (
        jax.errors.TracerArrayConversionError,
        "use jax.numpy (jnp) there in the place of NumPy, so that it can be differentiated",
    ),
    (
        jax.errors.TracerBoolConversionError,
        "use jnp.where or jax.lax.cond there in the place of `if`, `while` and `and`",
    ),
    (
        (
            jax.errors.ConcretizationTypeError,
            jax.errors.TracerIntegerConversionError,
            jax.errors.NonConcreteBooleanIndexError,
        ),
        "keep the number an array of JAX there: no float(), int() or .item() of it, and no size or "
        "index made of it but by jnp",
    ),
)
"""What a model does that JAX cannot trace, and what to do there; the more special ones first"""
LIBRARIES = {"jax", "jaxlib", "numpy", "equinox", "flax", "theorysim", "functools", "contextlib"}
"""Code that is not the user's"""


def first_of(inputs: Any) -> Any:
    """The first of stacked inputs."""
    return jax.tree.map(lambda leaf: leaf[0], inputs)


def of_one_input(
    call: Callable, leaves: Mapping[str, Array], inputs: Any, batched: bool | None
) -> Callable[[Mapping[str, Array], Any], Array]:
    """The model as a function of one input with (k,) outputs, however it takes inputs itself.

    Raises:
        UsageError: where it cannot be called, gives nothing finite, gives other outputs when called
            again, or mixes inputs.
    """

    def single(leaves: Mapping[str, Array], x: Any) -> Array:
        return jnp.ravel(call(leaves, x))

    def of_batch(leaves: Mapping[str, Array], x: Any) -> Array:
        return jnp.ravel(call(leaves, jax.tree.map(lambda leaf: leaf[None], x))[0])

    two = jax.tree.map(lambda leaf: leaf[:2], inputs)
    alone = _attempt(call, leaves, first_of(inputs)) if batched is not True else None
    together = _attempt(call, leaves, two) if batched is not False else None
    if not (isinstance(together, Failure) or together is None) and together.shape[:1] != (2,):
        together = Failure(f"two inputs gave outputs of shape {together.shape}", WRAP)
    takes_one, takes_batch = (isinstance(t, jax.ShapeDtypeStruct) for t in (alone, together))
    if not takes_one and not takes_batch:
        raise _refusal(alone or together, inputs)
    each = jax.vmap(lambda x: single(leaves, x))(two) if takes_one else None
    whole = _rows(call(leaves, two)) if takes_batch else None
    _check_numbers(each, whole)
    if whole is not None:
        _check_alike(_rows(call(leaves, two)), whole, AGAIN)
        if _is_finite(whole):
            halves = [jax.tree.map(lambda a, i=i: a[i], two) for i in (0, 1)]
            told = MIXING if each is None else f"{MIXING}, or batched=False if it takes one input"
            _check_alike(jnp.stack([of_batch(leaves, x) for x in halves]), whole, told)
        if each is None:
            return of_batch
        _check_alike(each, whole, DIFFERENT)
    return single


class Failure(NamedTuple):
    """What went wrong where a model was tried, and what helps."""

    told: str
    remedy: str


def _attempt(call: Callable, leaves: Mapping[str, Array], x: Any) -> Any:
    """The shape of the outputs, or a `Failure`."""
    try:
        shape = jax.eval_shape(call, leaves, x)
    except Exception as error:  # whatever a user's model raises
        return _failure(error)
    if not isinstance(shape, jax.ShapeDtypeStruct):
        return Failure(f"it returns a {type(shape).__name__}", WRAP)
    if not jnp.issubdtype(shape.dtype, jnp.floating):
        return Failure(f"it returns numbers of type {shape.dtype}", WRAP)
    return shape


def _failure(error: Exception) -> Failure:
    for kinds, remedy in LEAVING:
        if isinstance(error, kinds):
            return Failure(f"it leaves JAX ({type(error).__name__}){_place(error)}", remedy)
    told = f"{type(error).__name__}: {(str(error).strip() or '(no message)').splitlines()[0]}"
    return Failure(told, FIT if any(word in told for word in MISFITS) else WRAP)


def _place(error: Exception) -> str:
    """Where in the user's own code an error arose: file, line and what is written there."""
    found = ""
    for frame, line in traceback.walk_tb(error.__traceback__):
        if str(frame.f_globals.get("__name__")).split(".")[0] not in LIBRARIES:
            path = frame.f_code.co_filename
            written = linecache.getline(path, line).strip()
            found = f" at {path}:{line}" + (f", `{written}`" if written else "")
    return found


def _refusal(failure: Any, inputs: Any) -> UsageError:
    shapes = ", ".join(str(leaf.shape[1:]) for leaf in jax.tree.leaves(inputs))
    return UsageError(
        f"the model cannot be called on an input of shape {shapes}: {failure.told}; "
        f"{failure.remedy}"
    )


def _check_numbers(each: Array | None, whole: Array | None) -> None:
    """UsageError where no way of calling the model gives finite outputs of the first two inputs."""
    for outputs in (each, whole):
        if outputs is not None and _is_finite(outputs):
            return
    raise UsageError(f"the model returns NaN or infinity for the first two inputs: {NO_NUMBERS}")


def _is_finite(outputs: Array) -> bool:
    return bool(jnp.isfinite(outputs).all())


def _check_alike(left: Array, right: Array, told: str) -> None:
    """UsageError where outputs that ought to be the same are not, or are not finite."""
    if not _agree(left, right):
        raise UsageError(told)


def _rows(outputs: Array) -> Array:
    return outputs.reshape(outputs.shape[0], -1)


def _agree(left: Array, right: Array) -> bool:
    if left.shape != right.shape:
        return False
    return bool(np.abs(left - right).max() <= SAME * (np.abs(right).max() + SAME))
