"""Counts and seeds as users hand them in from Python, made integers of Python or refused."""

from __future__ import annotations

import operator
from typing import Any

from theorysim.errors import UsageError


def checked_seed(seed: int) -> int:
    """The seed; raises UsageError for one that no generator takes."""
    found = _integer(seed)
    if found is None or not 0 <= found < 1 << 63:
        raise UsageError(f"seed {seed!r}: expected an integer from 0 to 2^63 - 1")
    return found


def checked_count(count: int, what: str, least: int = 1) -> int:
    """A number of something; raises UsageError, in which it is called `what`, for others."""
    found = _integer(count)
    if found is None or found < least:
        raise UsageError(f"{what}: expected an integer of at least {least}")
    return found


def _integer(value: Any) -> int | None:
    """The integer of Python that a value is, one of NumPy's too; None for truths and all else."""
    try:
        return None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        return None
