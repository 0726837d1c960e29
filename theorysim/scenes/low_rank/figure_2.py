"""Losses of the student and of the linearised one, and how near it comes to u and to c."""

from __future__ import annotations

from typing import TYPE_CHECKING

import jax.numpy as jnp

from theorysim.numerics.halves import of_the_other_half
from theorysim.scenes.low_rank._best import CHAIN, RATES, STEPS, at_best, together
from theorysim.scenes.picture import Picture, View
from theorysim.theorems.low_rank._curves import at_rate

if TYPE_CHECKING:
    import xarray


def _linear(data: xarray.Dataset) -> xarray.DataArray:
    """The linearised student at the rate at which those of the other half end lowest."""
    values = data.linear.transpose("run", "rate", "time")
    ends = jnp.asarray(values.values)
    place = jnp.argmin(of_the_other_half(ends[..., -1]), axis=-1)
    return values.isel(rate=0).copy(data=at_rate(ends, place))


def _floor(data: xarray.Dataset) -> xarray.DataArray:
    return data.floor.broadcast_like(_linear(data))


picture = Picture(
    title="The student and the linearised student, ξ = √k",
    caption=f"{RATES} {CHAIN} Dashed beside the linearised student is the least loss of any.",
    views=(
        View(
            "(a) The loss",
            "E(f* − f̂)² / ξ²",
            lambda data: together(at_best(data, "loss"), _linear(data)),
            "time",
            STEPS,
            "line",
            "student",
            beside=lambda data: together(at_best(data, "loss_of_chain"), _floor(data)),
            names=("student", "linearised"),
        ),
        View(
            "(b) What is found",
            "overlap",
            lambda data: together(at_best(data, "overlap"), at_best(data, "match")),
            "time",
            STEPS,
            "line",
            "vector",
            beside=lambda data: together(
                at_best(data, "overlap_of_chain"), at_best(data, "match_of_chain")
            ),
            names=("⟨û, u⟩", "⟨ĉ, c⟩"),
        ),
    ),
)
