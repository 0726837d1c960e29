"""Fresh processes that run batched LAPACK: how many hang?

    python -m validation.deadlock [--processes 50] [--threads 2] [--limit 120]

XLA's CPU thread pool can deadlock in programs that vmap eigh, solve and qr. `theorysim.environment`
makes the pool large enough; `--threads` overrides its choice, which shows what it prevents. A
deadlock happens at random and at the first run, so every trial is a process of its own.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from typing import NamedTuple

BATCH = 4096
WIDTH = 6
REPEATS = 3


class Trial(NamedTuple):
    """One process: whether it ended by itself, its exit code and how long it took."""

    ended: bool
    code: int | None
    seconds: float


def worker() -> None:
    """A batched verification of linear algebra on itself; exit code 1 if it is wrong."""
    from theorysim.environment import prepare

    prepare()

    import jax
    import jax.numpy as jnp
    import numpy as np

    from theorysim.compiled import jit
    from theorysim.systems.balanced_flow import balanced_flow

    def residuals(key: jax.Array) -> jax.Array:
        matrix = jax.random.normal(key, (WIDTH, WIDTH))
        symmetric = matrix @ matrix.T + jnp.eye(WIDTH)
        values, vectors = jnp.linalg.eigh(symmetric)
        inverse = jnp.linalg.solve(symmetric, jnp.eye(WIDTH))
        start = jnp.eye(WIDTH) / 10
        path = balanced_flow(start, start, matrix, jnp.asarray([0.0, 0.5]))
        return jnp.stack(
            [
                jnp.max(jnp.abs(symmetric @ vectors - vectors * values[None, :])),
                jnp.max(jnp.abs(symmetric @ inverse - jnp.eye(WIDTH))),
                jnp.sum(values) - jnp.sum(jnp.linalg.eigvalsh(symmetric)),
                jnp.max(jnp.abs(path.product[0] - start @ start)),
            ]
        )

    with jax.enable_x64(True):
        for compiled in (jax.jit, jit):
            run = compiled(jax.vmap(residuals))
            for seed in range(REPEATS):
                found = run(jax.random.split(jax.random.key(seed), BATCH))
                # Errors of 6 x 6 algebra, condition numbers up to some hundreds.
                if not np.all(np.abs(found) < 1e-9):
                    raise SystemExit(1)


def trial(threads: int | None, limit: float) -> Trial:
    """Run the worker in a fresh process; it is ended after `limit` seconds."""
    environment = dict(os.environ)
    if threads is not None:
        environment["NPROC"] = str(threads)
    begin = time.perf_counter()
    command = [sys.executable, "-m", "validation.deadlock", "--worker"]
    try:
        code = subprocess.run(command, env=environment, timeout=limit, check=False).returncode
    except subprocess.TimeoutExpired:
        return Trial(False, None, limit)
    return Trial(True, code, time.perf_counter() - begin)


def main() -> None:
    """Run the trials and print how they ended; exit code 1 if one hung or failed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--processes", type=int, default=50)
    parser.add_argument("--threads", type=int, help="NPROC, in place of the environment's choice")
    parser.add_argument("--limit", type=float, default=120.0, help="seconds after which it hangs")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        worker()
        return
    trials = [trial(options.threads, options.limit) for _ in range(options.processes)]
    hung = sum(not one.ended for one in trials)
    failed = sum(one.ended and one.code != 0 for one in trials)
    slowest = max((one.seconds for one in trials if one.ended), default=float("nan"))
    print(f"{len(trials)} processes: {hung} hung, {failed} failed, slowest {slowest:.1f} s")
    raise SystemExit(1 if hung or failed else 0)


if __name__ == "__main__":
    main()
