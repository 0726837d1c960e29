"""How many instances fit into memory at once."""

from __future__ import annotations

import math
import os
from typing import Any

import jax

from theorysim.errors import SizeError

# A compiled program holds its results and, while it runs, intermediate copies of them.
INTERMEDIATE_COPIES = 4
# One chunk of instances may take this share of the machine's memory.
CHUNK_SHARE = 1 / 16


def machine_bytes() -> int:
    """Physical memory of this machine."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def tree_bytes(shapes: Any) -> int:
    """Bytes of all arrays of a tree of shapes."""
    return sum(math.prod(s.shape) * s.dtype.itemsize for s in jax.tree.leaves(shapes))


def chunk_length(bytes_per_instance: int, wanted: int, what: str) -> int:
    """How many of `wanted` instances to run at once.

    Raises:
        SizeError: where a single instance does not fit.
    """
    need = INTERMEDIATE_COPIES * max(bytes_per_instance, 1)
    limit = machine_bytes()
    if need > limit:
        raise SizeError(
            f"{what}: one instance needs about {need / 2**30:.3g} GiB, but this machine has "
            f"{limit / 2**30:.3g} GiB; choose smaller sizes"
        )
    return max(1, min(wanted, int(limit * CHUNK_SHARE) // need))
