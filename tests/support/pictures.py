"""Scenes and their series, as tests ask for them."""

from collections.abc import Sequence

from theorysim.scenes.catalogue import scene_of
from theorysim.scenes.scene import Panel, Role, Scene, Series


def scene(id: str) -> Scene:
    """The scene of a statement that has one."""
    found = scene_of(id)
    assert found is not None
    return found


def drawn(id: str, **values: float) -> Sequence[Panel]:
    """The panels of a scene at the defaults of its sliders, but for some."""
    chosen = scene(id)
    return chosen.panels({**chosen.defaults(), **values})


def series(panel: Panel, role: Role) -> list[Series]:
    """All series of a role."""
    return [each for each in panel.series if each.role is role]


def only(panel: Panel, role: Role) -> Series:
    """The one series of a role."""
    (found,) = series(panel, role)
    return found
