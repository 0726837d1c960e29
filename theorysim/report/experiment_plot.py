"""The picture of an experiment: the mean of all runs, in a band of twice its standard error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from theorysim.report import sheet
from theorysim.report.scene_plot import shades
from theorysim.scenes.picture import Picture, View

if TYPE_CHECKING:
    import xarray
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

RUN = "run"
BAND = 2  # standard errors


def figure(picture: Picture, data: xarray.Dataset) -> Figure:
    """The views side by side; the values that have a line each share their colours."""
    runs = data.sizes[RUN]
    below = [
        sheet.Note(picture.caption),
        sheet.Note(f"Lines: mean of {runs} runs; bands: {BAND} standard errors of it."),
    ]
    named = next((view for view in picture.views if view.lines), None)
    drawn, axes = sheet.sheet(
        len(picture.views),
        [sheet.Note(picture.title, size=12, bold=True)],
        below,
        strip=sheet.STRIP if named else 0.0,
    )
    for axis, view in zip(axes, picture.views):
        _draw(axis, view, data)
    if named:
        _name(drawn, named, data[named.lines].values)
    return drawn


def _draw(axis: Axes, view: View, data: xarray.Dataset) -> None:
    values = view.quantity(data)
    several = (
        values.transpose(view.lines, RUN, view.along)
        if view.lines
        else values.expand_dims("only").transpose("only", RUN, view.along)
    )
    across = data[view.along].values
    colours = shades(len(several)) if view.lines else [sheet.COLOURS[0]]
    for line, colour in zip(several.values, colours):
        mean = line.mean(0)
        error = BAND * line.std(0, ddof=1) / np.sqrt(len(line))
        axis.plot(across, mean, color=colour, linewidth=1.6, marker="o", markersize=3)
        axis.fill_between(across, mean - error, mean + error, color=colour, alpha=0.2, linewidth=0)
    sheet.name_axes(axis, view.along_label, view.label)
    axis.set_title(view.title, size=sheet.PANEL + 0.5, loc="left", color=sheet.INK)
    axis.set(xscale="log" if view.log_x else "linear", yscale="log" if view.log_y else "linear")


def _name(drawn: Figure, view: View, values: Any) -> None:
    from matplotlib.lines import Line2D

    handles: list[Any] = [Line2D([], [], color=c, linewidth=2.2) for c in shades(len(values))]
    sheet.name_colours(drawn, view.lines_label, handles, [f"{value:.2g}" for value in values])
