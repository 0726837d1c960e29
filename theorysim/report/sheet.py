"""One look for all pictures: panels under a title, with notes below, and files to put them into.

A sheet is narrow, so that its letters can be read at the width of a phone, and as high as its texts
and panels need. Colours are those of Okabe and Ito, which people of any colour vision tell apart.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from theorysim.errors import UsageError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# The formats of pictures that matplotlib writes without further programs.
FORMATS = ("png", "svg", "pdf", "jpg", "jpeg", "webp", "tif", "tiff", "eps", "ps")

INK, FAINT, RED = "#222222", "#8c8c8c", "#d55e00"
COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#000000")
# Of verdicts: green and red as dark as small letters need.
VERDICTS = {"holds": "#00664b", "violated": "#b03a00"}
UNDECIDED = "#7a5c00"

WIDTH = 7.0  # inches
DPI = 200  # 1400 pixels across
MARGIN = 0.12  # inches
BELOW = 34  # points, from an axis to its legend: ticks and name are between
STRIP = 0.5  # inches, for a row of colours and its title
PANEL = 9  # size of letters in panels, in points
ROOMY = 6  # so many colours have their names beside each other in letters of that size
# Letters are this wide on average, as a share of their size; lines are so far apart.
LETTER, LINE = 0.53, 1.35
# An axis is logarithmic beyond this span; of both signs it has so many decades each.
SPAN, DECADES = 50.0, 8
# Numbers beyond are written with their own power of ten.
SMALL, LARGE = 1e-3, 1e5


@dataclass(frozen=True)
class Note:
    """A text that is broken into lines as wide as the sheet."""

    text: str
    size: float = 8.5
    colour: str = INK
    bold: bool = False

    @property
    def lines(self) -> list[str]:
        """The lines; paragraphs start new ones."""
        share = LETTER * (1.09 if self.bold else 1.0)
        columns = int((WIDTH - 2 * MARGIN) * 72 / (share * self.size))
        return [line for part in self.text.split("\n") for line in textwrap.wrap(part, columns)]

    @property
    def height(self) -> float:
        """Inches."""
        return len(self.lines) * LINE * self.size / 72


def sheet(
    panels: int, above: Sequence[Note], below: Sequence[Note] = (), strip: float = 0.0
) -> tuple[Figure, list[Axes]]:
    """A figure with panels in one column, or in two, between notes above and below.

    `strip` is the height (in inches) left free under the panels, for `name_colours`.
    """
    from matplotlib.figure import Figure

    columns = min(max(panels, 1), 2)
    rows = max(-(-panels // columns), 1)
    body = {0: 0.2, 1: 4.2, 2: 3.6}.get(panels, 3.0 * rows)
    top, bottom = (sum(note.height for note in notes) + MARGIN for notes in (above, below))
    height = top + body + strip + bottom
    picture = Figure(figsize=(WIDTH, height), dpi=DPI, facecolor="white", layout="constrained")
    layout = picture.get_layout_engine()
    rect = (0, (bottom + strip) / height, 1, body / height)
    layout.set(rect=rect, w_pad=0.08, h_pad=0.06)  # type: ignore[union-attr]
    _write(picture, above, height - MARGIN, height)
    _write(picture, below, bottom, height)
    axes = list(picture.subplots(rows, columns, squeeze=False).flat)
    for axis in axes[panels:]:
        axis.remove()
    for axis in axes[:panels]:
        _plain(axis)
    return picture, axes[:panels]


def _write(picture: Figure, notes: Sequence[Note], top: float, height: float) -> None:
    """Notes from a height (in inches) downwards."""
    for note in notes:
        picture.text(
            MARGIN / WIDTH,
            top / height,
            "\n".join(note.lines),
            size=note.size,
            color=note.colour,
            weight="bold" if note.bold else "normal",
            linespacing=LINE / 1.2,
            va="top",
            parse_math=False,
        )
        top -= note.height


def _plain(axis: Axes) -> None:
    axis.spines[["top", "right"]].set_visible(False)
    axis.spines[["left", "bottom"]].set_color(FAINT)
    axis.tick_params(labelsize=PANEL - 1, color=FAINT, labelcolor=INK)
    axis.tick_params(which="minor", labelsize=PANEL - 2.5, color=FAINT, labelcolor=INK)
    axis.grid(color="0.92", linewidth=0.6)
    axis.set_axisbelow(True)


def name_axes(axis: Axes, x: str, y: str) -> None:
    """Write the names of both axes."""
    axis.set_xlabel(x, size=PANEL, color=INK, parse_math=False)
    axis.set_ylabel(y, size=PANEL, color=INK, parse_math=False)


def legend(axis: Axes, columns: int) -> None:
    """The legend of a panel, below it, if something in it has a label."""
    handles, labels = axis.get_legend_handles_labels()
    known = {label: handle for handle, label in zip(handles, labels)}
    if known:
        axis.legend(
            known.values(),
            known.keys(),
            loc="upper left",
            bbox_to_anchor=(0.0, 0.0),
            bbox_transform=axis.transAxes + _down(axis, BELOW),
            ncols=columns,
            fontsize=PANEL - 1.5,
            frameon=False,
            borderpad=0,
            columnspacing=1.2,
        )


def _down(axis: Axes, points: float) -> Any:
    """A shift downwards by so many points."""
    from matplotlib.transforms import ScaledTranslation

    return ScaledTranslation(0, -points / 72, axis.figure.dpi_scale_trans)


def name_colours(picture: Figure, title: str, handles: Sequence[Any], labels: list[str]) -> None:
    """What colours stand for, in one row right under all panels; a long row is small."""
    bottom = picture.get_layout_engine().get()["rect"][1]  # type: ignore[union-attr]
    picture.legend(
        handles,
        labels,
        title=title,
        loc="upper center",
        bbox_to_anchor=(0.5, bottom),
        ncols=len(handles),
        fontsize=PANEL if len(handles) <= ROOMY else PANEL - 2,
        handlelength=2.0 if len(handles) <= ROOMY else 1.0,
        columnspacing=2.0 if len(handles) <= ROOMY else 1.0,
        title_fontsize=PANEL,
        frameon=False,
    )


def scale(axis: Axes, which: str, values: np.ndarray) -> None:
    """A logarithmic axis ("x" or "y") where the span of the values asks for one.

    Where some are not positive, it is linear around zero and logarithmic beyond.
    """
    from matplotlib.ticker import FixedLocator

    values = np.ravel(values)[np.isfinite(np.ravel(values))]
    sizes = np.abs(values[values != 0])
    if not len(sizes):
        return
    ticks = getattr(axis, f"{which}axis")
    is_positive = bool(np.all(values > 0))
    if sizes.max() <= SPAN * (sizes.min() if is_positive else np.median(sizes)):
        if not SMALL <= sizes.max() <= LARGE:  # a factor over the axis would lie on its title
            ticks.set_major_formatter("{x:.3g}")
    elif is_positive:
        axis.set(**{f"{which}scale": "log"})
    else:
        linear = max(float(np.quantile(sizes, 0.1)), sizes.max() * 10.0**-DECADES)
        getattr(axis, f"set_{which}scale")("symlog", linthresh=linear)
        ticks.set_major_locator(FixedLocator(_decades(values, linear)))


def _decades(values: np.ndarray, linear: float) -> list[float]:
    """Zero, and every so many powers of ten between `linear` and the largest value of each sign."""
    first = int(np.ceil(np.log10(linear))) + 1
    last = int(np.floor(np.log10(np.max(np.abs(values)))))
    powers = [10.0**k for k in range(last, first - 1, -max(1, (last - first) // 3))]
    above = [p for p in powers if p <= values.max()]
    below = [-p for p in powers if -p >= values.min()]
    return [*below, 0.0, *above]


def tick_at(axis: Axes, places: np.ndarray) -> None:
    """Tick the axis below at these places only, a few at most, as plain numbers."""
    few = places[:: -(-len(places) // 4)]
    axis.set_xticks(few, [f"{place:g}" for place in few])
    axis.set_xticks([], minor=True)


def check_picture(path: str | Path) -> None:
    """Refuse a file whose ending names no format of pictures; costs nothing.

    Raises:
        UsageError: with the endings there are.
    """
    ending = Path(path).suffix.removeprefix(".").lower()
    if ending not in FORMATS:
        raise UsageError(
            f"cannot draw {path}: its ending names no picture format; end it in one of "
            + ", ".join(f".{known}" for known in FORMATS)
        )


def save(picture: Figure, path: str | Path) -> None:
    """Write a figure into a file.

    Raises:
        UsageError: where the file cannot be written or its ending names no picture format.
    """
    check_picture(path)
    try:
        picture.savefig(path, dpi=DPI)
    except (ValueError, OSError) as error:
        raise UsageError(f"cannot write the picture {path}: {error}") from None
