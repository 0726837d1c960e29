"""What the pictures of the fine-tuned language model share: the text, a line for each rate."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from theorysim.scenes.picture import View

if TYPE_CHECKING:
    import xarray

CAPTION = (
    "A model of bigrams, pre-trained on Python's help and fine-tuned on its library, where the "
    "paper has OLMo-30M, C4 and StarCoder."
)
STEPS = "pre-training, steps"


PERPLEXITIES = "perplexities of the text"


def perplexity(excess: xarray.DataArray) -> xarray.DataArray:
    """Of a loss above the entropy of the text, in units of the text's own perplexity."""
    return excess.copy(data=np.exp(excess.values))


def on_programs(values: xarray.DataArray) -> xarray.DataArray:
    """Of the text that is programs alone."""
    return values.isel(share=-1)


def at_the_best_rate(values: xarray.DataArray, ft: xarray.DataArray) -> xarray.DataArray:
    """Of every run, at the rate that is best for the task in the mean of all."""
    return values.isel(rate=ft.mean("run").argmin("rate"))


def against_budget(title: str, label: str, quantity: Callable, log_y: bool = True) -> View:
    """A quantity against the budget, a line for each learning rate."""
    along, lines = ("budget", STEPS), ("rate", "learning rate of fine-tuning")
    return View(title, label, quantity, *along, *lines, log_y=log_y)
