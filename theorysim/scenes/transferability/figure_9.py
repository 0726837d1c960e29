"""Accuracies against the length of pretraining, and the mismatch of networks of Section 6."""

from __future__ import annotations

from typing import TYPE_CHECKING

from theorysim.scenes.picture import Picture, View
from theorysim.scenes.transferability._digits import CAPTION
from theorysim.theorems.transferability.figure_9 import HEADS

if TYPE_CHECKING:
    import xarray

STEPS = "pretraining, steps (1: none)"
NAMES = {"source_train": "its images", "source_test": "other images, true labels"}


def _of_source(data: xarray.Dataset) -> xarray.DataArray:
    return data[list(NAMES)].to_dataarray("images")


picture = Picture(
    title="Longer pretraining: the target's accuracy rises, then falls",
    caption=CAPTION + " Half of the source labels are drawn anew; the target has 40 noisy images.",
    views=(
        View(
            "(a) Pretraining",
            "accuracy",
            _of_source,
            "checkpoint",
            STEPS,
            "images",
            "images",
            names=tuple(NAMES.values()),
        ),
        View(
            "(b) The target, fine-tuned",
            "accuracy",
            lambda data: data.target,
            "checkpoint",
            STEPS,
            "head",
            "head",
            names=tuple(f"{head} head" for head in HEADS),
        ),
        View(
            "Networks of Section 6",
            "|y_Q − u_Q(P)|² / |y_Q|²",
            lambda data: data.mismatch,
            "checkpoint",
            STEPS,
            beside=lambda data: data.predicted,
        ),
    ),
)
