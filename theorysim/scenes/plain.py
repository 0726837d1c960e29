"""The picture of an experiment that has none of its own: its results along their last axes."""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING

import numpy as np

from theorysim.scenes.picture import Picture, View

if TYPE_CHECKING:
    import xarray

VIEWS, LINES = 4, 12
CAPTION = "The first results with one axis or two, along the last of them."


def plain_picture(title: str, data: xarray.Dataset, run: str) -> Picture | None:
    """Views of the first few results that are lines: with one axis beside `run`, or with two.

    None where there is no such result.
    """
    views = []
    for name, values in data.data_vars.items():
        axes = [str(axis) for axis in values.dims if axis != run]
        lines = axes[:-1]
        if len(axes) in (1, 2) and np.prod([data.sizes[axis] for axis in lines]) <= LINES:
            views.append(_view(str(name), axes[-1], *lines, data=data))
    return Picture(title, CAPTION, views[:VIEWS]) if views else None


def _view(name: str, along: str, lines: str = "", *, data: xarray.Dataset) -> View:
    return View(
        title=name,
        label=name,
        quantity=itemgetter(name),
        along=along,
        along_label=along,
        lines=lines,
        lines_label=lines,
        ticks=_words(data, along),
        names=_words(data, lines),
        log_x=False,
    )


def _words(data: xarray.Dataset, axis: str) -> list[str]:
    """The values of an axis, if they are words."""
    if axis not in data.coords or np.issubdtype(data[axis].dtype, np.number):
        return []
    return [str(value) for value in data[axis].values]
