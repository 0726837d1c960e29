"""Distances between weights after training."""

from __future__ import annotations

from typing import TYPE_CHECKING

from theorysim.scenes.picture import Picture, View
from theorysim.scenes.transferability._digits import CAPTION, in_two_rows
from theorysim.theorems.transferability import _digits_deviation as deviation

if TYPE_CHECKING:
    import xarray

NAMES = {
    "among_tuned": "tuned",
    "tuned_from_pretrained": "start",
    "among_scratch": "scratch",
    "same_target": "tuned, scratch",
    "two_starts": "two scratch",
}
CAPTION_OF_NAMES = (
    " On different targets, two networks from one pretraining (tuned) or from one random start "
    "(scratch); one from its pretraining (start). On the same target, one of each (tuned, scratch) "
    "or from two random starts (two scratch)."
)


def _all(data: xarray.Dataset) -> xarray.DataArray:
    return data[list(NAMES)].to_dataarray("between")


picture = Picture(
    title="Weights lie together by where they started",
    caption=CAPTION + CAPTION_OF_NAMES,
    views=(
        View(
            "",
            "Euclidean distance",
            _all,
            "target",
            "target",
            "between",
            "distance of",
            ticks=in_two_rows(deviation.TARGETS),
            names=tuple(NAMES.values()),
            log_x=False,
        ),
    ),
)
