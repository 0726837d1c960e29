"""What the pictures of the figures share: curves at the rate that is best for the other runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import jax.numpy as jnp

from theorysim.theorems.low_rank._curves import FOUND, at_rate, best_rate, steps_until

if TYPE_CHECKING:
    import xarray

STEPS = "steps of online SGD"
RATES = "Each run has the learning rate of a ladder at which the other half find u first."
CHAIN = "Dashed is the reduced chain of the same problems, on samples of its own."


def steps(data: xarray.Dataset, name: str = "overlap", level: float = FOUND) -> xarray.DataArray:
    """Steps until an overlap stays above a level, at every rate."""
    curves = data[name].transpose("run", ..., "rate", "time")
    taken = steps_until(jnp.asarray(curves.values), jnp.asarray(data.time.values, float), level)
    return curves.isel(time=0).copy(data=taken)


def at_best(
    data: xarray.Dataset, name: str, by: str = "overlap", level: float = FOUND
) -> xarray.DataArray:
    """A quantity at the rate at which `by` of the other half gets to a level first."""
    place = best_rate(jnp.asarray(steps(data, by, level).values))
    values = data[name].transpose("run", ..., "rate", "time")
    return values.isel(rate=0).copy(data=at_rate(jnp.asarray(values.values), place))


def best_steps(
    data: xarray.Dataset, name: str = "overlap", by: str = "overlap", level: float = FOUND
) -> xarray.DataArray:
    """Steps of `name` until a level, at the rate where `by` of the other half gets there first."""
    place = best_rate(jnp.asarray(steps(data, by, level).values))
    taken = steps(data, name, level)
    return taken.isel(rate=0).copy(data=at_rate(jnp.asarray(taken.values), place))


def together(*values: xarray.DataArray) -> xarray.DataArray:
    """Several quantities as lines of one view, along the axis `line`."""
    import xarray

    return xarray.concat([v.drop_vars("rate", errors="ignore") for v in values], "line")
