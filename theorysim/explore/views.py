"""What a live session shows of a statement at chosen values: a figure, its numbers, and words."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from theorysim.claims.fields.base import Interval, Options
from theorysim.claims.fields.integer import Integer
from theorysim.claims.fields.real import Real
from theorysim.claims.theorem import Theorem
from theorysim.engine import registry
from theorysim.engine.registry.notation import Notation, notation_of
from theorysim.engine.verify.verify import verify
from theorysim.report import plot, scene_plot
from theorysim.report.answer import answer
from theorysim.scenes.catalogue import scene_of
from theorysim.scenes.scene import Scene, Slider

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# So many instances are drawn for a statement without a scene: a fraction of a second.
INSTANCES = 200
STOPS = 201


@dataclass(frozen=True)
class Shown:
    """A figure with what is to be read in it, and its numbers as rows of a table."""

    figure: Figure
    words: Sequence[str]
    rows: Sequence[Mapping[str, Any]]


class View(ABC):
    """A statement whose numbers can be moved."""

    title: str
    sliders: Mapping[str, Slider]
    all_fixed = True  # whether every number has a value, or only those that one chooses

    @abstractmethod
    def at(self, values: Mapping[str, float]) -> Shown:
        """What follows from these values of all sliders."""


def view_of(id: str, theorems: Sequence[Path] = ()) -> View:
    """The scene of a statement; without one, its claims on instances with fields fixed.

    Raises:
        UsageError: for an unknown id.
    """
    entry = registry.find(id, theorems)
    scene = scene_of(entry.id)
    return SceneView(scene) if scene else ClaimsView(registry.load(entry), notation_of(entry))


class SceneView(View):
    """An authored picture."""

    def __init__(self, scene: Scene) -> None:
        self.scene, self.title, self.sliders = scene, scene.title, scene.sliders

    def at(self, values: Mapping[str, float]) -> Shown:
        """The panels at these values, drawn as in print, and their points."""
        with jax.enable_x64(True):
            panels = self.scene.panels(values)
        drawn = replace(
            self.scene, title="", caption="", panels=lambda _: panels, sliders={}, family=None
        )
        rows = [
            {"panel": panel.title or panel.y_label, "curve": s.label, "x": float(x), "y": float(y)}
            for panel in panels
            for s in panel.series
            for x, y in zip(s.x, s.y)
        ]
        return Shown(scene_plot.figure(drawn), [self.scene.caption], rows)


class ClaimsView(View):
    """A statement without a scene: numbers of its instances can be fixed, the rest is drawn."""

    all_fixed = False

    def __init__(self, theorem: Theorem, notation: Notation | None) -> None:
        self.theorem, self.notation, self.title = theorem, notation, theorem.title
        self.sliders = sliders_of(theorem)

    def at(self, values: Mapping[str, float]) -> Shown:
        """A verification on a few instances with these values: its picture and its answer.

        Raises:
            UsageError: where no instance with these values meets the hypotheses.
        """
        fields = self.theorem.space.fields
        fixed = {n: round(v) if isinstance(fields[n], Integer) else v for n, v in values.items()}
        report = verify(self.theorem, settings=fixed, instances=INSTANCES)
        said = answer(report, self.notation)
        places = (*said.printed, *said.corrected, *said.findings)
        rows = [
            {
                "reading": reading.name,
                "claim": claim.name,
                "verdict": str(claim.verdict),
                "left side": claim.lhs,
                "right side": claim.rhs,
                "error": claim.error,
            }
            for reading in report.readings
            for claim in reading.claims
        ]
        words = [*(place.sentence for place in places), said.simulated, said.worst, said.tightness]
        return Shown(plot.figure(report), [word for word in words if word], rows)


def sliders_of(theorem: Theorem) -> dict[str, Slider]:
    """A slider for every field that is one number in an interval, from the middle of it."""
    sizes = theorem.space.default_sizes()
    found = {}
    for name, field in theorem.space.fields.items():
        if field.shape(sizes) != () or not isinstance(field, Real | Integer):
            continue
        box = field.box(sizes)
        if isinstance(box, Interval) and box.low < box.high:
            middle = (box.low * box.high) ** 0.5 if box.log else (box.low + box.high) / 2
            found[name] = Slider(name, box.low, box.high, middle, log=box.log)
        elif isinstance(box, Options) and len(box.values) > 1:
            low, high = box.values[0], box.values[-1]
            found[name] = Slider(name, low, high, low, steps=len(box.values))
    return found


def stops(slider: Slider) -> list[float]:
    """Where a slider of a session stops: at whole numbers if those are its steps, else densely."""
    grid = slider.grid()
    if not (grid == np.round(grid)).all():
        grid = np.append(replace(slider, steps=STOPS).grid(), slider.default)
    return np.unique(np.clip(grid, slider.low, slider.high)).tolist()
