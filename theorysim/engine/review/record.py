"""What stages return: records that become JSON, and come back from it when a review resumes."""

from __future__ import annotations

import dataclasses
import math
import types
from collections.abc import Mapping
from enum import Enum
from functools import cache
from typing import Any, ClassVar, Self, Union, get_args, get_origin, get_type_hints

from theorysim.tabular import json_number


class Record:
    """A frozen dataclass of numbers, texts, verdicts and further records."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    def as_json(self) -> dict[str, Any]:
        """The record as JSON data; NaN becomes null, infinities "inf" and "-inf"."""
        return {part.name: _plain(getattr(self, part.name)) for part in dataclasses.fields(self)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """The record that `as_json` wrote.

        Raises:
            KeyError, TypeError, ValueError: for data of another form.
        """
        return cls(**{name: _typed(kind, data[name]) for name, kind in _parts(cls).items()})


@cache
def _parts(kind: type[Record]) -> dict[str, Any]:
    hints = get_type_hints(kind)
    return {part.name: hints[part.name] for part in dataclasses.fields(kind)}


def _plain(value: Any) -> Any:
    if isinstance(value, Record):
        return value.as_json()
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, float):
        return json_number(value)
    if isinstance(value, Mapping):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(part) for part in value]
    return value


def _typed(kind: Any, data: Any) -> Any:
    """The value of a type that JSON data stand for."""
    outer, inner = get_origin(kind), get_args(kind)
    if outer in (Union, types.UnionType):
        (own,) = (part for part in inner if part is not type(None))
        return None if data is None else _typed(own, data)
    if outer is tuple:
        several = inner[:1] * len(data) if inner[1:] == (...,) else inner
        return tuple(_typed(part, one) for part, one in zip(several, data, strict=True))
    if outer is Mapping:
        return {name: _typed(inner[1], part) for name, part in data.items()}
    if kind is float:
        return math.nan if data is None else float(data)
    if isinstance(kind, type) and issubclass(kind, Record):
        return kind.from_json(data)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind(data)
    return data
