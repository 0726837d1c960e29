"""Errors and deviations of all targets: measured on digits, and as they are printed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from theorysim.scenes.picture import Picture, View
from theorysim.scenes.transferability._digits import CAPTION, in_two_rows
from theorysim.theorems.transferability import _digits_deviation as deviation
from theorysim.theorems.transferability import _table_1 as table

if TYPE_CHECKING:
    from collections.abc import Callable

    import xarray


def _view(
    title: str,
    label: str,
    quantity: Callable[[xarray.Dataset], xarray.DataArray],
    along: str = "target",
    words: tuple[str, ...] = deviation.TARGETS,
) -> View:
    return View(
        title,
        label,
        quantity,
        along,
        "",
        "setting",
        "layers that are trained",
        ticks=in_two_rows(words),
        names=("last one", "all"),
        log_x=False,
        log_y=True,
    )


DATASETS = ("Webcam", "Cars", "Caltech", "Synthetic", "CUB")


def _printed(name: str, label: str, values: tuple[tuple[float, ...], ...]) -> View:
    def for_every_run(data: xarray.Dataset) -> xarray.DataArray:
        import xarray

        table = xarray.DataArray(np.array(values), dims=("setting", "dataset"))
        return table.expand_dims(run=data.run.values)

    return _view(f"As printed: {name}", label, for_every_run, "dataset", DATASETS)


DEVIATION = "Σ |W − W₀| / √n"

picture = Picture(
    title="How far weights move, and how well targets are generalised",
    caption=CAPTION + " Pretraining is on digits 0 to 4.",
    views=(
        _view("Digits: test error", "percent", lambda data: 100 * data.error),
        _view("Digits: deviation", DEVIATION, lambda data: data.deviation.isel(step=-1)),
        _printed("test error", "percent", table.ERRORS),
        _printed("deviation", DEVIATION, table.DEVIATIONS),
    ),
)
