"""Several processes of one sweep: they meet at barriers and share nothing else but the store."""

from __future__ import annotations

from pathlib import Path

import jax
from jax.experimental import multihost_utils


class ProcessLost(RuntimeError):
    """Another process of the sweep has ended."""


def wait_for_all(moment: str, path: Path) -> None:
    """Wait until every process has come to this moment of the sweep.

    Raises:
        ProcessLost: where one of them has ended, with the remedy.
    """
    if jax.process_count() == 1:
        return
    try:
        multihost_utils.sync_global_devices(f"theorysim sweep {path.name}: {moment}")
    except Exception as error:
        raise ProcessLost(
            f"another process of this sweep has ended; what is complete stays in {path}: "
            "start all processes again to resume"
        ) from error
