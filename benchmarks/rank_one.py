"""Rank-one fine-tuning: the reduced chain against online SGD in d dimensions and a NumPy loop.

All do the same steps of the same problem (ReLU, orthonormal features, one fresh sample per step):

- reduced chain: many runs in one compiled call, at a cost that does not depend on d;
- full: online SGD in d dimensions, differentiated automatically, many runs in one compiled call;
- NumPy: a loop over the steps of one run with the gradient written out.

The campaign (by default 10^3 runs of 10^6 steps at d = 10^6, k = 50) is timed over fewer steps and
scaled to all of them; --whole runs it.  Compilation is timed apart; times are to the last result.

Run: python -m benchmarks.rank_one [--neurons 50] [--dimensions 100 1000 10000] [--whole] [--json F]
"""

# ruff: noqa: E402 -- the environment is prepared before JAX is imported

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from theorysim.environment import prepare

prepare()  # before anything imports JAX

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from theorysim.systems import rank_one
from theorysim.systems import rank_one_chain as chain

RATE = 0.05  # times 1 / d
START = 0.1


class Row(NamedTuple):
    """A contender's numbers."""

    name: str
    dimension: int
    runs: int
    steps: int
    seconds: float
    compile_seconds: float

    def microseconds(self) -> float:
        """Per step of one run."""
        return 1e6 * self.seconds / (self.runs * self.steps)


def problem(k: int, width: int) -> rank_one.RankOne:
    """Coordinate vectors as features, readouts 1, random signs."""
    signs = np.random.default_rng(0).choice([-1.0, 1.0], (2, k)).astype(np.float32)
    features = jnp.asarray(rank_one.orthonormal_features(k, width), jnp.float32)
    scale = np.float32(np.sqrt(k))
    return rank_one.from_signs(features, jnp.ones(k, jnp.float32), *map(jnp.asarray, signs), scale)


def timed(function: Callable, *arguments: Any) -> tuple[float, float]:
    """Seconds of the second run to its last result, and of the compilation."""
    begin = time.perf_counter()
    program = jax.jit(function).lower(*arguments).compile()
    compilation = time.perf_counter() - begin
    jax.block_until_ready(program(*arguments))
    begin = time.perf_counter()
    jax.block_until_ready(program(*arguments))
    return time.perf_counter() - begin, compilation


def time_chain(k: int, d: int, runs: int, steps: int) -> Row:
    """Overlaps of many runs of the chain."""
    given = problem(k, k)._replace(features=None)

    def run(key: Array) -> Array:
        start = chain.begin(given, jnp.float32(START))
        rate = jnp.float32(RATE / d)
        states = chain.run(given, jax.nn.relu, start, d, rate, steps, key, every=steps)
        return states.overlap[-1]

    keys = jax.random.split(jax.random.key(0), runs)
    return Row("reduced chain", d, runs, steps, *timed(jax.vmap(run), keys))


def time_full(k: int, d: int, runs: int, steps: int) -> Row:
    """Overlaps of many runs in d dimensions."""
    given = problem(k, d)
    truth, other = (jnp.eye(d, dtype=jnp.float32)[k + i] for i in (0, 1))
    start = START * truth + np.float32(np.sqrt(1 - START**2)) * other

    def run(key: Array) -> Array:
        rate = jnp.float32(RATE / d)
        path, _ = rank_one.train(given, jax.nn.relu, truth, start, rate, steps, key, every=steps)
        return path[-1] @ truth

    keys = jax.random.split(jax.random.key(0), runs)
    return Row("full, vmapped", d, runs, steps, *timed(jax.vmap(run), keys))


def time_numpy(k: int, d: int, steps: int) -> Row:
    """One run with the gradient written out, coordinate features and u = e_k."""
    given = jax.tree.map(np.asarray, problem(k, d))
    root = np.sqrt(1 + given.scale**2 / k)
    generator = np.random.default_rng(1)
    direction = np.zeros(d, np.float32)
    direction[k], direction[k + 1] = START, np.sqrt(1 - START**2)
    begin = time.perf_counter()
    for _ in range(steps):
        x = generator.standard_normal(d, np.float32)
        goal = (x[:k] + given.scale * given.teacher * x[k]) / root
        own = (x[:k] + given.scale * given.student * (direction @ x)) / root
        gap = np.maximum(goal, 0).sum() - np.maximum(own, 0).sum()
        gradient = -2 * gap * np.sum(given.scale * given.student / root * (own > 0)) * x
        gradient[:k] = 0
        gradient -= direction * (direction @ gradient)
        direction = direction - RATE / d * gradient
        direction /= np.linalg.norm(direction)
    return Row("NumPy loop", d, 1, steps, time.perf_counter() - begin, 0.0)


def main() -> None:
    """Measure, print and, where asked, save."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--neurons", type=int, default=50)
    parser.add_argument("--dimensions", type=int, nargs="+", default=[100, 1000, 10_000])
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--whole", action="store_true", help="run the whole campaign")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    k, steps = options.neurons, options.steps
    rows = []
    for d in options.dimensions:
        few = max(1, min(options.runs, 200_000 // d))
        rows.append(time_chain(k, d, options.runs, steps))
        rows.append(time_full(k, d, few, steps))
        rows.append(time_numpy(k, d, steps))
    campaign = time_chain(k, 10**6, options.runs, 10**6 if options.whole else steps)
    rows.append(campaign)
    for row in rows:
        print(
            f"{row.name:14} d = {row.dimension:8d} {row.runs:5d} runs of {row.steps:7d} steps "
            f"{row.seconds:9.3f} s {row.microseconds():9.3f} us per step of a run, "
            f"compiled in {row.compile_seconds:.2f} s"
        )
    minutes = campaign.seconds / campaign.steps * 1e6 / 60
    print(f"10^6 steps of {campaign.runs} runs at d = 10^6, k = {k}: {minutes:.1f} minutes")
    if options.json:
        record = {"jax": jax.__version__, "device": str(jax.devices()[0]), "neurons": k}
        lines = [row._asdict() for row in rows]
        options.json.write_text(json.dumps({**record, "rows": lines}, indent=1) + "\n")


if __name__ == "__main__":
    main()
