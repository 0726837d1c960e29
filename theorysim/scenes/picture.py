"""What an experiment looks like: its measured curves, as the figure of the paper shows them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import xarray


@dataclass(frozen=True)
class View:
    """One pair of axes: a quantity along one axis of the data, a line for each value of another.

    Attributes:
        title: which part of the paper's figure it is.
        label: the quantity, with its unit.
        quantity: from the data of all runs, an array with the axes `run`, `along` and, if there are
            several lines, `lines`.
        along, along_label: the axis that goes to the right, and what it is called.
        lines, lines_label: the axis whose values have a line each.
        beside: what a theorem predicts of the quantity, with the same axes; it is dashed.
        ticks, names: words for the places of `along`, and for the lines, in the place of numbers.
        log_x, log_y: whether the axes are logarithmic.
    """

    title: str
    label: str
    quantity: Callable[[xarray.Dataset], xarray.DataArray]
    along: str
    along_label: str
    lines: str = ""
    lines_label: str = ""
    beside: Callable[[xarray.Dataset], xarray.DataArray] | None = None
    ticks: Sequence[str] = ()
    names: Sequence[str] = ()
    log_x: bool = True
    log_y: bool = False

    def __post_init__(self):
        if self.ticks and self.log_x:
            raise ValueError(f"{self.title!r}: words have no logarithm: log_x=False")


@dataclass(frozen=True)
class Picture:
    """All views of an experiment, and what to look for in them."""

    title: str
    caption: str
    views: Sequence[View]
