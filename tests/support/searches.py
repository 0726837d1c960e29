"""Searches that take as long as they take, however slow the machine is."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from theorysim.engine.review import review, rounds, sharpness

AMPLE = 600.0
"""seconds for everything, with `one_round`"""


@contextmanager
def one_round(points: int) -> Iterator[None]:
    """Every search is one round of so many points, which are enough, and none is for the time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rounds, "FIRST_POINTS", points)
        patch.setattr(rounds, "LEAST_POINTS", 1 << 62)
        for module in (sharpness, review):
            patch.setattr(module, "ENOUGH_POINTS", 200)
        yield
