"""How far weights are from their pretraining, along fine-tuning."""

from __future__ import annotations

from typing import TYPE_CHECKING

from theorysim.scenes.picture import Picture, View
from theorysim.scenes.transferability._digits import CAPTION
from theorysim.theorems.transferability import _digits_deviation as deviation

if TYPE_CHECKING:
    from collections.abc import Callable

    import xarray


def _view(
    title: str,
    label: str,
    quantity: Callable[[xarray.Dataset], xarray.DataArray],
    beside: Callable[[xarray.Dataset], xarray.DataArray] | None = None,
) -> View:
    return View(
        title,
        label,
        quantity,
        "step",
        "fine-tuning, steps",
        "target",
        "target, after digits 0 to 4",
        beside=beside,
        names=deviation.TARGETS,
        log_x=False,
    )


picture = Picture(
    title="How far weights are from their pretraining",
    caption=CAPTION + " The last three are digits 5 to 9, too.",
    views=(
        _view("(a) The last layer", "|W − W₀| / √n", lambda data: data.deviation.isel(setting=0)),
        _view("(b) All layers", "Σ |W − W₀| / √n", lambda data: data.deviation.isel(setting=1)),
        _view(
            "Networks of Section 6",
            "|W_Q(k) − W(P)|",
            lambda data: data.distance,
            lambda data: data.predicted,
        ),
    ),
)
