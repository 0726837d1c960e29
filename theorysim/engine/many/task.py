"""What is asked of one statement, in plain data that travels to other machines.

It imports nothing heavy: a worker has to prepare its process before JAX is imported.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Task:
    """A statement of the catalogue with these files, and how `verify` is asked for it."""

    theorem: str
    files: tuple[str, ...] = ()
    seed: int = 0
    instances: int | None = None
