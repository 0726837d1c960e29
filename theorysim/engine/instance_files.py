"""Reading instances that a report or a user has written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jax
import numpy as np

from theorysim.errors import InstanceError


def read_instance(path: str | Path) -> dict[str, Any]:
    """An instance file's data.

    Raises:
        InstanceError: where the file is missing, truncated or no JSON object.
    """
    try:
        data = json.loads(Path(path).read_text())
    except OSError as error:
        raise InstanceError(f"cannot read {path}: {error.strerror}") from None
    except ValueError as error:
        raise InstanceError(f"{path} is no complete JSON file: {error}") from None
    if not isinstance(data, dict):
        raise InstanceError(f"{path} holds no JSON object with sizes and values")
    return data


def instance_key(data: Any, seed: int) -> np.ndarray:
    """An instance's key as two words of 32 bits; where it has none, the first of the seed."""
    if data is None:
        return np.asarray(jax.random.key_data(jax.random.fold_in(jax.random.key(seed), 0)))
    try:
        key = np.asarray(data, np.uint32)
    except (TypeError, ValueError, OverflowError):
        key = np.zeros(0, np.uint32)
    if key.shape != (2,):
        raise InstanceError(f"key: expected two integers below 2^32, but {data} arrived")
    return key
