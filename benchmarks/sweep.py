"""Sweeps against the bare jitted vmap: throughput in memory and into a store, and memory.

- throughput: cells per second of `theorysim.sweep` over that of one `jit(vmap(f))` call on the same
  cells (and over calls tile by tile: on a CPU the stronger peer, because a tile stays in caches)
  whose results are copied to NumPy, for a closed form and for a descent loop of a microsecond
  or more per cell; both warm (compiled) and as the user meets them (compilation included);
- memory: the peak of a fresh process that sweeps into a store, for a grid and one ten times larger.

Run: python -m benchmarks.sweep [--cells 1000000] [--json FILE]
"""

# ruff: noqa: E402 -- the environment is prepared before JAX is imported

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

from theorysim.environment import prepare

prepare()  # before anything imports JAX

import jax
import jax.numpy as jnp
import numpy as np

import theorysim
from theorysim.progress import silent
from theorysim.sweeps.dataset import MemoryResult, frame
from theorysim.sweeps.grid import grid
from theorysim.sweeps.provenance import provenance
from theorysim.sweeps.run import Executor, fill, plan
from theorysim.sweeps.store import StoreResult, create
from theorysim.sweeps.tiles import TILE_CELLS

REPEATS = 6


def closed_form(x, y):
    """Some nanoseconds per cell."""
    return jnp.exp(-x * y) * jnp.sin(x + y)


def descent(x, y):
    """About a microsecond per cell: 2000 steps on a quartic."""
    return jax.lax.fori_loop(0, 2000, lambda _, w: w - 0.01 * y * (w**3 - x), x)


def axes(cells: int) -> dict[str, np.ndarray]:
    """A square grid of about so many cells."""
    side = int(cells**0.5)
    return {"x": np.linspace(0.1, 1, side), "y": np.linspace(0.1, 1, side)}


def best(runs: dict[str, Callable[[], object]]) -> dict[str, float]:
    """The least of several times of each, in seconds; taken in turns, so that all see one load."""
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(REPEATS):
        for name, run in runs.items():
            times[name].append(timed(run))
    return {name: min(found) for name, found in times.items()}


def timed(run: Callable[[], object]) -> float:
    """Seconds of one run."""
    start = perf_counter()
    run()
    return perf_counter() - start


def bare(f: Callable, cells: int) -> dict[str, Callable[[], object]]:
    """`jit(vmap(f))` on all cells at once and tile by tile, results copied to NumPy."""
    mesh = [m.ravel() for m in np.meshgrid(*axes(cells).values(), indexing="ij")]
    program = jax.jit(jax.vmap(f))

    def tiled() -> np.ndarray:
        starts = range(0, len(mesh[0]), TILE_CELLS)
        parts = [program(*(m[start : start + TILE_CELLS] for m in mesh)) for start in starts]
        return np.concatenate(parts)

    return {"bare": lambda: np.array(program(*mesh)), "bare_in_tiles": tiled}


def swept(f: Callable, cells: int, folder: Path) -> dict[str, Callable[[], object]]:
    """The compiled part of a sweep in memory, and into a store that is there already."""
    executor = Executor(plan(f, grid(axes(cells), {}, None), {}), silent)
    origin = provenance(f, executor.plan.grid, executor.plan.jaxprs)
    shell = frame(executor.plan.grid, executor.plan.variables, {}, {}, origin)
    tiles = executor.tiles(None, None)
    stores = [folder / f"{i}.zarr" for i in range(REPEATS)]
    for path in stores:
        create(path, shell, tiles)
    results = iter([StoreResult(path, shell) for path in stores])
    return {
        "memory": lambda: fill(executor, MemoryResult(shell, tiles)),
        "store": lambda: fill(executor, next(results)),
    }


def throughput(f: Callable, cells: int) -> dict[str, float]:
    """Times and ratios of throughput to the bare program."""
    peers = bare(f, cells)
    first = timed(peers["bare"])
    peers["bare_in_tiles"]()
    whole = timed(lambda: theorysim.sweep(f, axes(cells)))
    with tempfile.TemporaryDirectory() as folder:
        times = best({**peers, **swept(f, cells, Path(folder))})
    return {
        "bare_microseconds_per_cell": 1e6 * times["bare"] / cells,
        "sweep_seconds_with_compilation": whole,
        "bare_seconds_with_compilation": first,
        "ratio_in_memory": times["bare"] / times["memory"],
        "ratio_in_memory_to_bare_in_tiles": times["bare_in_tiles"] / times["memory"],
        "ratio_into_store": times["bare"] / times["store"],
        "ratio_into_store_to_bare_in_tiles": times["bare_in_tiles"] / times["store"],
    }


def peak(cells: int) -> float:
    """MiB of peak memory of a fresh process that sweeps so many cells into a store."""
    with tempfile.TemporaryDirectory() as folder:
        command = f"-m benchmarks.sweep --child {folder}/a.zarr --cells {cells}"
        done = subprocess.run(
            [sys.executable, *command.split()], capture_output=True, text=True, check=True
        )
    return float(done.stdout.split()[-1])


def child(path: str, cells: int) -> None:
    """Sweep and print the peak; the kernel's own count of usage would include the parent's."""
    theorysim.sweep(closed_form, axes(cells), out=path)
    status = Path("/proc/self/status").read_text()
    print(int(status.partition("VmHWM:")[2].split()[0]) / 1024)


def main() -> None:
    """Measure, print and keep."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cells", type=int, default=10**6)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        return child(arguments.child, arguments.cells)
    found = {f.__name__: throughput(f, arguments.cells) for f in (closed_form, descent)}
    found["peak_MiB"] = {str(n): peak(n) for n in (arguments.cells, 10 * arguments.cells)}
    print(json.dumps(found, indent=2))
    if arguments.json:
        arguments.json.write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    main()
