"""What is asked of a worker, in plain data that travels to other machines.

It imports nothing heavy: a worker has to prepare its process before JAX is imported.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from theorysim.errors import UsageError


class UnfitWorker(UsageError):
    """A worker would compute with something else than the process that asks."""


@dataclass(frozen=True)
class Code:
    """What a task runs beside this package and its packs: files of theorems, packages by name."""

    files: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()


NO_CODE = Code()


class Task(Protocol):
    """A pure function of plain data: who does it, and how often, changes nothing."""

    @property
    def code(self) -> Code:
        """What must be the same on the worker."""
        ...

    def work(self) -> Any:
        """The result, which travels back.

        Raises:
            UnfitWorker: where this process would compute something else.
        """
        ...
