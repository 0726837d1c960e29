"""What programs of a statement are made of, as a text: programs of equal texts are the same.

Readings, claims and margins are known by their names where they are the theorem's own objects. One
that was made at run time may be called alike and be another: of programs with it nothing is known.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

import jax
import numpy as np

from theorysim.claims.instance import SizeItems, field_values
from theorysim.claims.margins import Margin
from theorysim.claims.reading import ResolvedReading
from theorysim.claims.theorem import Theorem
from theorysim.engine.registry.origins import sources_of
from theorysim.kept import kept_value


def made_of(
    theorem: Theorem, readings: Iterable[ResolvedReading], sizes: SizeItems, *what: Any
) -> str | None:
    """The text of a program about some readings; None where it has parts of unknown origin."""
    names = [_name(theorem, reading) for reading in readings]
    return _text(theorem, names, sizes, what)


def made_of_margins(
    theorem: Theorem, margins: Iterable[Margin], sizes: SizeItems, *what: Any
) -> str | None:
    """The same of a program about some margins and requirements."""
    known = _margins(theorem)
    return _text(theorem, [known.get(id(margin)) for margin in margins], sizes, what)


def shapes_of(theorem: Theorem, sizes: SizeItems) -> list[jax.ShapeDtypeStruct]:
    """Shape and type of each field's value in an instance; kept, where it can be."""
    found = kept_value(made_of(theorem, (), sizes), "shapes", lambda: _shapes(theorem, sizes))
    return [jax.ShapeDtypeStruct(tuple(shape), dtype) for shape, dtype in found]


def _shapes(theorem: Theorem, sizes: SizeItems) -> list[tuple[list[int], str]]:
    like = jax.eval_shape(lambda key: theorem.space.sample(key, dict(sizes)), jax.random.key(0))
    leaves = (field_values(like)[name] for name in theorem.space.fields)
    return [(list(leaf.shape), str(leaf.dtype)) for leaf in leaves]


def no_key() -> np.ndarray:
    """The data of a key, all zero: for programs into which no key enters, and as an example."""
    like = jax.eval_shape(lambda: jax.random.key_data(jax.random.key(0)))
    return np.zeros(like.shape, like.dtype)


def _text(theorem: Theorem, names: list[Any], sizes: SizeItems, what: tuple) -> str | None:
    sources = sources_of(theorem)
    if sources is None or None in names:
        return None
    return json.dumps([sources, theorem.id, theorem.keys, names, sizes, what])


def _name(theorem: Theorem, reading: ResolvedReading) -> Any:
    """The name of a reading and of its claims; None where it is not the theorem's own."""
    own = _readings(theorem).get(reading.name)
    claims = [claim.name for claim in reading.claims]
    if own is None or own.only(claims) is not reading:
        return None
    return reading.name, claims


@lru_cache(maxsize=256)
def _readings(theorem: Theorem) -> Mapping[str, ResolvedReading]:
    """The readings and their mutants, by their names."""
    return {r.name: r for r in (*theorem.all_readings(), *theorem.variants().values())}


@lru_cache(maxsize=256)
def _margins(theorem: Theorem) -> Mapping[int, tuple[str, str, str]]:
    """Which reading has a margin, as what and under which name, by the identity of the margin."""
    found: dict[int, tuple[str, str, str]] = {}
    for reading in theorem.all_readings():
        for part in ("hypotheses", "requirements"):
            for name, margin in getattr(reading, part).items():
                found.setdefault(id(margin), (reading.name, part, name))
    return found
