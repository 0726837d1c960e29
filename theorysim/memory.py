"""How many instances fit into memory at once."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import jax

from theorysim.errors import SizeError

# A compiled program holds its results and, while it runs, intermediate copies of them.
INTERMEDIATE_COPIES = 4
# One chunk of instances may take this share of the device's memory.
CHUNK_SHARE = 1 / 16
# One program that is alone on the device may take this share of it if it cannot be made smaller;
# one that runs several at once takes less: other processes want memory, too.
PROGRAM_SHARE = 3 / 4
SEVERAL_SHARE = 1 / 8


def machine_bytes() -> int:
    """Physical memory of this machine."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def device_bytes() -> int:
    """Memory of the device that runs programs: what it says itself, else the machine's.

    With several devices the smallest counts.
    """
    said = [(device.memory_stats() or {}).get("bytes_limit") for device in jax.local_devices()]
    return min((int(limit) for limit in said if limit), default=machine_bytes())


def tree_bytes(shapes: Any) -> int:
    """Bytes of all arrays of a tree of shapes."""
    return sum(math.prod(s.shape) * s.dtype.itemsize for s in jax.tree.leaves(shapes))


def chunk_length(bytes_per_instance: int, wanted: int, what: str) -> int:
    """How many of `wanted` instances to run at once.

    Raises:
        SizeError: where a single instance does not fit.
    """
    need = INTERMEDIATE_COPIES * max(bytes_per_instance, 1)
    limit = device_bytes()
    if need > limit:
        raise SizeError(
            f"{what}: one instance needs about {_gibibytes(need)}, but the device has "
            f"{_gibibytes(limit)}; choose smaller sizes"
        )
    return max(1, min(wanted, int(limit * CHUNK_SHARE) // need))


def program_bytes(compiled: Any) -> int:
    """Bytes of what a compiled program returns and holds while it runs; 0 where it does not say."""
    stats = compiled.memory_analysis()
    return stats.temp_size_in_bytes + stats.output_size_in_bytes if stats else 0


def most_that_fit(compile: Callable[[int], Any], most: int, what: str) -> tuple[Any, int]:
    """The compiled program of so many at once, at most, that fits into the device's memory.

    Args:
        compile: called with how many the program is to compute at once.
        most: begin with so many.
        what: what one of them is called in a message.

    Raises:
        SizeError: where a single one does not fit.
    """
    device = device_bytes()
    while True:
        budget = int(device * (SEVERAL_SHARE if most > 1 else PROGRAM_SHARE))
        compiled = compile(most)
        need = program_bytes(compiled)
        if need <= budget:
            return compiled, most
        if most == 1:
            raise SizeError(
                f"{what} needs about {_gibibytes(need)}, but may take {_gibibytes(budget)} of this "
                "device's memory; choose smaller sizes"
            )
        most = max(1, min(most // 2, most * budget // need))


def programs_that_fit(needed: int) -> int:
    """How many runs of a program of so many bytes may be under way at once, at least one."""
    return max(1, int(device_bytes() * SEVERAL_SHARE) // max(needed, 1))


def check_host(needed: int, what: str, remedy: str) -> None:
    """Refuse to begin what cannot be held in this machine's memory.

    Raises:
        SizeError: with the bytes needed, the bytes there are and the remedy.
    """
    limit = machine_bytes()
    if needed > limit:
        raise SizeError(
            f"{what} would take about {_gibibytes(needed)} of memory, but this machine has "
            f"{_gibibytes(limit)}; {remedy}"
        )


def _gibibytes(count: int) -> str:
    return f"{Decimal(count) / 2**30:.3g} GiB"  # of any size
