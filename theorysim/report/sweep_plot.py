"""A sweep as heat maps or curves.

The slack of a claim is blue where the claim holds and red where it is violated; it is grey where
it is zero up to rounding, which has no sign. What has no slack is hatched, and the legend says why.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from theorysim.engine.sweep.theorems import SATISFIED, SLACK, slack_error
from theorysim.errors import UsageError
from theorysim.report import sheet
from theorysim.sweeps.grid import SEED
from theorysim.sweeps.outputs import DIVERGED

if TYPE_CHECKING:
    import xarray
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# More panels become too small to read.
PANELS = 6
# The colours of a slack span this quantile of its size: a few extreme cells would hide the rest.
COLOUR_QUANTILE = 0.98
# An axis is logarithmic where its values are a geometric sequence over more than this factor.
LOG_RANGE = 8.0
ZERO = "#c8c8c8"
# Why a place has no slack, with its hatching.
OUTSIDE, FAILED, SILENT = "outside the hypotheses", "diverged", "the claim says nothing"
HATCHES = {OUTSIDE: "////", FAILED: "xxxx", SILENT: "...."}
UNKNOWN = r"\\\\"


def figure(dataset: xarray.Dataset, variables: tuple[str, ...] = ()) -> Figure:
    """A picture with a panel per output: a heat map over two axes, a curve over one.

    Of a slack the least one is shown, over its points and the seeds that meet the hypotheses, so
    that no violation is averaged away. Other outputs are averaged over seeds (a curve shows the
    standard error); of a trajectory the last entry is shown. Of further axes the first position is
    shown, and named. Without `variables`, the slacks are drawn, or all numbers.

    Raises:
        UsageError: where there is no axis to draw along.
    """
    names = variables or _interesting(dataset)
    above = [sheet.Note(str(dataset.attrs.get("theorem", "sweep")), size=12, bold=True)]
    picture, axes = sheet.sheet(len(names), [*above, *_met(dataset)])
    for axis, name in zip(axes, names):
        _draw_panel(axis, dataset, name)
    return picture


def draw(dataset: xarray.Dataset, path: str | Path, variables: tuple[str, ...] = ()) -> None:
    """Write the figure of a sweep into a file.

    Raises:
        UsageError: where there is no axis to draw along or the file cannot be written.
    """
    sheet.check_picture(path)
    sheet.save(figure(dataset, variables), path)


def _interesting(dataset: xarray.Dataset) -> tuple[str, ...]:
    numbers = [str(name) for name in dataset.data_vars if name not in (DIVERGED, SATISFIED)]
    slacks = [name for name in numbers if name.endswith(SLACK)]
    return tuple(slacks or numbers)[:PANELS]


def _met(dataset: xarray.Dataset) -> list[sheet.Note]:
    """How many instances meet the hypotheses, in red where none does."""
    if SATISFIED not in dataset:
        return []
    met, total = int(dataset[SATISFIED].sum()), dataset[SATISFIED].size
    said = f"{met} of {total} instances meet the hypotheses"
    if met:
        return [sheet.Note(said, 9)]
    return [sheet.Note(f"{said}: nothing is compared", 9, sheet.RED)]


def _draw_panel(axis: Axes, dataset: xarray.Dataset, name: str) -> None:
    grid = [str(dim) for dim in dataset[DIVERGED].dims]
    along = [dim for dim in grid if dim != SEED and dataset[DIVERGED].sizes[dim] > 1]
    if not along:
        raise UsageError("nothing to draw: no axis of the sweep has two values")
    shown = along[-2:]
    fixed = {dim: 0 for dim in grid if dim not in (*shown, SEED)}
    here = dataset.isel(fixed)
    notes = [f"{dim} = {_position(dataset, dim)}" for dim in fixed]
    label = _with_unit(name, dataset[name].attrs.get("units"))
    if name.endswith(SLACK):
        notes += _draw_slack(axis, here, name, shown, label)
    else:
        notes += _draw_number(axis, here, name, shown, label)
    title = "\n".join(filter(None, [name, ", ".join(notes)]))
    axis.set_title(title, size=sheet.PANEL, loc="left", color=sheet.INK)
    axis.grid(False)
    for dim, which in zip(reversed(shown), "xy"):
        _label(axis, dataset, dim, which)
    sheet.legend(axis, columns=1)


def _draw_slack(
    axis: Axes, dataset: xarray.Dataset, name: str, shown: list[str], label: str
) -> list[str]:
    """The least slack of every cell; zero within its error is exactly zero."""
    others = [dim for dim in dataset[name].dims if dim not in shown]
    error = slack_error(dataset, name)
    slack = dataset[name].where(np.abs(dataset[name]) > error, dataset[name] * 0)
    least = slack.min(others).transpose(*shown).values
    reasons = _reasons(dataset, np.isnan(least), shown)
    largest = float(error.max()) if error.notnull().any() else 0.0
    if len(shown) == 2:
        colours = _diverging(least)
        label += f" (grey: 0 ± {largest:.1g})" if np.any(least == 0) else ""
        _cells(axis, dataset, shown, np.where(least == 0, np.nan, least), label, colours)
        _flat_cells(axis, dataset, shown, least == 0, ZERO, f"zero within rounding ({largest:.1g})")
    else:
        places = _ticks(dataset, shown[0])
        axis.axhspan(-largest, largest, color=ZERO, lw=0)
        axis.axhline(0, color=sheet.FAINT, lw=1, label=f"zero, rounding {largest:.1g}")
        axis.plot(places, least, color=sheet.COLOURS[0], lw=1.6, label="least slack")
        bad = least < 0
        axis.plot(
            places[bad],
            least[bad],
            "X",
            color=sheet.RED,
            ms=5,
            label="violated" if bad.any() else None,
        )
        sheet.name_axes(axis, "", label)
    for reason, where in reasons.items():
        _hatch(axis, dataset, shown, where, reason)
    return [f"least of {dataset.sizes[SEED]} seeds"] if dataset.sizes.get(SEED, 1) > 1 else []


def _reasons(
    dataset: xarray.Dataset, blank: np.ndarray, shown: list[str]
) -> Mapping[str, np.ndarray]:
    """Which cells have no slack for which reason."""

    def everywhere(flags: xarray.DataArray) -> np.ndarray:
        return flags.all([dim for dim in flags.dims if dim not in shown]).transpose(*shown).values

    outside = blank & everywhere(~dataset[SATISFIED].astype(bool))
    failed = blank & ~outside & everywhere(dataset[DIVERGED] | ~dataset[SATISFIED].astype(bool))
    return {OUTSIDE: outside, FAILED: failed, SILENT: blank & ~outside & ~failed}


def _draw_number(
    axis: Axes, dataset: xarray.Dataset, name: str, shown: list[str], label: str
) -> list[str]:
    """The mean over seeds of an output, at the end of its own axes."""
    own = [dim for dim in dataset[name].dims if dim not in (*shown, SEED)]
    values = dataset[name].astype(float).isel(dict.fromkeys(own, -1))
    notes = [f"{dim}: last" for dim in own]
    if SEED in values.dims and values.sizes[SEED] > 1:
        notes.append(f"mean of {values.sizes[SEED]} seeds")
    mean = (values.mean(SEED, skipna=False) if SEED in values.dims else values).transpose(*shown)
    if len(shown) == 2:
        _cells(axis, dataset, shown, mean.values, label, {})
    else:
        places = _ticks(dataset, shown[0])
        if SEED in values.dims and values.sizes[SEED] > 1:
            error = values.std(SEED, ddof=1, skipna=False) / values.sizes[SEED] ** 0.5
            axis.fill_between(places, mean - error, mean + error, alpha=0.3, linewidth=0)
        axis.plot(places, mean, color=sheet.COLOURS[0])
        sheet.name_axes(axis, "", label)
    _hatch(axis, dataset, shown, ~np.isfinite(mean.values), "no finite number")
    return notes


def _diverging(slack: np.ndarray) -> dict[str, Any]:
    """Red below zero, blue above; by powers of ten where sizes span many."""
    from matplotlib.colors import Normalize, SymLogNorm

    sizes = np.abs(slack[np.isfinite(slack) & (slack != 0)])
    if not len(sizes):
        return {"cmap": "RdBu", "norm": Normalize(-1, 1)}
    size = float(np.quantile(sizes, COLOUR_QUANTILE))
    if size <= sheet.SPAN * np.median(sizes):
        return {"cmap": "RdBu", "norm": Normalize(-size, size)}
    linear = max(float(np.quantile(sizes, 0.1)), size * 10.0**-sheet.DECADES)
    return {"cmap": "RdBu", "norm": SymLogNorm(linear, vmin=-size, vmax=size)}


def _corners(dataset: xarray.Dataset, shown: list[str]) -> list[np.ndarray]:
    return [_edges(_ticks(dataset, dim)) for dim in reversed(shown)]


def _cells(
    axis: Axes,
    dataset: xarray.Dataset,
    shown: list[str],
    values: np.ndarray,
    label: str,
    colours: Mapping[str, Any],
) -> None:
    mesh = axis.pcolormesh(*_corners(dataset, shown), values, rasterized=True, **colours)
    if not np.isfinite(values).any():
        return
    bar = axis.figure.colorbar(mesh, ax=axis)
    bar.ax.tick_params(labelsize=sheet.PANEL - 2)
    bar.set_label(label, size=sheet.PANEL - 1)
    bar.outline.set_visible(False)  # type: ignore[operator]


def _flat_cells(
    axis: Axes,
    dataset: xarray.Dataset,
    shown: list[str],
    where: np.ndarray,
    colour: str,
    label: str,
) -> None:
    """Cells of one colour, named in the legend where there are any."""
    from matplotlib.colors import ListedColormap

    if where.any():
        cells = np.where(where, 0.0, np.nan)
        axis.pcolormesh(*_corners(dataset, shown), cells, cmap=ListedColormap([colour]))
        axis.fill_between([], [], color=colour, label=label)


def _hatch(
    axis: Axes, dataset: xarray.Dataset, shown: list[str], where: np.ndarray, reason: str
) -> None:
    """Hatch places, and name them in the legend where there are any."""
    if not where.any():
        return
    from matplotlib.collections import PolyCollection

    style: dict[str, Any] = {
        "hatch": HATCHES.get(reason, UNKNOWN),
        "facecolor": "white",
        "edgecolor": "#b0b0b0",
    }
    if len(shown) == 2:
        x, y = _corners(dataset, shown)
        cells = [
            [(x[j], y[i]), (x[j + 1], y[i]), (x[j + 1], y[i + 1]), (x[j], y[i + 1])]
            for i, j in zip(*np.nonzero(where))
        ]
        axis.add_collection(PolyCollection(cells, linewidths=0, **style))
    else:
        edges = _edges(_ticks(dataset, shown[0]))
        for place in np.flatnonzero(where):
            axis.axvspan(edges[place], edges[place + 1], lw=0, **style)
    axis.fill_between([], [], label=reason, lw=0.5, **style)


def _position(dataset: xarray.Dataset, dim: str) -> str:
    return f"{dataset[dim].values[0]:g}" if dim in dataset.coords else "0"


def _with_unit(name: str, unit: str | None) -> str:
    return f"{name} ({unit})" if unit else name


def _ticks(dataset: xarray.Dataset, dim: str) -> np.ndarray:
    labelled = dim in dataset.coords
    return dataset[dim].values if labelled else np.arange(dataset.sizes[dim])


def _edges(values: np.ndarray) -> np.ndarray:
    """Borders halfway between the values, on the scale on which they are drawn."""
    if _is_geometric(values):
        return np.exp(_edges(np.log(values)))
    middles = (values[1:] + values[:-1]) / 2
    first, last = 2 * values[0] - middles[0], 2 * values[-1] - middles[-1]
    return np.concatenate([[first], middles, [last]])


def _label(axis: Axes, dataset: xarray.Dataset, dim: str, which: str) -> None:
    unit = dataset[dim].attrs.get("units") if dim in dataset.coords else None
    getattr(axis, f"set_{which}label")(_with_unit(dim, unit), size=sheet.PANEL, parse_math=False)
    if _is_geometric(_ticks(dataset, dim)):
        axis.set(**{f"{which}scale": "log"})


def _is_geometric(values: np.ndarray) -> bool:
    if len(values) < 3 or np.min(values) <= 0 or np.max(values) < LOG_RANGE * np.min(values):
        return False
    steps = np.diff(np.log(values.astype(float)))
    return bool(np.allclose(steps, steps[0], rtol=1e-3))
