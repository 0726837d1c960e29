"""A sweep as heat maps or curves."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from theorysim.engine.sweep.theorems import SLACK
from theorysim.errors import UsageError
from theorysim.report.plot import save
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


def figure(dataset: xarray.Dataset, variables: tuple[str, ...] = ()) -> Figure:
    """A picture with a panel per output: a heat map over two axes, a curve over one.

    Seeds are averaged (a curve shows its standard error); of a trajectory the last entry is shown,
    of a slack the least one, over the seeds that meet the hypotheses. Cells without a number are
    grey. Of further axes the first position is shown, and named. Without `variables`, the slacks
    are drawn, or all numbers.

    Raises:
        UsageError: where there is no axis to draw along.
    """
    from matplotlib.figure import Figure

    names = variables or _interesting(dataset)
    columns = min(len(names), 3)
    rows = -(-len(names) // columns)
    picture = Figure(figsize=(4.6 * columns, 3.8 * rows), layout="constrained")
    axes = picture.subplots(rows, columns, squeeze=False)
    for axis in axes.flat[len(names) :]:
        axis.set_visible(False)
    for axis, name in zip(axes.flat, names):
        _draw_panel(axis, dataset, name)
    return picture


def draw(dataset: xarray.Dataset, path: str | Path, variables: tuple[str, ...] = ()) -> None:
    """Write the figure of a sweep into a file.

    Raises:
        UsageError: where there is no axis to draw along or the file cannot be written.
    """
    save(figure(dataset, variables), path)


def _interesting(dataset: xarray.Dataset) -> tuple[str, ...]:
    numbers = [str(name) for name in dataset.data_vars if name != DIVERGED]
    slacks = [name for name in numbers if name.endswith(SLACK)]
    return tuple(slacks or numbers)[:PANELS]


def _draw_panel(axis: Axes, dataset: xarray.Dataset, name: str) -> None:
    grid = [str(dim) for dim in dataset[DIVERGED].dims]
    own = [dim for dim in dataset[name].dims if dim not in grid]
    if name.endswith(SLACK):
        values = dataset[name].min(own)
    else:
        values = dataset[name].astype(float).isel(dict.fromkeys(own, -1))
    along = [dim for dim in grid if dim != SEED and values.sizes[dim] > 1]
    if not along:
        raise UsageError("nothing to draw: no axis of the sweep has two values")
    shown = along[-2:]
    fixed = [dim for dim in grid if dim not in (*shown, SEED)]
    notes = [f"{dim} = {_position(dataset, dim)}" for dim in fixed]
    notes += [f"{dim}: last" for dim in own if not name.endswith(SLACK)]
    if SEED in grid and values.sizes[SEED] > 1:
        notes.append(f"mean of {values.sizes[SEED]} seeds")
    values = values.isel(dict.fromkeys(fixed, 0))
    unit = dataset[name].attrs.get("units")
    axis.set_title("\n".join([name, ", ".join(notes)]), fontsize=9)
    if len(shown) == 2:
        _heat_map(axis, dataset, values, shown, f"{name} ({unit})" if unit else name)
    else:
        _curve(axis, dataset, values, shown[0])
        axis.set_ylabel(f"{name} ({unit})" if unit else name)


def _position(dataset: xarray.Dataset, dim: str) -> str:
    return f"{dataset[dim].values[0]:g}" if dim in dataset.coords else "0"


def _heat_map(
    axis: Axes, dataset: xarray.Dataset, values: xarray.DataArray, dims: list, label: str
) -> None:
    if SEED in values.dims:
        values = values.mean(SEED, skipna=SLACK in label)
    down, across = dims
    numbers = values.transpose(down, across).values
    limits = {}
    if SLACK in label and np.isfinite(numbers).any():
        size = np.quantile(np.abs(numbers[np.isfinite(numbers)]), COLOUR_QUANTILE) or 1.0
        limits = {"cmap": "RdBu", "vmin": -size, "vmax": size}
    axis.set_facecolor("0.8")
    mesh = axis.pcolormesh(
        _edges(_ticks(dataset, across)), _edges(_ticks(dataset, down)), numbers, **limits
    )
    axis.figure.colorbar(mesh, ax=axis, label=label)
    _label(axis, dataset, across, "x")
    _label(axis, dataset, down, "y")


def _curve(axis: Axes, dataset: xarray.Dataset, values: xarray.DataArray, dim: str) -> None:
    places = _ticks(dataset, dim)
    if SEED in values.dims and values.sizes[SEED] > 1:
        skip = str(values.name).endswith(SLACK)
        count = values.notnull().sum(SEED)
        error = values.std(SEED, ddof=1, skipna=skip) / count**0.5
        mean = values.mean(SEED, skipna=skip)
        axis.fill_between(places, mean - error, mean + error, alpha=0.3, linewidth=0)
    else:
        mean = values.isel({SEED: 0}) if SEED in values.dims else values
    axis.plot(places, mean)
    _label(axis, dataset, dim, "x")


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
    axis.set(**{f"{which}label": f"{dim} ({unit})" if unit else dim})
    if _is_geometric(_ticks(dataset, dim)):
        axis.set(**{f"{which}scale": "log"})


def _is_geometric(values: np.ndarray) -> bool:
    if len(values) < 3 or np.min(values) <= 0 or np.max(values) < LOG_RANGE * np.min(values):
        return False
    steps = np.diff(np.log(values.astype(float)))
    return bool(np.allclose(steps, steps[0], rtol=1e-3))
