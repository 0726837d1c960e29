"""The space of instances of a theorem, declared once as named fields over static sizes."""

from __future__ import annotations

import keyword
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from theorysim.claims.fields import Field, Sizes
from theorysim.claims.fields.numbers import check_lengths
from theorysim.claims.instance import RESERVED, Instance, field_values, size_items
from theorysim.errors import InstanceError, UsageError


@dataclass(frozen=True)
class Size:
    """A static integer in `low..high`: it enters shapes, so every value compiles anew."""

    default: int
    low: int = 1
    high: int = 1024

    def __post_init__(self):
        check_lengths(self.default, self.low, self.high, what="size")
        if any(isinstance(n, str) for n in (self.default, self.low, self.high)):
            raise ValueError(f"{self}: a size is an integer; a formula of sizes is no size itself")
        if not 0 < self.low <= self.default <= self.high:
            raise ValueError(
                f"size {self.default} in {self.low}..{self.high}: expected them in order, above 0"
            )


class Space:
    """The domain of a theorem: `Space(d=Size(4), sigma=Spectrum("d", 0.1, 10), ...)`.

    From the declaration come the sampler, the search space of the falsifier (the closed unit
    cube), the JSON form of an instance and the check of what a user hands in.
    """

    def __init__(self, /, **parts: Size | Field):
        for name in parts:
            _check_name(name)
        self.sizes = {name: part for name, part in parts.items() if isinstance(part, Size)}
        self.fields = {name: part for name, part in parts.items() if isinstance(part, Field)}
        other = sorted(set(parts) - set(self.sizes) - set(self.fields))
        if other:
            raise TypeError(
                f"{other[0]} = {parts[other[0]]!r} is neither a size nor a field: an integer that "
                "enters shapes is a Size(4), a number a Real(low, high), a constant stands outside"
            )
        for name, field in self.fields.items():
            try:
                field.shape(self.default_sizes())
            except ValueError as error:
                raise ValueError(f"field {name!r}: {error}") from None

    def default_sizes(self, /, **chosen: Any) -> dict[str, int]:
        """All sizes, the defaults replaced by the checked choices.

        Raises:
            UsageError: for a name that is not a size and a number out of range.
        """
        sizes = {name: size.default for name, size in self.sizes.items()}
        for name, number in chosen.items():
            if name not in self.sizes:
                raise UsageError(f"{name!r} is not a size; the sizes are {list(self.sizes)}")
            size = self.sizes[name]
            if not _is_integer(number) or not size.low <= number <= size.high:
                raise UsageError(
                    f"{name} = {number} is out of range: expected an integer in "
                    f"{size.low}..{size.high}"
                )
            sizes[name] = int(number)
        return sizes

    @property
    def exact(self) -> frozenset[str]:
        """The fields whose values rounding does not move."""
        return frozenset(name for name, field in self.fields.items() if field.is_exact())

    def dimension(self, sizes: Sizes) -> int:
        """Number of unit-cube coordinates of an instance."""
        return sum(field.count(sizes) for field in self.fields.values())

    def decode(self, u: Float[Array, " dimension"], sizes: Sizes) -> Instance:
        """The instance at a point of the closed unit cube."""
        values, start = {}, 0
        for name, field in self.fields.items():
            count = field.count(sizes)
            values[name] = field.decode(u[start : start + count], sizes)
            start += count
        return Instance(values, tuple(sizes.items()))

    def encode(self, instance: Instance) -> Float[Array, " dimension"]:
        """A point of the unit cube that decodes to the instance."""
        sizes, values = dict(size_items(instance)), field_values(instance)
        parts = [f.encode(values[name], sizes) for name, f in self.fields.items()]
        return jnp.concatenate(parts) if parts else jnp.zeros(0)

    def sample(self, key: Array, sizes: Sizes) -> Instance:
        """A random instance: uniform on the unit cube, in the default float type."""
        return self.decode(jax.random.uniform(key, (self.dimension(sizes),)), sizes)

    def instance(self, /, **given: Any) -> Instance:
        """The instance with the given values; sizes not given take their defaults.

        Raises:
            InstanceError: naming the field, the expected range or shape and what arrived.
        """
        sizes = self.default_sizes(**{k: given.pop(k) for k in list(given) if k in self.sizes})
        unknown, missing = set(given) - set(self.fields), set(self.fields) - set(given)
        if unknown:
            raise InstanceError(f"unknown field {min(unknown)!r}; fields are {list(self.fields)}")
        if missing:
            raise InstanceError(f"no value for field {min(missing)!r}")
        values = {
            name: jnp.asarray(field.check(name, given[name], sizes))
            for name, field in self.fields.items()
        }
        return Instance(values, tuple(sizes.items()))

    def to_json(self, instance: Instance) -> dict[str, Any]:
        """The instance as JSON: sizes and values, numbers with all their digits."""
        values = field_values(instance).items()
        spelled = {name: self.fields[name].to_json(value) for name, value in values}
        return {"sizes": dict(size_items(instance)), "values": spelled}

    def from_json(self, data: Any) -> Instance:
        """The instance of a JSON object as `to_json` makes it, checked.

        Raises:
            InstanceError: naming the field, the expected range or shape and what arrived.
        """
        if not isinstance(data, Mapping) or not isinstance(data.get("values"), Mapping):
            raise InstanceError('an instance is an object {"sizes": {...}, "values": {...}}')
        sizes = data.get("sizes", {})
        if not isinstance(sizes, Mapping) or set(sizes) - set(self.sizes):
            raise InstanceError(
                f"sizes: expected names among {list(self.sizes)}, but {sizes} arrived"
            )
        if not all(isinstance(v, int) and not isinstance(v, bool) for v in sizes.values()):
            raise InstanceError(f"sizes: expected integers, but {dict(sizes)} arrived")
        if set(data["values"]) & set(self.sizes):
            raise InstanceError('values: sizes belong in the object "sizes"')
        return self.instance(**sizes, **data["values"])


def _check_name(name: str) -> None:
    """Refuse a name that no instance can have as an attribute of its own."""
    if not name.isidentifier() or keyword.iskeyword(name) or name.startswith("_"):
        raise ValueError(
            f"{name!r} cannot name a field or a size: expected a word of letters, digits and "
            "underscores that starts with a letter and is not a Python keyword"
        )
    if name in RESERVED:
        raise ValueError(
            f"{name!r} cannot name a field or a size, because every instance has an attribute of "
            "that name: call it otherwise"
        )


def _is_integer(number: Any) -> bool:
    """Whether it is an integer in value, and not true or false."""
    array = np.asarray(number)
    return array.shape == () and array.dtype.kind in "iuf" and bool(array == np.floor(array))
