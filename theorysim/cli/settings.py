"""What users write as NAME=VALUE: fixed settings, boxes, grids and files.

All take the texts of a repeatable option and raise UsageError, naming the option and what would be
accepted, for an empty name or value, a missing `=` and a name that is given twice. Names, and the
ranges of values, are checked where the theorem is known.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from theorysim.errors import UsageError

SETTING = "expected NAME=VALUE, where VALUE is a number or a list of numbers, such as 0.5 or [1, 2]"
BOX = "expected NAME=LOW:HIGH or NAME=VALUE"
# Every value is checked by its field, and labels the axis.
MOST_VALUES = 100_000
FILE = "expected NAME=FILE"
GRID = "expected NAME=LOW:HIGH:N, NAME=log:LOW:HIGH:N or NAME=VALUE,VALUE,..."


def parse_settings(texts: Iterable[str]) -> dict[str, Any]:
    """The values of `--set NAME=VALUE`: numbers and (nested) lists of numbers."""
    found = {}
    for name, value in _split("--set", texts, SETTING).items():
        found[name] = _json(value)
        if not _is_numeric(found[name]):
            raise UsageError(f"--set {name}={value}: {SETTING}")
    return found


def parse_box(texts: Iterable[str]) -> dict[str, Any]:
    """The ranges of `--box NAME=LOW:HIGH` and the values of `--box NAME=VALUE`.

    Numbers stay as they are written, because certificates are about decimals, not about floats.
    """
    found = {}
    for name, value in _split("--box", texts, BOX).items():
        ends = tuple(end.strip() for end in value.split(":"))
        if not all(ends) or len(ends) > 2:
            raise UsageError(f"--box {name}={value}: {BOX}")
        found[name] = ends if len(ends) == 2 else _text_or_list(name, value)
    return found


def parse_grid(texts: Iterable[str]) -> dict[str, list[float]]:
    """The values of `--grid NAME=LOW:HIGH:N`, `NAME=log:LOW:HIGH:N` and `NAME=VALUE,VALUE,...`."""
    found = {}
    for name, value in _split("--grid", texts, GRID).items():
        try:
            found[name] = _axis(name, value)
        except UsageError:
            raise
        except ValueError:
            raise UsageError(f"--grid {name}={value}: {GRID}") from None
    return found


def parse_files(option: str, texts: Iterable[str]) -> dict[str, Path]:
    """The files of a repeatable option with NAME=FILE."""
    return {name: Path(value) for name, value in _split(option, texts, FILE).items()}


def _split(option: str, texts: Iterable[str], expected: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for text in texts:
        name, _, value = (part.strip() for part in text.partition("="))
        if not (name and value):
            raise UsageError(f"{option} {text}: {expected}")
        if name in found:
            raise UsageError(f"{option} {name} is given twice")
        found[name] = value
    return found


def _json(text: str) -> Any:
    """The JSON value of a text; None where it has none, or is nested without end."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _is_numeric(value: Any) -> bool:
    """Whether a JSON value is a number or a list of such; `true` is not 1."""
    if isinstance(value, list):
        return all(map(_is_numeric, value))
    return isinstance(value, int | float) and not isinstance(value, bool)


def _text_or_list(name: str, value: str) -> Any:
    if not value.startswith("["):
        return value
    found = _json(value)
    if not _is_numeric(found):
        raise UsageError(f"--box {name}={value}: expected a JSON list of numbers")
    return found


def _axis(name: str, text: str) -> list[float]:
    import numpy as np

    if ":" not in text:
        return [_finite(value) for value in text.split(",")]
    logarithmic = text.startswith("log:")
    low, high, count = text.removeprefix("log:").split(":")
    if int(count) < 1:
        raise ValueError(text)
    if int(count) > MOST_VALUES:
        raise UsageError(f"--grid {name}={text}: at most {MOST_VALUES} values along one axis")
    if logarithmic and not (_finite(low) > 0 and _finite(high) > 0):
        raise UsageError(f"--grid {name}={text}: both ends of a log grid must be above 0")
    space = np.geomspace if logarithmic else np.linspace
    return space(_finite(low), _finite(high), int(count)).tolist()


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(text)
    return number
