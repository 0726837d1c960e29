"""Losses of fine-tuned networks of several widths, and Eq. 11 beside them."""

from theorysim.scenes.picture import Picture, View
from theorysim.theorems.linear_teachers.theorem_6_1_trained import DISTANCES


def _losses(place: int) -> View:
    return View(
        f"Target {DISTANCES[place]:g} away; dashed: Eq. 11",
        "mean of min(1, |error|)",
        lambda data: data.risk.isel(distance=place),
        "n",
        "samples of the target",
        "width",
        "width",
        beside=lambda data: data.bound.isel(distance=place),
        log_x=False,
        log_y=True,
    )


def _kernel(title: str, label: str, name: str, beside: str = "") -> View:
    return View(
        title,
        label,
        lambda data: data[name].isel(distance=1),
        "n",
        "samples of the target",
        "width",
        "width",
        beside=(lambda data: data[beside].isel(distance=1)) if beside else None,
        log_x=False,
    )


picture = Picture(
    title="Pretrained networks of finite width, beside Eq. 11",
    caption="Two-layer ReLU networks by gradient descent on waves; nothing under O is added.",
    views=(
        _losses(0),
        _losses(1),
        _kernel("Dashed: √(ỹᵀH⁻¹ỹ)", "|W(t) − W(0)|", "moved", "kernel_moved"),
        _kernel("The Gram matrix", "|H(t) − H∞| / |H∞|", "gram_error"),
    ),
)
