"""The best learning rate, and both losses at it, against the budget: a line for each text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from theorysim.scenes.overtraining._tuned import STEPS, at_the_best_rate
from theorysim.scenes.picture import Picture, View

if TYPE_CHECKING:
    import xarray

LOSS = "loss above entropy, nats"
LINES = ("share", "share of programs")


def _best_rate(data: xarray.Dataset) -> xarray.DataArray:
    return data.rate[data.ft.argmin("rate")].drop_vars("rate")


def _at_the_best_rate(title: str, name: str) -> View:
    return View(
        title,
        LOSS,
        lambda data: at_the_best_rate(data[name], data.ft),
        "budget",
        STEPS,
        *LINES,
        log_y=True,
    )


picture = Picture(
    title="How the best rate moves, and what longer pre-training harms",
    caption=(
        "A model of bigrams, pre-trained on Python's help and fine-tuned on five mixtures of it "
        "with Python's library, where the paper draws a schematic; the one without programs is no "
        "task. Where the best rate stays, both losses should rise in the end; where it falls "
        "slowly, that of pre-training alone."
    ),
    views=(
        View("The best rate", "learning rate", _best_rate, "budget", STEPS, *LINES, log_y=True),
        _at_the_best_rate("The task", "ft"),
        _at_the_best_rate("Pre-training", "pre"),
        View(
            "Pre-training, at the smallest rate",
            LOSS,
            lambda data: data.pre.isel(rate=0, drop=True),
            "budget",
            STEPS,
            *LINES,
            log_y=True,
        ),
    ),
)
