"""Samples of fine-tuning and of training from scratch, against the dimension."""

from __future__ import annotations

from typing import TYPE_CHECKING

import jax.numpy as jnp

from theorysim.scenes.low_rank._best import together
from theorysim.scenes.picture import Picture, View
from theorysim.theorems.low_rank._curves import at_rate, best_rate
from theorysim.theorems.low_rank.theorem_8_from_scratch import POWER

if TYPE_CHECKING:
    import xarray


def _best(data: xarray.Dataset, name: str, by: str) -> xarray.DataArray:
    """Samples of `name` at the rate at which `by` of the other half takes the fewest."""
    values = data[name].transpose("run", "dimension", "rate")
    place = best_rate(jnp.asarray(data[by].transpose(*values.dims).values))
    return values.isel(rate=0).copy(data=at_rate(jnp.asarray(values.values), place))


def _power(data: xarray.Dataset) -> xarray.DataArray:
    """d^(3/2) through the first mean of training from scratch."""
    scratch = _best(data, "scratch", "scratch")
    growth = (data.dimension / data.dimension[0]) ** POWER
    return (scratch.isel(dimension=0).mean("run") * growth).broadcast_like(scratch)


picture = Picture(
    title="Fine-tuning and training from scratch",
    caption="Each run has the learning rate of a ladder at which the other half are fastest; one "
    "that does not get there counts with all of its samples, here without the limit of the claims. "
    "Dashed beside fine-tuning is its chain, beside training from scratch the power d^(3/2).",
    views=(
        View(
            "Third Hermite polynomial, three neurons",
            "samples until the loss is a quarter",
            lambda data: together(_best(data, "tuned", "tuned"), _best(data, "scratch", "scratch")),
            "dimension",
            "dimension d",
            "line",
            "training",
            beside=lambda data: together(_best(data, "chain", "tuned"), _power(data)),
            names=("fine-tuning", "from scratch"),
            log_y=True,
        ),
    ),
)
