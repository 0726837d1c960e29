"""Reading instances that a report or a user has written."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from theorysim.claims.instance import Instance
from theorysim.claims.theorem import Theorem
from theorysim.errors import InstanceError


def read_instance(
    theorem: Theorem, instance: Mapping[str, Any] | str | Path
) -> tuple[Instance, np.ndarray | None]:
    """An instance from JSON data or a file with it, and its key (two words) where it has one.

    Raises:
        InstanceError: where the file is missing, truncated or not a JSON object, where an entry is
            unknown or a value does not belong to the space, and for an instance of another theorem.
    """
    data = instance if isinstance(instance, Mapping) else json_object(instance)
    unknown = set(data) - {"theorem", "sizes", "values", "key"}
    if unknown:
        raise InstanceError(f"unknown entry {min(unknown)!r} in the instance")
    if data.get("theorem", theorem.id) != theorem.id:
        raise InstanceError(f"an instance of {data['theorem']}, not of {theorem.id}")
    x = theorem.space.from_json({k: v for k, v in data.items() if k in ("sizes", "values")})
    return x, None if data.get("key") is None else _key(data["key"])


def json_object(path: str | Path) -> dict[str, Any]:
    """What a JSON file holds.

    Raises:
        InstanceError: where it is missing, truncated or not a JSON object.
    """
    try:
        data = json.loads(Path(path).read_text())
    except OSError as error:
        raise InstanceError(f"cannot read {path}: {error.strerror}") from None
    except ValueError as error:
        raise InstanceError(f"{path} is not a complete JSON file: {error}") from None
    except RecursionError:
        raise InstanceError(f"{path} is nested too deeply for an instance") from None
    if not isinstance(data, dict):
        raise InstanceError(f"{path} holds no JSON object")
    return data


def _key(data: Any) -> np.ndarray:
    try:
        key = np.asarray(data, np.uint32)
    except (TypeError, ValueError, OverflowError):
        key = np.zeros(0, np.uint32)
    if key.shape != (2,) or [*map(repr, key.tolist())] != [*map(repr, data)]:
        raise InstanceError(f"key: expected two integers below 2^32, but {data} arrived")
    return key
