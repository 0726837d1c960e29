"""What a field of an instance is: a part of the closed unit cube that decodes to a kind of value.

A field of `count` coordinates maps `[0, 1]^count` onto its values. Both ends of every coordinate
are reachable, because counterexamples sit at boundaries. `encode` is a right inverse:
`decode(encode(v)) == v` up to rounding. A length or a bound may be an integer, the name of a
size of the space, or a formula of sizes ("steps + 1").

Five methods make a field. Everything else has a default that works for any field and may be
replaced by a better one: simpler values for the falsifier, a strategy for property tests, the JSON
form, and what the certifier wants to know (`box`, `order`, `normalised`).
"""

from __future__ import annotations

import abc
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array, Float, Shaped

from theorysim.claims.fields.arrays import has_booleans, round_entries
from theorysim.claims.fields.extents import length_of
from theorysim.errors import InstanceError

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

Sizes = Mapping[str, int]
Extent = int | str
Cube = Float[Array, " count"]
Value = Shaped[Array | np.ndarray, "*shape"]

# Coordinates of a strategy are multiples of one over this, so that shrinking meets round numbers.
GRID = 64
# Simpler values have coordinates that are multiples of one over these, coarsest first.
COARSE_GRIDS = (1, 2, 4, 10)


def extent(of: Extent, sizes: Sizes) -> int:
    """The number that an integer, the name of a size or a formula of sizes stands for.

    Raises:
        ValueError: for a name that is no size, with those there are, and what is no formula.
    """
    return length_of(of, sizes) if isinstance(of, str) else of


@dataclass(frozen=True)
class Interval:
    """A box of a field: every entry of a value ranges over `[low, high]`.

    `log` bisects it at the geometric mean.
    """

    low: float
    high: float
    log: bool = False


@dataclass(frozen=True)
class Options:
    """A box of a scalar field: all its values, one by one."""

    values: Sequence[float]


Box = Interval | Options


class Field(abc.ABC):
    """One named part of an instance."""

    @abc.abstractmethod
    def shape(self, sizes: Sizes) -> tuple[int, ...]:
        """Shape of a value."""

    @abc.abstractmethod
    def decode(self, u: Cube, sizes: Sizes) -> Shaped[Array, "*shape"]:
        """The value at a point of the closed unit cube; pure, in the float type of the point."""

    @abc.abstractmethod
    def encode(self, value: Value, sizes: Sizes) -> Cube:
        """A point of the unit cube that decodes to `value`."""

    @abc.abstractmethod
    def describe(self) -> str:
        """The values that belong, in words."""

    @abc.abstractmethod
    def belongs(self, value: np.ndarray, sizes: Sizes) -> bool:
        """Whether a finite value of the right shape and type belongs to the field."""

    def count(self, sizes: Sizes) -> int:
        """Number of unit-cube coordinates that a value takes: by default, one per entry."""
        return math.prod(self.shape(sizes))

    def dtype(self) -> type:
        """The type of a value's entries."""
        return np.float64

    def is_exact(self) -> bool:
        """Whether values are exact, such as the number of a case: rounding does not move them."""
        return False

    def check(self, name: str, value: Any, sizes: Sizes) -> np.ndarray:
        """`value` as an array, if it belongs to the field.

        Raises:
            InstanceError: naming the field, what is expected and what arrived.
        """
        try:
            array = np.asarray(value, dtype=self.dtype())
        except (TypeError, ValueError, OverflowError):
            raise InstanceError(
                f"{name}: expected {self.describe()}, but {_excerpt(value)} is not an array of "
                "numbers"
            ) from None
        if has_booleans(value):
            raise InstanceError(
                f"{name}: expected {self.describe()}, but {_excerpt(value)} is true or false, "
                "not a number"
            )
        if array.shape != self.shape(sizes):
            raise InstanceError(
                f"{name}: expected shape {self.shape(sizes)} ({self.describe()}), "
                f"but a value of shape {array.shape} arrived"
            )
        intact = np.all(np.isfinite(array)) and np.array_equal(array, np.asarray(value))
        if not intact or not self.belongs(array, sizes):
            raise InstanceError(
                f"{name}: expected {self.describe()}, but {_excerpt(value)} arrived"
            )
        return array

    def to_json(self, value: ArrayLike) -> Any:
        """A value as JSON with all its digits, in a form that `check` takes back."""
        return np.asarray(value).tolist()

    def simpler(self, value: np.ndarray, sizes: Sizes) -> Iterator[np.ndarray]:
        """Values that may stand in for the whole of `value`, simplest first.

        The falsifier offers them until one equals the old value. It passes over those that do not
        belong, and tries simpler numbers for single entries itself, so that a scalar needs none.
        By default: zeros, ones, rounded entries, and what lies at the nearest points of coarse
        grids in the cube, which always belongs.
        """
        if not value.ndim:
            return
        yield from round_entries(value)
        point = np.asarray(self.encode(value, sizes))
        for grid in COARSE_GRIDS:
            yield np.asarray(self.decode(jnp.asarray(np.round(point * grid) / grid), sizes))

    def strategy(self, sizes: Sizes) -> SearchStrategy[np.ndarray]:
        """Values for property tests: by default, decoded points of a grid in the cube."""
        from hypothesis import strategies as st

        count = self.count(sizes)
        program = jax.jit(lambda u: self.decode(u, sizes))
        with jax.enable_x64(True):  # compiling draws random numbers, which no example may do
            decode = program.lower(np.zeros(count)).compile()

        def decoded(u: Float[np.ndarray, " count"]) -> np.ndarray:
            with jax.enable_x64(True):
                return np.asarray(decode(u))

        numerators = st.lists(st.integers(0, GRID), min_size=count, max_size=count)
        return numerators.map(lambda n: np.asarray(n, np.float64) / GRID).map(decoded)

    def box(self, sizes: Sizes) -> Box | None:
        """What a certificate over the whole space ranges over; None has to be given one value.

        With an interval every entry ranges by itself: what else a value needs says `order`.
        """
        return None

    def order(self, value: Shaped[Array, "*shape"]) -> Shaped[Array, " margins"]:
        """Margins of a value, not negative where it belongs, as a formula that JAX traces.

        They keep a certificate to values that belong where `box` and `normalised` do not.
        """
        return jnp.zeros(0)

    def normalised(self, entries: np.ndarray) -> np.ndarray:
        """The member that a printed value stands for, exactly; by default the entries as printed.

        A unit vector that is printed in 17 digits has length one up to rounding only. `entries` is
        an array of objects that know arithmetic and `sqrt` (so that `np.sqrt` works); comparisons
        they do not know.
        """
        return entries


def _excerpt(value: Any) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= 60 else text[:57] + "..."
