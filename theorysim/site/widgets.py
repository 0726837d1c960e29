"""Scenes that one can move in a page: what a page puts in the place of a picture."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from theorysim.scenes.scene import Scene


@dataclass(frozen=True)
class Widget:
    """An explorable picture.

    Attributes:
        html: the fragment that stands below the printed figure. Pages are opened from disk, where
            a script may load scripts but fetch nothing: data comes in a script that assigns it.
        files: further files by their names, beside the page; `html` names them as they are.
    """

    html: str
    files: Mapping[str, str] = field(default_factory=dict)


def widget_of(id: str, scene: Scene) -> Widget | None:
    """The widget of a statement's scene; None where it has nothing to move."""
    return None
