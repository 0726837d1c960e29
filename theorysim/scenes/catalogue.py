"""The scene of a statement, by its id."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec

from theorysim.scenes.scene import Scene


def scene_of(id: str) -> Scene | None:
    """The authored scene of a statement such as "overtraining/theorem-4.7"; None if it has none.

    It stands as `scene` in the file under theorysim/scenes that is named like the statement's own.
    """
    name = module_of(id)
    try:
        spec = find_spec(name)
    except ModuleNotFoundError:  # a paper without scenes, or a user's own theorem
        return None
    return import_module(name).scene if spec else None


def module_of(id: str) -> str:
    """The module in which the scene of a statement stands, if it has one."""
    return "theorysim.scenes." + id.replace("-", "_").replace(".", "_").replace("/", ".")
