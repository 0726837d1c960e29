"""Gradients in the layers of a deep network."""

from __future__ import annotations

from typing import Any

from theorysim.scenes.picture import Picture, View
from theorysim.scenes.transferability._digits import CAPTION
from theorysim.theorems.transferability._digits import KINDS
from theorysim.theorems.transferability._digits_starts import STARTS


def _view(kind: int, panel: str, label: str, name: str, along: str, across: str) -> View:
    axes: dict[str, Any] = {"names": STARTS, "log_x": False, "log_y": name != "projection"}
    return View(
        f"{panel} {KINDS[kind]}",
        label,
        lambda data: data[name].isel(kind=kind),
        along,
        across,
        "start",
        "weights",
        **axes,
    )


QUANTILE = ("(a, b)", "quantile of |∂L/∂x|", "quantile", "share", "share of entries")
PROJECTION = ("(c)", "|W v| √units / |W|", "projection", "component", "singular vector")
SIZE = ("(d)", "|∂L/∂x| of all images", "size", "layer", "hidden layer")
PANELS = (QUANTILE, PROJECTION, SIZE)

picture = Picture(
    title="Gradients through the layers, of random and of pretrained weights",
    caption=CAPTION + " Before digits 5 to 9 are learned.",
    views=tuple(_view(kind, *panel) for panel in PANELS for kind in range(len(KINDS))),
)
