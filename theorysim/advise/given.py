"""Every argument of a question, checked for its type before any work: `checked`.

A user's file may define these names as anything at all. What is refused here names the argument,
its value, and what is expected; what only the model can tell (groups, shapes) is checked later.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import wraps
from numbers import Integral, Real
from typing import Any, ParamSpec, TypeVar

import numpy as np

from theorysim.errors import UsageError

Asked = ParamSpec("Asked")
Answer = TypeVar("Answer")

LONGEST = 60
"""so many characters of a value are shown in a message"""
MOST_SEED = 2**32 - 1
MOST_STEPS, MOST_SEEDS, MOST_VALUES = 10**7, 1000, 64
"""of a run, of draws, of values that are tried; what steps cost is timed where they are made"""


def checked(question: Callable[Asked, Answer]) -> Callable[Asked, Answer]:
    """The same function, which refuses arguments of a wrong type before it begins.

    Raises:
        UsageError: for an argument that is not of its type, in one line.
    """
    signature = inspect.signature(question)

    @wraps(question)
    def asked(*args: Asked.args, **kwargs: Asked.kwargs) -> Answer:
        for name, value in signature.bind(*args, **kwargs).arguments.items():
            default = signature.parameters[name].default
            if name in CHECKS and not (value is None and default is None):
                check(name, value)
        return question(*args, **kwargs)

    return asked


def check(name: str, value: Any) -> None:
    """UsageError where a value is not of the type that `CHECKS` has for this argument."""
    CHECKS[name](name, value)


def told(value: Any) -> str:
    """A value in one line of a message: short ones as they are, of others the type."""
    if isinstance(value, str | int | float | bool | list | tuple | dict | None):
        text = repr(value)
        if len(text) <= LONGEST and "\n" not in text:
            return text
    shape = getattr(value, "shape", None)
    return f"<{type(value).__name__}" + ("" if shape is None else f" of shape {shape}") + ">"


def _refuse(name: str, value: Any, expected: str) -> UsageError:
    return UsageError(f"{name}={told(value)}: expected {expected}")


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_)


def _truth(name: str, value: Any) -> None:
    if not isinstance(value, bool | np.bool_):
        raise _refuse(name, value, "True or False")


def _text(name: str, value: Any) -> None:
    if not isinstance(value, str):
        raise _refuse(name, value, "a name as a string")


def _whole(name: str, value: Any) -> None:
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise _refuse(name, value, "a whole number")


def _steps(name: str, value: Any) -> None:
    _whole(name, value)
    if value > MOST_STEPS:
        raise _refuse(name, value, f"a whole number up to {MOST_STEPS}")


def _seeds(name: str, value: Any) -> None:
    _whole(name, value)
    if value > MOST_SEEDS:
        raise _refuse(name, value, f"a number of draws, up to {MOST_SEEDS}")


def _rows(name: str, value: Any) -> None:
    _whole(name, value)
    if value < 2:
        raise _refuse(name, value, "a whole number from 2 upwards")


def _seed(name: str, value: Any) -> None:
    _whole(name, value)
    if not 0 <= value <= MOST_SEED:
        raise _refuse(name, value, f"a whole number from 0 to {MOST_SEED}")


def _rate(name: str, value: Any) -> None:
    if not _is_number(value) or np.isnan(value):
        raise _refuse(name, value, "a number above 0, such as 0.01")


def _numbers(name: str, value: Any) -> None:
    expected = "a sequence of finite numbers, such as [0.1, 1.0]"
    try:
        array = np.asarray(value)
    except ValueError:  # of unequal lengths
        raise _refuse(name, value, expected) from None
    if array.ndim != 1 or array.dtype.kind not in "iuf" or not np.isfinite(array).all():
        raise _refuse(name, value, expected)
    if len(array) > MOST_VALUES:
        raise UsageError(f"{name}: {len(array)} values, at most {MOST_VALUES}")


def _positive(name: str, value: Any) -> None:
    _numbers(name, value)
    if not len(value) or min(value) <= 0 or len(set(map(float, value))) < len(value):
        raise _refuse(name, value, "numbers above 0, one or more, each once")


def _pair(name: str, value: Any) -> None:
    if not isinstance(value, tuple | list) or len(value) != 2:
        raise _refuse(name, value, "a pair, (inputs, targets)")


def _are_names(value: Any) -> bool:
    """Whether it is a string, or a sequence of strings."""
    return isinstance(value, str) or (
        isinstance(value, list | tuple) and all(isinstance(one, str) for one in value)
    )


def _names(name: str, value: Any) -> None:
    if not _are_names(value):
        raise _refuse(name, value, "the name of a group, or a list of names")


def _groups(name: str, value: Any) -> None:
    patterns = isinstance(value, Mapping) and all(
        isinstance(one, str) and _are_names(value[one]) for one in value
    )
    if not (patterns or isinstance(value, str) or callable(value)):
        raise _refuse(
            name, value, '"layer", "block", patterns by name {"head": "out/*"}, or a function'
        )


def _candidates(name: str, value: Any) -> None:
    expected = 'two or more: a list of groups or of lists of groups, or {"name": [group, ...]}'
    if isinstance(value, str) or not isinstance(value, list | tuple | Mapping):
        raise _refuse(name, value, expected)
    if not all(map(_are_names, value.values() if isinstance(value, Mapping) else value)):
        raise _refuse(name, value, expected)


def _sources(name: str, value: Any) -> None:
    if not isinstance(value, Mapping) or not value:
        raise UsageError(
            f"{name}: name one or more, {{name: (inputs, targets) or checkpoint}}; "
            f"it is {told(value)}"
        )
    odd = [key for key in value if not isinstance(key, str)]
    if odd:
        raise UsageError(f"{name}: the name {told(odd[0])} is no string")


def _checkpoints(name: str, value: Any) -> None:
    if not isinstance(value, Mapping) or len(value) < 3:
        raise UsageError(f"{name}: name three or more by their length, {{1000: params, ...}}")
    odd = [at for at in value if not (_is_number(at) and np.isfinite(at) and at >= 0)]
    if odd:
        raise UsageError(
            f"{name}: their names are numbers of steps or tokens, 0 or more; one is {told(odd[0])}"
        )


CHECKS: dict[str, Callable[[str, Any], None]] = {
    "batched": _truth,
    "measure": _truth,
    "loss": _text,
    "by": _text,
    "head": _text,
    "together": _whole,
    "pairs": _rows,
    "seeds": _seeds,
    "steps": _steps,
    "seed": _seed,
    "rate": _rate,
    "rates": _positive,
    "noises": _positive,
    "pulls": _numbers,
    "test": _pair,
    "new": _pair,
    "groups": _groups,
    "base": _names,
    "candidates": _candidates,
    "sources": _sources,
    "checkpoints": _checkpoints,
}
"""By the name of an argument; models, parameters, inputs and targets are tried as they are used"""
