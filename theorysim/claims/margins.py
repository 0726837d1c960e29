"""Conditions as signed margins: met where they are at least 0, or above it if they are strict."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import jax.numpy as jnp
from jaxtyping import Array

from theorysim.errors import UsageError

# Of an instance, for a hypothesis; of a run, for where a claim says something.
Margin = Callable[[Any], Any]

# Where functions are made of an author's: their place says nothing.
LANGUAGE = "theorysim.claims"

MARGIN = "give a number that is >= 0 where it holds: `b - a` for `a <= b`"


@dataclass(frozen=True)
class Strict:
    """A margin that must be above 0: exactly 0 does not satisfy the condition."""

    margin: Margin

    def __call__(self, of: Any) -> Any:
        """The margin."""
        return self.margin(of)


@lru_cache(maxsize=4096)
def strict(margin: Margin) -> Strict:
    """A condition that a margin is above 0, such as `strict(lambda x: x.b - x.a)` for a < b.

    The same object for the same margin: statements that share it share its compiled program.
    """
    return Strict(margin)


def place_of(function: Any) -> str:
    """File and line where a function is written; "" of one that is compiled or of this package."""
    inner = function.margin if isinstance(function, Strict) else function
    code = getattr(inspect.unwrap(inner), "__code__", None) if callable(inner) else None
    if code is None or str(getattr(inner, "__module__", "")).startswith(LANGUAGE):
        return ""
    return f"{code.co_filename}:{code.co_firstlineno}"


def margin_entries(value: Any, whose: str) -> Array:
    """The entries of a margin or a requirement.

    Args:
        value: what its function returned.
        whose: what the message calls it.

    Raises:
        UsageError: for what is no array of numbers, and for true or false, which would count as
            met.
    """
    try:
        entries = jnp.asarray(value)
    except OverflowError:
        raise UsageError(f"{whose} is an integer of more than 64 bits: make it a float") from None
    except (TypeError, ValueError):
        raise UsageError(f"{whose} is of type {type(value).__name__}; {MARGIN}") from None
    if entries.dtype == bool:
        raise UsageError(f"{whose} is true or false; {MARGIN}")
    return entries


def is_strict(margin: Margin) -> bool:
    """Whether a margin of exactly 0 fails the condition."""
    return isinstance(margin, Strict)


def is_met(margin: Margin, value: Any) -> Any:
    """Whether values of a margin satisfy the condition: >= 0, or > 0 where it is strict.

    Of NumPy's or JAX's arrays; NaN does not.
    """
    return value > 0 if is_strict(margin) else value >= 0
