"""Prediction against simulation, with the decisive instance, as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from theorysim.engine.verify.report import ClaimReport, Report
from theorysim.errors import UsageError
from theorysim.report.answer import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Of titles: what is not green wants to be looked at.
COLOURS = {"holds": "darkgreen", "violated": "firebrick"}
UNDECIDED = "darkorange"
# At most this many curves of one claim (one per leading index) stay readable.
CURVES = 8


def figure(report: Report) -> Figure:
    """A picture with one row per reading and one column per claim.

    Claims on a path are drawn along it at the decisive instance, claims over a ladder against
    their rungs, others as one point per instance, left side against right side.
    """
    from matplotlib.figure import Figure

    columns = max(len(reading.claims) for reading in report.readings)
    rows = len(report.readings)
    picture = Figure(figsize=(4.2 * columns, 3.4 * rows), layout="constrained")
    axes = picture.subplots(rows, columns, squeeze=False)
    for axis in axes.flat:
        axis.set_visible(False)
    for row, reading in enumerate(report.readings):
        for column, claim in enumerate(reading.claims):
            axis = axes[row, column]
            axis.set_visible(True)
            _draw_claim(axis, claim)
            colour = COLOURS.get(str(claim.verdict), UNDECIDED)
            title = f"{reading.name}\n{claim.name}: {claim.verdict}"
            axis.set_title(title, fontsize=9, color=colour)
    picture.suptitle(f"{report.theorem}: {report.title}", fontsize=10)
    return picture


def draw(report: Report, path: str | Path) -> None:
    """Write the figure of a report into a file.

    Raises:
        UsageError: where the file cannot be written or its ending names no picture format.
    """
    save(figure(report), path)


def save(picture: Figure, path: str | Path) -> None:
    """Write a figure into a file.

    Raises:
        UsageError: where the file cannot be written or its ending names no picture format.
    """
    try:
        picture.savefig(path, dpi=120)
    except (ValueError, OSError) as error:
        raise UsageError(f"cannot write the picture {path}: {error}") from None


def _draw_claim(axis: Axes, claim: ClaimReport) -> None:
    axis.tick_params(labelsize=7)
    rungs = [name for name in claim.path if name.endswith("rungs")]
    if rungs:
        _draw_ladder(axis, claim, rungs)
    elif claim.path and np.asarray(claim.path["lhs"]).shape[-1:] > (2,):
        _draw_path(axis, claim)
    elif claim.scatter:
        _draw_scatter(axis, claim)
    else:
        axis.text(0.5, 0.5, claim.note or "nothing to draw", ha="center", wrap=True, fontsize=8)


def _draw_path(axis: Axes, claim: ClaimReport) -> None:
    from matplotlib.ticker import MaxNLocator

    applies = np.asarray(claim.path["applies"])
    left, right = claim.claim.labels
    for side, label, style in (("rhs", right, "-"), ("lhs", left, ".")):
        values = np.where(applies, claim.path[side], np.nan)
        curves = values.reshape(-1, values.shape[-1])[:CURVES]
        for index, curve in enumerate(curves):
            name = label if index == 0 else None
            axis.plot(curve, style, color=f"C{index}", label=name, markersize=4, alpha=0.8)
    _scale(
        axis,
        np.concatenate([np.ravel(claim.path[side])[np.ravel(applies)] for side in ("lhs", "rhs")]),
    )
    axis.xaxis.set_major_locator(MaxNLocator(integer=True))
    axis.set_xlabel("index along the last axis (decisive instance)", fontsize=8)
    axis.legend(fontsize=7)


def _draw_scatter(axis: Axes, claim: ClaimReport) -> None:
    lhs, rhs = np.asarray(claim.scatter["lhs"]), np.asarray(claim.scatter["rhs"])
    bad = np.asarray(claim.scatter["violated"], bool)
    axis.plot(rhs[~bad], lhs[~bad], ".", color="C0", label="instance")
    axis.plot(rhs[bad], lhs[bad], "x", color="C3", label="violates")
    axis.plot(claim.rhs, claim.lhs, "o", mfc="none", color="k", label="decisive")
    finite = np.concatenate([lhs, rhs])
    finite = finite[np.isfinite(finite)]
    if len(finite):
        ends = [finite.min(), finite.max()]
        axis.plot(ends, ends, "-", color="0.6", linewidth=1, label="equal sides")
    if len(finite) and np.all(finite > 0) and finite.max() > 50 * finite.min():
        axis.set_xscale("log")
        axis.set_yscale("log")
    left, right = claim.claim.labels
    axis.set_xlabel(right, fontsize=8)
    axis.set_ylabel(left, fontsize=8)
    axis.legend(fontsize=7)


def _draw_ladder(axis: Axes, claim: ClaimReport, rungs: list[str]) -> None:
    for index, name in enumerate(rungs):
        variable = name.removesuffix("_rungs") if name != "rungs" else ""
        series = claim.path["quantity" if name == "rungs" else f"{variable}_constants"]
        curves = np.atleast_2d(series)[:CURVES]
        label = f"over {variable}" if variable else f"measured exponent {number(claim.lhs)}"
        axis.plot(claim.path[name], curves.T, ".-", color=f"C{index}", label=None)
        axis.plot([], [], ".-", color=f"C{index}", label=label)
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.set_xlabel("rung", fontsize=8)
    axis.legend(fontsize=7)


def _scale(axis: Axes, values: np.ndarray) -> None:
    values = values[np.isfinite(values)]
    if len(values) and np.all(values > 0) and values.max() > 50 * values.min():
        axis.set_yscale("log")
