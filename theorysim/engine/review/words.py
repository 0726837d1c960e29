"""Numbers and instances in words, as a sentence has them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

# An array of more entries is described by its shape and range.
LISTED = 4
# Of an instance so many sizes and values are named.
NAMED = 6
# Numbers of this size are written without a power of ten.
PLAIN = (1e-3, 1e5)


def number(value: float, digits: int = 3) -> str:
    """A number with so many digits: 0.312, 6e3, -1.2e-7."""
    if not math.isfinite(value):
        return "no number" if math.isnan(value) else ("infinity" if value > 0 else "-infinity")
    if value == 0 or PLAIN[0] <= abs(value) < PLAIN[1]:
        rounded = float(f"{value:.{digits}g}")
        return f"{rounded:g}" if abs(rounded) < PLAIN[1] else _power(value, digits)
    return _power(value, digits)


def _power(value: float, digits: int) -> str:
    mantissa, _, exponent = f"{value:.{digits - 1}e}".partition("e")
    return f"{float(mantissa):g}e{int(exponent)}"


def share(part: int, whole: int) -> str:
    """A share in per cent; "none" and "all" only where they are exact."""
    if part in (0, whole):
        return "none" if part == 0 else "all"
    per_cent = 100 * part / whole
    shown = f"{per_cent:.2g}" if per_cent < 99.5 else f"{math.floor(10 * per_cent) / 10:g}"
    return f"{shown} %"


def count(number: int, noun: str) -> str:
    """How many of something there are: "1 draw", "12,000 draws"."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def instance(data: Mapping[str, Any] | None) -> str:
    """An instance as a list of sizes and values, the first ones; long arrays by shape and range."""
    if data is None:
        return "an instance that is not known"
    parts = [f"{name} = {size}" for name, size in data.get("sizes", {}).items()]
    parts += [f"{name} = {_value(value)}" for name, value in data.get("values", {}).items()]
    more = f" and {len(parts) - NAMED} more values" if len(parts) > NAMED + 1 else ""
    return ", ".join(parts[:NAMED] if more else parts) + more


def _value(value: Any) -> str:
    array = np.asarray(value)
    if array.dtype.kind not in "iuf":
        return str(value)
    if not array.shape:
        return number(float(array), 4)
    if array.ndim == 1 and array.size <= LISTED:
        return f"({', '.join(number(float(entry)) for entry in array)})"
    shape = " x ".join(map(str, array.shape))
    if not array.size:
        return f"({shape} numbers)"
    low, high = (number(float(end)) for end in (np.min(array), np.max(array)))
    return f"({shape} numbers from {low} to {high})"
