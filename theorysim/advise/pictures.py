"""Pictures of answers: lines are predictions, points are measurements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH, HEIGHT = 7.6, 3.4  # inches of a panel
# Of Okabe and Ito, which people of any colour vision tell apart.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#999999")


class Series(NamedTuple):
    """A line or points of a picture; `x` are numbers or names."""

    label: str
    x: tuple[Any, ...]
    y: tuple[float, ...]
    error: tuple[float, ...] = ()
    points: bool = False


class Panel(NamedTuple):
    """One of the pictures of an answer."""

    title: str
    across: str
    up: str
    series: tuple[Series, ...]
    log_x: bool = False
    log_y: bool = False


def figure(answer: str, panels: Sequence[Panel]) -> Figure:
    """All panels of an answer, one below the other, under its sentence."""
    import textwrap

    from matplotlib.figure import Figure

    count = max(1, len(panels))
    title = "\n".join(textwrap.wrap(answer, 88))
    picture = Figure(
        figsize=(WIDTH, HEIGHT * count + 0.2 * title.count("\n")), layout="constrained"
    )
    picture.suptitle(title, fontsize=8.5, x=0.02, ha="left")
    for axis, panel in zip(picture.subplots(count, 1, squeeze=False)[:, 0], panels):
        _draw(axis, panel)
    return picture


def _draw(axis: Axes, panel: Panel) -> None:
    names = any(isinstance(x, str) for series in panel.series for x in series.x)
    # What is predicted and what was measured of one thing share its colour: "noise 0.1, predicted".
    things = list(dict.fromkeys(series.label.partition(",")[0] for series in panel.series))
    for series in panel.series:
        colour = COLOURS[things.index(series.label.partition(",")[0]) % len(COLOURS)]
        x = range(len(series.x)) if names else series.x
        style = "o" if series.points or names else "-"
        if series.error:
            axis.errorbar(
                x,
                series.y,
                2 * np.asarray(series.error),
                fmt=style,
                color=colour,
                capsize=2,
                label=f"{series.label} (± 2 s.e.)",
                markersize=4,
            )
        else:
            axis.plot(x, series.y, style, color=colour, label=series.label, markersize=4)
    if names:
        longest = max(panel.series, key=lambda series: len(series.x)).x
        axis.set_xticks(range(len(longest)), longest, rotation=30, ha="right", fontsize=7.5)
    if panel.log_x:
        axis.set_xscale("log")
    if panel.log_y:
        axis.set_yscale("log")
    axis.set_title(panel.title, fontsize=9)
    axis.set_xlabel(panel.across, fontsize=8)
    axis.set_ylabel(panel.up, fontsize=8)
    axis.tick_params(labelsize=7.5)
    axis.legend(fontsize=6.5, loc="center left", bbox_to_anchor=(1.01, 0.5))
