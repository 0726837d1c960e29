"""What a default run leaves out: cases too slow to run all of, drawn by name, the rest thorough."""

import zlib
from collections.abc import Iterable
from functools import cache

import pytest

from benchmarks import latency

# Of a theorem that is verified from empty caches within so many seconds of a processor, beyond
# those of imports, a default run keeps the contracts that compile, of some of them without mutants
# and counterexamples: all take two or three times as long.
QUICK = 1.0


@cache
def _cold() -> dict[str, float]:
    """Seconds of a processor that verifying a theorem took from empty caches, as last recorded."""
    return {line.statement: line.cold.cpu - line.bare.cpu for line in latency.recorded()}


def is_quick(theorem: str) -> bool:
    """Whether verifying a theorem takes little, as it is taken to where that is not recorded."""
    return _cold().get(theorem, 0.0) < QUICK


def is_drawn(name: str, share: int, of: int = 12) -> bool:
    """Whether a case belongs to the `share` of so many that a default run takes."""
    return zlib.crc32(name.encode()) % of < share


def marks_of(drawn: bool) -> list[pytest.MarkDecorator]:
    """`thorough` for what is not drawn; `-m "thorough or not thorough"` runs it."""
    return [] if drawn else [pytest.mark.thorough]


def thorough(*values: object):
    """A case that only a thorough run takes."""
    return pytest.param(*values, marks=pytest.mark.thorough)


def one_in(count: int, cases: Iterable, first: int = 0) -> list:
    """Cases of one kind, of which a default run takes one of so many, from the first on."""
    return [case if n % count == first else thorough(case) for n, case in enumerate(cases)]


def every_second(cases: Iterable, first: int = 0) -> list:
    """Cases of one kind, of which a default run takes every second one from the first on."""
    return one_in(2, cases, first)
