"""The picture of an experiment: the mean of all runs, in a band of twice its standard error."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float

from theorysim.engine.reproduce.dataset import RUN
from theorysim.report import sheet
from theorysim.report.scene_plot import shades
from theorysim.scenes.catalogue import picture_of
from theorysim.scenes.picture import Picture, View
from theorysim.scenes.plain import plain_picture

if TYPE_CHECKING:
    import xarray
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from theorysim.engine.reproduce.reproduce import Reproduction

BAND = 2  # standard errors
DASHED = (0, (4, 2))


def figure_of(found: Reproduction) -> Figure | None:
    """What an experiment measured, in its own picture, else in a plain one of its first results.

    None where no result has axes.
    """
    report = found.report
    picture = picture_of(report.theorem) or plain_picture(report.title, found.shown, RUN)
    if picture is None:
        return None
    drawn = next(one for one in report.readings if one.name in found.data)
    return figure(picture, found.shown, "" if drawn.primary else drawn.name)


def figure(picture: Picture, data: xarray.Dataset, other: str = "") -> Figure:
    """The views side by side; lines are named once if they are the same in all views.

    `other` is the name of a null, or of another reading, of which the data are.
    """
    said = [sheet.Note(f"Not the experiment itself, but: {other}", bold=True)] if other else []
    below = [*said, sheet.Note(picture.caption), sheet.Note(_legend(picture, data.sizes[RUN]))]
    families = [view for view in picture.views if view.lines]
    is_shared = len({(view.lines_label, tuple(view.names)) for view in families}) == 1
    drawn, axes = sheet.sheet(
        len(picture.views),
        [sheet.Note(picture.title, size=12, bold=True)],
        below,
        strip=sheet.STRIP if is_shared else 0.0,
    )
    for axis, view in zip(axes, picture.views):
        _draw(axis, view, data)
        if view.lines and not is_shared:
            sheet.legend(axis, columns=2)
    if is_shared:
        _name_once(drawn, families[0], data)
    return drawn


def _legend(picture: Picture, runs: int) -> str:
    told = f"Lines: mean of {runs} runs; bands: {BAND} standard errors of it."
    if any(view.beside for view in picture.views):
        told += " Dashed: what the theory predicts."
    return told


def _draw(axis: Axes, view: View, data: xarray.Dataset) -> None:
    across = np.arange(len(view.ticks)) if view.ticks else data[view.along].values
    measured = _lines(view.quantity, view, data)
    colours = _colours(view, len(measured))
    labels = _labels(view, data) if view.lines else [""]
    for line, colour, label in zip(measured, colours, labels):
        mean = line.mean(0)
        error = BAND * line.std(0, ddof=1) / np.sqrt(len(line))
        style = {"linewidth": 1.6, "marker": "o", "markersize": 3}
        axis.plot(across, mean, color=colour, label=label, **style)
        axis.fill_between(across, mean - error, mean + error, color=colour, alpha=0.2, linewidth=0)
    if view.beside is not None:
        for line, colour in zip(_lines(view.beside, view, data), colours):
            axis.plot(across, line.mean(0), color=colour, linewidth=1.2, linestyle=DASHED)
    sheet.name_axes(axis, view.along_label, view.label)
    axis.set_title(view.title, size=sheet.PANEL + 0.5, loc="left", color=sheet.INK)
    axis.set(xscale="log" if view.log_x else "linear", yscale="log" if view.log_y else "linear")
    if view.ticks:
        axis.set_xticks(across, view.ticks)


def _lines(
    quantity: Callable[[xarray.Dataset], xarray.DataArray], view: View, data: xarray.Dataset
) -> Float[np.ndarray, "lines run along"]:
    values = quantity(data)
    if view.lines:
        return values.transpose(view.lines, RUN, view.along).values
    return values.transpose(RUN, view.along).values[None]


def _colours(view: View, count: int) -> list[Any]:
    """One hue from dark to light for values in their order, several hues for words."""
    if not view.lines or view.names:
        return [sheet.COLOURS[k % len(sheet.COLOURS)] for k in range(count)]
    return shades(count)


def _labels(view: View, data: xarray.Dataset) -> list[str]:
    if view.names:
        return list(view.names)
    values = [f"{value:.3g}" for value in data[view.lines].values]
    return [f"{view.lines_label} {value}" for value in values]


def _name_once(drawn: Figure, view: View, data: xarray.Dataset) -> None:
    from matplotlib.lines import Line2D

    labels = [label.removeprefix(f"{view.lines_label} ") for label in _labels(view, data)]
    colours = _colours(view, len(labels))
    handles: list[Any] = [Line2D([], [], color=c, linewidth=2.2) for c in colours]
    sheet.name_colours(drawn, view.lines_label, handles, labels)
