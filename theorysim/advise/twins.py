"""Alternatives that are one and the same: ranked beside each other they would say nothing."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import jax
import numpy as np

from theorysim.errors import UsageError


def check_distinct(what: str, named: Mapping[str, Any]) -> None:
    """Refuse alternatives that hold the same arrays.

    Args:
        what: what they are called together, such as the argument that names them.
        named: trees of arrays.

    Raises:
        UsageError: with the names of the first two that are the same.
    """
    for (first, one), (second, other) in combinations(named.items(), 2):
        if _same(one, other):
            raise UsageError(
                f"{what}: {first} and {second} hold the same numbers: give each alternative once"
            )


def _same(one: Any, other: Any) -> bool:
    leaves, others = jax.tree.leaves(one), jax.tree.leaves(other)
    return len(leaves) == len(others) and all(map(np.array_equal, leaves, others))
