"""The numbers that fields are made of, checked when a field is made."""

from __future__ import annotations

from typing import Any

import numpy as np


def check_lengths(*lengths: Any, what: str = "length", least: int = 0) -> None:
    """Refuse lengths that are neither integers of at least `least` nor formulas of sizes.

    Raises:
        ValueError: naming what arrived; whether a formula's names are sizes, the space checks.
    """
    for length in lengths:
        if isinstance(length, str):
            continue
        is_integer = isinstance(length, (int, np.integer)) and not isinstance(length, bool)
        if not is_integer or length < least:
            raise ValueError(
                f"{what} = {length!r}: expected an integer of at least {least}, the name of a "
                'size, or a formula of sizes such as "steps + 1"'
            )


def check_numbers(**numbers: Any) -> None:
    """Refuse what is no finite real number; true and false are none.

    Raises:
        ValueError: naming the number and what arrived.
    """
    for name, number in numbers.items():
        array = np.asarray(number)
        if array.shape or array.dtype.kind not in "iuf" or not np.isfinite(array):
            raise ValueError(f"{name} = {number!r}: expected a finite number")


def check_interval(low: Any, high: Any, log: bool = False) -> None:
    """Refuse ends of an interval that are no numbers, in the wrong order, or have no logarithm.

    Raises:
        ValueError: naming both ends.
    """
    check_numbers(low=low, high=high)
    if low > high:
        raise ValueError(f"no interval [{low}, {high}]: expected low <= high")
    if log and low <= 0:
        raise ValueError(f"no interval [{low}, {high}] on a log scale: expected low > 0")
