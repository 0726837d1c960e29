"""One claim of a verification in one pair of axes: along its run, over its ladder, or as points.

Simulations are points, predictions and bounds are lines; what violates the claim is red.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from theorysim.claims.kinds import Decreasing, Increasing, PowerLaw
from theorysim.engine.verify.report import ClaimReport
from theorysim.report import sheet
from theorysim.report.answer import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# At most this many curves of one claim (one per leading index) stay readable.
CURVES = 6
# Up to so many entries are drawn one by one, more as a curve.
ENTRIES = 12
# Instances that climb a ladder, at most.
CLIMBERS = 24

LEFT, RIGHT = sheet.COLOURS[0], sheet.INK


def can_draw(claim: ClaimReport) -> bool:
    """Whether there is something to draw."""
    return bool(_rungs(claim)) or _is_path(claim) or len(claim.scatter.get("lhs", ())) > 0


def shown(claim: ClaimReport) -> str:
    """What of the claim is drawn, in a sentence for the foot of the picture."""
    if _rungs(claim):
        return "Ladders: one curve per instance, or the smallest constant of all of them."
    if _is_path(claim):
        return "Along a run: the worst instance that was drawn."
    return "One point per instance: its worst point."


def draw_claim(axis: Axes, claim: ClaimReport, sizes: Mapping[str, int]) -> None:
    """Draw the claim; `sizes` are those of the instances, which tell what an axis counts."""
    if _rungs(claim):
        _draw_ladder(axis, claim)
    elif not _is_path(claim):
        _draw_scatter(axis, claim)
    elif isinstance(claim.claim, Increasing | Decreasing):
        _draw_sequence(axis, claim)
    else:
        _draw_path(axis, claim, sizes)
    sheet.legend(axis, columns=2)


def _rungs(claim: ClaimReport) -> list[str]:
    return [name for name in claim.path if name.endswith("rungs")]


def _is_path(claim: ClaimReport) -> bool:
    return "lhs" in claim.path and np.asarray(claim.path["lhs"]).shape[-1:] > (2,)


def _curves(claim: ClaimReport, side: str) -> np.ndarray:
    """The first curves of a side, NaN where the claim says nothing."""
    values = np.where(np.asarray(claim.path["applies"]), claim.path[side], np.nan)
    return values.reshape(-1, values.shape[-1])[:CURVES]


def _bad(claim: ClaimReport, lhs: np.ndarray, rhs: np.ndarray) -> np.ndarray:
    """Which points violate the claim, as far as the error of its worst point tells."""
    if str(claim.verdict) != "violated":
        return np.zeros(lhs.shape, bool)
    with np.errstate(invalid="ignore"):
        return np.asarray(claim.claim.slack(lhs, rhs)) < -np.nan_to_num(claim.error)


def _axis_name(length: int, sizes: Mapping[str, int]) -> str:
    """What an axis of this length counts."""
    for name, size in sizes.items():
        if name == "steps" and length in (size, size + 1):
            return "step"
    for name, size in sizes.items():
        if length == size:
            return f"index, 1 to {name} = {size}"
    return "recorded point of the run, first to last"


def _draw_path(axis: Axes, claim: ClaimReport, sizes: Mapping[str, int]) -> None:
    from matplotlib.ticker import MaxNLocator

    lhs, rhs = _curves(claim, "lhs"), _curves(claim, "rhs")
    bad = _bad(claim, lhs, rhs)
    name = _axis_name(lhs.shape[-1], sizes)
    places = np.arange(lhs.shape[-1]) + name.startswith("index")
    left, right = claim.claim.labels
    single = lhs.shape[-1] <= ENTRIES
    line: dict[str, Any] = (
        {"marker": "_", "markersize": 14, "linestyle": "none"} if single else {"linestyle": "-"}
    )
    for row, (points, bound) in enumerate(zip(lhs, rhs)):
        first = row == 0
        shade = sheet.COLOURS[row % len(sheet.COLOURS)] if len(lhs) > 1 else LEFT
        under = shade if len(lhs) > 1 else RIGHT
        axis.plot(places, bound, color=under, linewidth=1.4, label=right if first else None, **line)
        good = np.where(bad[row], np.nan, points)
        axis.plot(places, good, "o", color=shade, ms=3.5, mew=0, label=left if first else None)
    if bad.any():
        rows, columns = np.nonzero(bad)
        _mark_red(axis, places[columns], lhs[rows, columns])
    sheet.scale(axis, "y", np.concatenate([lhs, rhs]))
    axis.xaxis.set_major_locator(MaxNLocator(integer=True))
    axis.set_xlim(places[0] - 0.4, places[-1] + 0.4)
    more = np.asarray(claim.path["lhs"]).size // lhs.shape[-1] - len(lhs)
    sheet.name_axes(axis, name, f"value (first {len(lhs)} curves)" if more > 0 else "value")


def _draw_sequence(axis: Axes, claim: ClaimReport) -> None:
    """A sequence that shall increase or decrease; steps the wrong way are red."""
    from matplotlib.ticker import MaxNLocator

    lhs, rhs = _curves(claim, "lhs"), _curves(claim, "rhs")
    bad = _bad(claim, lhs, rhs)
    whole = np.concatenate([lhs, rhs[:, -1:]], axis=1)
    places = np.arange(whole.shape[1]) + 1
    for row, sequence in enumerate(whole):
        colour = sheet.COLOURS[row % len(sheet.COLOURS)]
        axis.plot(places, sequence, "o-", color=colour, ms=3.5, lw=1.0)
        for step in np.flatnonzero(bad[row]):
            axis.plot(places[step : step + 2], sequence[step : step + 2], color=sheet.RED, lw=2.4)
    if bad.any():
        axis.plot([], [], color=sheet.RED, lw=2.4, label="violates")
    sheet.scale(axis, "y", whole)
    axis.xaxis.set_major_locator(MaxNLocator(integer=True))
    wanted = "increase" if isinstance(claim.claim, Increasing) else "decrease"
    sheet.name_axes(axis, "entry of the sequence", f"value, to {wanted}")


def _mark_red(axis: Axes, x: np.ndarray, y: np.ndarray) -> None:
    size = 6 if len(x) <= 2 * ENTRIES else 3.5
    axis.plot(x, y, "X", color=sheet.RED, ms=size, mew=0, zorder=5, label="violates")


def _draw_scatter(axis: Axes, claim: ClaimReport) -> None:
    lhs, rhs = np.asarray(claim.scatter["lhs"]), np.asarray(claim.scatter["rhs"])
    bad = np.asarray(claim.scatter["violated"], bool)
    left, right = claim.claim.labels
    known = np.isfinite(lhs) & np.isfinite(rhs)
    if known.any() and np.ptp(rhs[known]) == 0:
        _draw_ranked(axis, lhs, float(rhs[known][0]), bad)
        sheet.name_axes(axis, "instance, in order of its left side", left)
        return
    ends = np.concatenate([lhs[known], rhs[known]])
    sheet.scale(axis, "x", ends)
    sheet.scale(axis, "y", ends)
    if len(ends):
        ends = np.array([ends.min(), ends.max()])
        axis.plot(ends, ends, color=sheet.FAINT, lw=1.2, label="equal sides")
        _shade(axis, claim, ends)
    axis.plot(rhs[~bad], lhs[~bad], "o", color=LEFT, ms=4, mew=0, alpha=0.75, label="instance")
    if bad.any():
        _mark_red(axis, rhs[bad], lhs[bad])
    sheet.name_axes(axis, right, left)


def _shade(axis: Axes, claim: ClaimReport, ends: np.ndarray) -> None:
    """The side of the diagonal on which the claim fails."""
    beyond = {"at_most": ends.max(), "at_least": ends.min()}.get(claim.claim.relation or "")
    if beyond is not None:
        axis.fill_between(ends, ends, beyond, color=sheet.RED, alpha=0.07, lw=0, label="fails here")


def _draw_ranked(axis: Axes, lhs: np.ndarray, rhs: float, bad: np.ndarray) -> None:
    """Against one number: instances in the order of their left sides."""
    order = np.argsort(lhs)
    places = np.arange(1, len(lhs) + 1)
    lhs, bad = lhs[order], bad[order]
    axis.axhline(rhs, color=RIGHT, lw=1.4, label=f"right side, {number(rhs)}")
    axis.plot(places[~bad], lhs[~bad], "o", color=LEFT, ms=4, mew=0, label="instance")
    if bad.any():
        _mark_red(axis, places[bad], lhs[bad])
    sheet.scale(axis, "y", np.append(lhs, rhs))


def _draw_ladder(axis: Axes, claim: ClaimReport) -> None:
    rungs = _rungs(claim)
    if rungs == ["rungs"]:
        _draw_climb(axis, claim)
        return
    heights = [np.asarray(claim.path[f"{_variable(name)}_constants"]) for name in rungs]
    for index, (name, constants) in enumerate(zip(rungs, heights)):
        colour = sheet.COLOURS[index % len(sheet.COLOURS)]
        label = f"over {_variable(name)}"
        axis.plot(claim.path[name], constants, "o-", color=colour, ms=4, lw=1.2, label=label)
    axis.set_xscale("log")
    sheet.scale(axis, "y", np.concatenate(heights))
    sheet.name_axes(axis, ", ".join(map(_variable, rungs)), "smallest constant")


def _variable(name: str) -> str:
    return name.removesuffix("_rungs")


def _draw_climb(axis: Axes, claim: ClaimReport) -> None:
    """A quantity of every instance over one ladder, with the power that fits their mean."""
    rungs, series = np.asarray(claim.path["rungs"]), np.atleast_2d(claim.path["quantity"])
    for curve in series[:CLIMBERS]:
        axis.plot(rungs, curve, "o-", color=LEFT, ms=2.5, lw=0.7, alpha=0.5)
    positive = series[np.all(series > 0, axis=1)]
    if len(positive):
        middle = np.exp(np.mean(np.log(positive), axis=0))
        fitted, start = np.polyfit(np.log(rungs), np.log(middle), 1)
        line = np.exp(start) * rungs**fitted
        label = f"fitted power {fitted:.3g}"
        if isinstance(claim.claim, PowerLaw):
            label += f", claimed {claim.claim.exponent:g}"
        axis.plot(rungs, line, "--", color=RIGHT, lw=1.6, label=label)
    axis.set(xscale="log", yscale="log")
    sheet.tick_at(axis, rungs)
    variable = next(iter(claim.claim.over), "rung")
    what = "quantity" if isinstance(claim.claim, PowerLaw) else "distance of the sides"
    sheet.name_axes(axis, variable, what)
