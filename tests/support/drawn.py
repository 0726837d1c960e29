"""What a default run leaves out: cases too slow to run all of, drawn by name, the rest thorough."""

import zlib

import pytest


def is_drawn(name: str, share: int, of: int = 12) -> bool:
    """Whether a case belongs to the `share` of so many that a default run takes."""
    return zlib.crc32(name.encode()) % of < share


def marks_of(drawn: bool) -> list[pytest.MarkDecorator]:
    """`thorough` for what is not drawn; `-m "thorough or not thorough"` runs it."""
    return [] if drawn else [pytest.mark.thorough]


def thorough(*values: object):
    """A case that only a thorough run takes."""
    return pytest.param(*values, marks=pytest.mark.thorough)
