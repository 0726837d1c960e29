"""What the pictures of a loss along a direction share: its Taylor polynomial, dashed beside it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from theorysim.scenes.overtraining._tuned import STEPS
from theorysim.scenes.picture import View

if TYPE_CHECKING:
    import xarray

Quantity: TypeAlias = "Callable[[xarray.Dataset], xarray.DataArray]"


def views(loss: Quantity, taylor: Quantity, above: Quantity, along: str) -> tuple[View, View]:
    """How far the loss is from its polynomial, and both; a line for each budget."""
    axes = ("lambda", along, "budget", STEPS)
    return (
        View("The loss above its polynomial", "in units of the quadratic term", above, *axes),
        View("The loss", "loss above entropy, nats", loss, *axes, beside=taylor, log_x=False),
    )
