"""Sweeping a function, or the claims of a theorem, over a grid."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, Unpack

from theorysim import sweeps
from theorysim.claims.theorem import Theorem
from theorysim.engine import registry
from theorysim.precision import in_precision

if TYPE_CHECKING:
    import xarray
    from distributed import Client


def sweep(
    f: Callable[..., Any] | Theorem | str,
    axes: Mapping[str, Any],
    *,
    client: Client | None = None,
    **options: Unpack[sweeps.SweepOptions],
) -> xarray.Dataset:
    """Evaluate a pure function, or the claims of a theorem, on a grid.

    Args:
        f: a pure function of named arguments that returns a tree of arrays, or a theorem (or its
            id), whose claims are then evaluated in float64 (see `theorems.claim_sides`) on the
            fields in `axes` and one seed at least.
        axes: lists of values by argument name, which span a product grid; a mapping as value is
            one zipped axis: `{"schedule": {"rate": [...], "steps": [...]}}`.
        client: of a Dask cluster (package `distributed`), whose workers are processes with one
            thread each: they compute the tiles, and this process keeps them. What is not importable
            there of a function travels with it.
        options: those of `theorysim.sweeps.sweep`, which says what they mean, what it returns and
            what it raises: `sizes`, `seeds`, `seed`, `independent_keys`, `statistics`, `quantiles`,
            `dims`, `coords`, `units`, `attributes`, `out`, `memory`, `tile` and `progress`.

    Raises:
        UsageError: for values that do not belong to the fields of the theorem, too, and for a
            cluster none of whose workers would compute the same.
    """
    if isinstance(f, Theorem | str):
        from theorysim.engine.sweep.theorems import check_axes, claim_sides

        theorem = registry.theorem(f) if isinstance(f, str) else f
        check_axes(theorem, axes)
        f = claim_sides(theorem)
        options["seeds"] = options.get("seeds") or 1
    if client is not None:
        from theorysim.engine.many.tiles import on_cluster

        options["elsewhere"] = on_cluster(client, f)
    with in_precision(double=True) if getattr(f, "in_float64", False) else nullcontext():
        return sweeps.sweep(f, axes, **options)
