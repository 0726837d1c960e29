"""Peak memory of sweeps: a fresh process into a store against one that keeps all of a bare vmap.

Both for a grid and for one ten times larger: the sweep's memory does not grow with the grid. The
seconds are of whole processes, with their imports.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import jax
import numpy as np

import theorysim
from benchmarks.race import Contender, Row, race
from benchmarks.sweep import axes, closed_form


def peak(kind: str, cells: int) -> float:
    """MiB of peak memory of a fresh process that computes so many cells."""
    with tempfile.TemporaryDirectory() as folder:
        command = f"-m benchmarks.sweep_memory {kind} {folder}/a.zarr {cells}"
        done = subprocess.run(
            [sys.executable, *command.split()], capture_output=True, text=True, check=True
        )
    return float(done.stdout.split()[-1])


def process(name: str, kind: str, cells: int) -> Contender:
    """A fresh process, with the peak of one run of it."""
    contender = Contender(name, lambda: peak(kind, cells), cells)
    return replace(contender, mib=contender.run())


def child(kind: str, path: str, cells: int) -> None:
    """Compute and print the peak; the kernel's own count of usage would include the parent's."""
    if kind == "store":
        theorysim.sweep(closed_form, axes(cells), out=path)
    else:
        mesh = [m.ravel() for m in np.meshgrid(*axes(cells).values(), indexing="ij")]
        np.array(jax.jit(jax.vmap(closed_form))(*mesh))
    status = Path("/proc/self/status").read_text()
    print(int(status.partition("VmHWM:")[2].split()[0]) / 1024)


def rows(quick: bool) -> Iterator[Row]:
    """The store against the bare vmap, at two sizes."""
    for cells in (10**4,) if quick else (10**6, 10**7):
        yield from race(
            process("sweep into a store", "store", cells),
            process("jit(vmap(f)) and its results", "bare", cells),
            size={"cells": cells},
            unit="cell",
            dtype="float32",
            rounds=1,
        )


if __name__ == "__main__":
    child(sys.argv[1], sys.argv[2], int(sys.argv[3]))
