"""What a statement looks like: curves of prediction and simulation over numbers that one may move.

A scene is drawn as a figure, with some values of one number side by side; it is explored in a page
or a live session, with a slider for every number. It computes with the same kernels as the
statement.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
from jaxtyping import Float


class Role(StrEnum):
    """What a series is evidence of, which decides how it is drawn."""

    PREDICTION = "prediction"  # a line
    SIMULATION = "simulation"  # points
    BOUND = "bound"  # a dashed line
    MARK = "mark"  # hollow rings: places that the statement names, such as an inflection point


@dataclass(frozen=True)
class Series:
    """Points of one curve; entries that are NaN are not drawn."""

    label: str
    role: Role
    x: Float[np.ndarray, " points"]
    y: Float[np.ndarray, " points"]


@dataclass(frozen=True)
class Panel:
    """One pair of axes, with their names (and units) and what is drawn on them."""

    x_label: str
    y_label: str
    series: Sequence[Series]
    title: str = ""
    log_x: bool = False
    log_y: bool = False


@dataclass(frozen=True)
class Slider:
    """A number that one may move from `low` to `high`; by factors where `log`.

    `steps` is how many values of it show what it does: a page whose curves jump between them stops
    there (and halfway, unless they are whole numbers), a session if they are whole numbers.
    """

    label: str
    low: float
    high: float
    default: float
    log: bool = False
    steps: int = 9

    def grid(self) -> Float[np.ndarray, " steps"]:
        """`steps` values from `low` to `high`, evenly or by equal factors."""
        space = np.geomspace if self.log else np.linspace
        return space(self.low, self.high, self.steps)


@dataclass(frozen=True)
class Scene:
    """An authored picture of a statement.

    Attributes:
        title: what is shown, in one line.
        caption: what to look for, in a sentence or two.
        panels: the panels at given values of all sliders. The number of panels and of series, and
            the length of each, are the same for all values.
        sliders: the numbers that may be moved, by name.
        family: values of one slider that a printed figure shows side by side, the others at their
            defaults; None where it shows the defaults only.
    """

    title: str
    caption: str
    panels: Callable[[Mapping[str, float]], Sequence[Panel]]
    sliders: Mapping[str, Slider] = field(default_factory=dict)
    family: tuple[str, tuple[float, ...]] | None = None

    def defaults(self) -> dict[str, float]:
        """The default of every slider."""
        return {name: slider.default for name, slider in self.sliders.items()}
