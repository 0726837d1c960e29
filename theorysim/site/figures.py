"""The printed figures of scenes, as files of the site."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import jax

from theorysim.scenes.scene import Scene
from theorysim.site.addresses import page_of


@dataclass(frozen=True)
class Figure:
    """A picture in the site: its path from the root, and its size in pixels of the page."""

    file: str
    width: int
    height: int


def figure_of(id: str) -> str:
    """Where the picture of a statement stands."""
    return page_of(id).removesuffix(".html") + ".png"


def draw_figures(scenes: Iterable[tuple[str, Scene]], folder: Path) -> dict[str, Figure]:
    """Draw the scenes below a folder, by the ids of their statements.

    The page says title and caption, as text: they are left out of the picture.
    """
    from theorysim.report import scene_plot, sheet

    found = {}
    for id, scene in scenes:
        with jax.enable_x64(True):
            picture = scene_plot.figure(replace(scene, title="", caption=""))
        path = folder / figure_of(id)
        path.parent.mkdir(parents=True, exist_ok=True)
        sheet.save(picture, path)
        inches = picture.get_size_inches()
        found[id] = Figure(figure_of(id), *(round(sheet.DPI / 2 * side) for side in inches))
    return found
