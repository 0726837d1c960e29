"""The scene of a statement, by its id."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from theorysim.scenes.picture import Picture
from theorysim.scenes.scene import Scene


def scene_of(id: str) -> Scene | None:
    """The authored scene of a statement such as "overtraining/theorem-4.7"; None if it has none.

    It stands as `scene` in the file under theorysim/scenes that is named like the statement's own.
    """
    return _named(id, "scene")


def picture_of(id: str) -> Picture | None:
    """The picture of an experiment, which stands there as `picture`; None if it has none."""
    return _named(id, "picture")


def _named(id: str, name: str) -> Any:
    try:
        spec = find_spec(module_of(id))
    except ModuleNotFoundError:  # a paper without scenes, or a user's own theorem
        return None
    return getattr(import_module(module_of(id)), name, None) if spec else None


def module_of(id: str) -> str:
    """The module in which the scene of a statement stands, if it has one."""
    return "theorysim.scenes." + id.replace("-", "_").replace(".", "_").replace("/", ".")
