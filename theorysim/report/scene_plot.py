"""A scene as a printed figure: its panels, with the values of its family side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from theorysim.report import sheet
from theorysim.scenes.scene import Panel, Role, Scene, Series

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# The first, second and third series of a role in one panel differ in style.
STYLES: dict[Role, tuple[dict[str, Any], ...]] = {
    Role.PREDICTION: tuple({"linestyle": dash, "linewidth": 1.6} for dash in ("-", "-.", ":")),
    Role.BOUND: tuple({"linestyle": dash, "linewidth": 1.3} for dash in ("--", ":", (0, (6, 2)))),
    Role.SIMULATION: tuple(
        {
            "linestyle": "none",
            "marker": marker,
            "markersize": 5,
            "markeredgecolor": "white",
            "markeredgewidth": 0.6,
        }
        for marker in "o^s"
    ),
    Role.MARK: tuple(
        {"linestyle": "none", "marker": marker, "markersize": size, "fillstyle": "none"}
        for marker, size in (("o", 10), ("s", 8), ("D", 7))
    ),
}
# Lines lie under points, points under rings.
LAYERS = (Role.BOUND, Role.PREDICTION, Role.SIMULATION, Role.MARK)
# The sequential colour map without its palest end.
COLOUR_MAP, PALEST = "viridis", 0.88


def figure(scene: Scene, notes: Sequence[sheet.Note] = ()) -> Figure:
    """The scene, title above, caption and further notes below.

    The values of the scene's family have a colour each, which prediction and simulation share.
    """
    name, values = scene.family or ("", (0.0,))
    members = [scene.panels({**scene.defaults(), **({name: v} if name else {})}) for v in values]
    picture, axes = sheet.sheet(
        len(members[0]),
        [sheet.Note(scene.title, size=12, bold=True)],
        [sheet.Note(scene.caption), *notes],
        strip=sheet.STRIP if name else 0.0,
    )
    colours = shades(len(values)) if name else ()
    for axis, panels in zip(axes, zip(*members)):
        _draw_panel(axis, panels, colours, columns=2 if len(axes) == 1 else 1)
    if name:
        _name_family(picture, scene.sliders[name].label, values, colours)
    return picture


def shades(count: int) -> list[Any]:
    """So many colours from dark to light, for values in their order."""
    from matplotlib import colormaps

    return list(colormaps[COLOUR_MAP](np.linspace(0, PALEST, count)))


def _name_family(
    picture: Figure, label: str, values: Sequence[float], colours: Sequence[Any]
) -> None:
    from matplotlib.lines import Line2D

    handles = [Line2D([], [], color=c, linewidth=2.2, marker="o", markersize=4) for c in colours]
    sheet.name_colours(picture, label, handles, [f"{value:g}" for value in values])


def _draw_panel(axis: Axes, panels: Sequence[Panel], colours: Sequence[Any], columns: int) -> None:
    """One panel of every member of the family."""
    first = panels[0]
    seen: Counter[Role] = Counter()
    for versions in zip(*(panel.series for panel in panels)):
        role = versions[0].role
        number = seen[role]
        seen[role] += 1
        if not colours:
            is_coloured = role in (Role.PREDICTION, Role.SIMULATION)
            _draw(axis, versions[0], 0 if is_coloured else number, _own_colour(role, number), True)
        elif _same(versions):
            _draw(axis, versions[0], number, sheet.FAINT, True)
        else:
            for series, colour in zip(versions, colours):
                _draw(axis, series, number, colour, False)
            _explain(axis, versions[0], number)
    sheet.name_axes(axis, first.x_label, first.y_label)
    axis.set_title(first.title, size=sheet.PANEL + 0.5, loc="left", color=sheet.INK)
    axis.set(xscale="log" if first.log_x else "linear", yscale="log" if first.log_y else "linear")
    sheet.legend(axis, columns)


def _own_colour(role: Role, number: int) -> str:
    """Without a family: the n-th prediction and the n-th simulation share a colour."""
    if role in (Role.PREDICTION, Role.SIMULATION):
        return sheet.COLOURS[number % len(sheet.COLOURS)]
    return sheet.INK if role is Role.MARK else sheet.FAINT


def _same(versions: Sequence[Series]) -> bool:
    """Whether a series is the same for all members of the family."""
    first = versions[0]
    return all(
        np.array_equal(first.x, other.x, equal_nan=True)
        and np.array_equal(first.y, other.y, equal_nan=True)
        for other in versions
    )


def _style(role: Role, number: int) -> dict[str, Any]:
    styles = STYLES[role]
    return {**styles[number % len(styles)], "zorder": 3 + LAYERS.index(role)}


def _draw(axis: Axes, series: Series, number: int, colour: Any, labelled: bool) -> None:
    label = series.label if labelled else None
    axis.plot(series.x, series.y, color=colour, label=label, **_style(series.role, number))


def _explain(axis: Axes, series: Series, number: int) -> None:
    """An entry of the legend for all members' versions of a series."""
    axis.plot([], [], color=sheet.INK, label=series.label, **_style(series.role, number))
