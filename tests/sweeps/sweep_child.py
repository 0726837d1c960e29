"""A sweep in a process of its own, which may kill itself at a chosen moment.

It is started by importing this module and calling `main`, so that the name of the function that is
swept is the same in every process.
"""

import os
import signal
import sys

import jax
import jax.numpy as jnp
import numpy as np

from theorysim.sweeps import ProcessLost, sweep
from theorysim.sweeps import store as sweep_store

AXES = {"rate": np.linspace(0.1, 1.0, 12), "angle": np.linspace(0.0, 3.0, 10)}
SETTINGS = {"sizes": {"width": [2, 3]}, "seeds": 2, "independent_keys": True}
# Tiles of 2 x 10 cells with 2 seeds: six for each of the two widths.
TILE = 40
KILL_AFTER = 4


def network(rate, angle, width, key):
    """Something of every kind: random numbers, transcendental functions, a loop, vectors."""
    start = jax.random.normal(key, (width,))
    path = jax.lax.fori_loop(0, 3, lambda _, x: x - rate * jnp.sin(x + angle), start)
    return {"end": path, "norm": jnp.sqrt(jnp.sum(path**2)), "positive": path[0] > 0}


def descent(x, y):
    return jax.lax.fori_loop(0, 50, lambda _, w: w - 0.01 * y * (w**3 - x), x)


def run(out=None, tile=TILE, progress=False):
    """The sweep, whose command is the same in every process."""
    sys.argv = ["sweep_child"]
    return sweep(network, AXES, **SETTINGS, tile=tile, out=out, progress=progress)


def kill() -> None:
    """End at once."""
    os.kill(os.getpid(), signal.SIGKILL)


def kill_between(done, total, text):
    """A progress function that ends the process after some tiles are complete."""
    if text == "sweep" and done >= KILL_AFTER * TILE:
        kill()


def kill_within(done: list[int], checksum):
    """A checksum that ends the process when a tile's blocks are written and its record is not."""

    def deadly(blocks):
        done.append(1)
        if len(done) > KILL_AFTER:
            kill()
        return checksum(blocks)

    return deadly


def main(out, kill="", port=None, process=0):
    """Sweep into `out`; `kill` is "between" or "within" tiles, or the process to end between."""
    if port is not None:
        jax.distributed.initialize(
            f"127.0.0.1:{port}", 2, process, heartbeat_timeout_seconds=5, initialization_timeout=60
        )
    if kill == "within":
        sweep_store._checksum = kill_within([], sweep_store._checksum)
    progress = kill_between if kill in ("between", str(process)) else False
    try:
        found = run(out, progress=progress)
    except ProcessLost as error:
        print(error, flush=True)
        os._exit(5)  # the shutdown of jax.distributed would wait for the lost process
    found.load()
    print(jax.local_device_count(), "devices", float(found["norm"].sum()))
