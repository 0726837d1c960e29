"""Numbers and instances in words, as a sentence has them."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from typing import Any

import numpy as np

# An array of more entries is described by its shape and range.
LISTED = 4
# Of an instance so many sizes and values are named.
NAMED = 6
# A number of an array that takes more digits is rounded, and said to be.
READABLE = 6
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


def sides(left: float, right: float) -> tuple[str, str]:
    """Two numbers with as many digits as tell them apart."""
    apart = abs(left - right) / max(abs(left), abs(right), 1e-300)
    digits = 4 if not 0 < apart < 1e-2 else min(16, 3 - math.floor(math.log10(apart)))
    return number(left, digits), number(right, digits)


def exact(value: float) -> str:
    """The shortest decimal that reads back as the same number."""
    return repr(float(value)).removesuffix(".0")


def instance(data: Mapping[str, Any] | None, without: Collection[str] = ()) -> str:
    """An instance as a list of sizes and values, the first ones; long arrays by shape and range.

    Numbers have all their digits, so that they stay in the space and violate what they violate;
    those of arrays that would take many are said to be about so much. What is in `without`, such
    as what a ladder climbs, is left out.
    """
    if data is None:
        return "an instance that is not known"
    parts = [(name, str(size)) for name, size in data.get("sizes", {}).items()]
    parts += [(name, _value(value)) for name, value in data.get("values", {}).items()]
    parts = [f"{name} = {shown}" for name, shown in parts if name not in without]
    more = f" and {len(parts) - NAMED} more values" if len(parts) > NAMED + 1 else ""
    return ", ".join(parts[:NAMED] if more else parts) + more


def _value(value: Any) -> str:
    array = np.asarray(value)
    if array.dtype.kind not in "iuf":
        return str(value)
    if not array.shape:
        return exact(float(array)) if array.dtype.kind == "f" else str(array)
    if array.ndim == 1 and array.size <= LISTED:
        about, entries = _entries(array)
        return f"{about}({', '.join(entries)})"
    shape = " x ".join(map(str, array.shape))
    if not array.size:
        return f"({shape} numbers)"
    about, (low, high) = _entries([np.min(array), np.max(array)])
    return f"({shape} numbers from {about}{low} to {high})"


def _entries(numbers: Iterable[Any]) -> tuple[str, list[str]]:
    """Numbers in words, and "about " before them if they are rounded."""
    values = [float(value) for value in numbers]
    if all(float(f"{value:.{READABLE}g}") == value for value in values):
        return "", [exact(value) for value in values]
    return "about ", [number(value) for value in values]


def sizes_in_words(several: Iterable[Mapping[str, int]]) -> str:
    """Sizes that go together: "d = 2, 4", "(d, n) = (2, 2), (4, 16)"; one alone "d = 2, n = 4"."""
    listed = list(several)
    names = list(listed[0])
    if len(listed) == 1:
        return ", ".join(f"{name} = {listed[0][name]}" for name in names)
    rows = sorted(tuple(sizes[name] for name in names) for sizes in listed)
    if len(names) == 1:
        return f"{names[0]} = {', '.join(str(value) for (value,) in rows)}"
    shown = ", ".join(f"({', '.join(map(str, row))})" for row in rows)
    return f"({', '.join(names)}) = {shown}"
