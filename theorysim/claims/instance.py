"""An instance: values for the fields and sizes of a space."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jax

SizeItems = tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Instance:
    """One instance: traced field values as attributes, static sizes as attributes.

    `tolerance_scale` multiplies the tolerances of integrators; it is 1 but in the run that measures
    their error. Any other name belongs to the space: whoever means all fields or all sizes asks
    `field_values` and `size_items`.
    """

    _values: Mapping[str, Any]
    _sizes: SizeItems
    tolerance_scale: Any = 1.0

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # a copy in the making is asked for more than it has
            raise AttributeError(name)
        parts = {**self._values, **dict(self._sizes)}
        if name not in parts:
            raise AttributeError(
                f"the instance has no field or size {name!r}; it has {tuple(parts)}"
            )
        return parts[name]

    def replace(self, /, **values: Any) -> Instance:
        """A copy with some field values changed (sizes stay)."""
        unknown = set(values) - set(self._values)
        if unknown:
            raise KeyError(f"no field {sorted(unknown)}; the instance has {list(self._values)}")
        return dataclasses.replace(self, _values={**self._values, **values})


jax.tree_util.register_dataclass(
    Instance, data_fields=["_values", "tolerance_scale"], meta_fields=["_sizes"]
)

# What an instance has besides its fields and sizes, and what a sweep hands over beside them.
RESERVED = ("replace", "tolerance_scale", "key")


def field_values(x: Instance) -> Mapping[str, Any]:
    """The values of an instance by name of field."""
    return x._values  # pyright: ignore[reportPrivateUsage]  (a name of its own would collide)


def size_items(x: Instance) -> SizeItems:
    """The names and numbers of an instance's sizes, in a hashable form."""
    return x._sizes  # pyright: ignore[reportPrivateUsage]
