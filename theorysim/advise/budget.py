"""Work that would take too many hours is refused before it begins, by timing a small part of it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import jax

from theorysim.errors import SizeError

FREE = 200_000
"""so many steps in all are not timed: more than any default asks for"""
LONGEST = 6 * 3600.0
"""seconds that the steps of one answer may take, by estimate"""
TRIED = 100
"""so many steps are timed"""
HOUR = 3600.0


def check_time(run: Callable[[int], Any], whole: int, remedy: str) -> None:
    """Refuse what would take too long.

    Args:
        run: makes so many steps, and waits for them; what it compiles it keeps.
        whole: so many steps are to be made in all.
        remedy: what to change.

    Raises:
        SizeError: with the hours that it would take, the limit and the remedy.
    """
    if whole <= FREE:
        return
    jax.block_until_ready(run(TRIED))
    begun = time.perf_counter()
    jax.block_until_ready(run(TRIED))
    needed = (time.perf_counter() - begun) / TRIED * whole
    if needed > LONGEST:
        raise SizeError(
            f"{whole:,} steps would take about {needed / HOUR:.2g} hours here, the limit is "
            f"{LONGEST / HOUR:.2g}: {remedy}"
        )
