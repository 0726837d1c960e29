"""Both losses after fine-tuning at the rate that is best for the task, against the budget."""

from __future__ import annotations

from typing import TYPE_CHECKING

from theorysim.scenes.overtraining._tuned import CAPTION
from theorysim.scenes.picture import Picture, View

if TYPE_CHECKING:
    import xarray


def _at_the_best_rate(data: xarray.Dataset, name: str) -> xarray.DataArray:
    """Of every run, at the rate that is best for the mean of all."""
    best = data.ft.mean("run").argmin("rate")
    return data[name].isel(rate=best)


def _view(title: str, name: str) -> View:
    return View(
        title,
        "loss above entropy, nats",
        lambda data: _at_the_best_rate(data, name),
        "budget",
        "pre-training, steps",
    )


picture = Picture(
    title="Even at the best learning rate, longer pre-training can end in a worse model",
    caption=CAPTION,
    views=(_view("Top: pre-training", "pre"), _view("Bottom: the task", "ft")),
)
