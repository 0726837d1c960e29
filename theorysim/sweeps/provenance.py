"""What a sweep's dataset says about its origin, and what distinguishes one sweep from another."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
from jax.extend import core

from theorysim.jaxprs.fingerprint import array_tokens, digest, fingerprint
from theorysim.sweeps.grid import Grid
from theorysim.versions import versions

# Attributes that must agree before cells of two runs may stand in one store, with what differs.
IDENTITY = {
    "grid_fingerprint": "another grid, other sizes, seeds or statistics",
    "precision": "another precision",
    "function_fingerprint": "another function",
    "platform": "another platform",
    "versions": "other versions",
}


def provenance(f: Callable, grid: Grid, jaxprs: Sequence[core.ClosedJaxpr]) -> dict[str, Any]:
    """Function, grid, seeds, versions, platform and command; equal runs have equal provenance."""
    seeds = grid.seeds
    about_seeds = {"seeds": seeds.count, "seed": seeds.seed} if seeds else {}
    name = getattr(f, "__qualname__", type(f).__name__)
    return {
        "function": f"{getattr(f, '__module__', '')}.{name}",
        "sizes": json.dumps({axis.name: _lists(axis.columns) for axis in grid.sizes}),
        **about_seeds,
        "precision": str(jax.dtypes.canonicalize_dtype(float)),
        "platform": jax.default_backend(),
        "versions": json.dumps(versions()),
        "command": shlex.join(sys.argv),
        "function_fingerprint": digest(fingerprint(closed).encode() for closed in jaxprs),
        "grid_fingerprint": digest(_grid_tokens(grid)),
    }


def difference(stored: dict[str, Any], wanted: dict[str, Any]) -> str:
    """What distinguishes the two sweeps, in words; empty if they are the same."""
    for name, words in IDENTITY.items():
        if stored.get(name) != wanted[name]:
            if name.endswith("fingerprint"):
                return words
            return f"{words} ({stored.get(name)} there, {wanted[name]} here)"
    return ""


def _lists(columns: Any) -> dict[str, list]:
    return {name: column.tolist() for name, column in columns.items()}


def _grid_tokens(grid: Grid) -> Iterator[bytes]:
    for axis in (*grid.sizes, *grid.axes):
        yield axis.name.encode()
        for name, column in axis.columns.items():
            yield name.encode()
            yield from array_tokens(column)
    yield repr(grid.seeds).encode()
