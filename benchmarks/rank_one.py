"""Rank-one fine-tuning: the reduced chain against online SGD in d dimensions and a NumPy loop.

All do the same steps of the same problem (ReLU, orthonormal features, one fresh sample per step):

- reduced chain: many runs in one compiled call, at a cost that does not depend on d;
- full: online SGD in d dimensions, differentiated automatically, many runs in one compiled call;
- NumPy: a loop over the steps of one run with the gradient written out.

Seconds are per step of one run: a campaign of 10^3 runs of 10^6 steps takes 10^9 times as long.

Compiled as verifications are ("kernels uncut"), the full one takes on one processor, in
microseconds per step of a run, beside the NumPy loop (whose features are coordinates, which it
makes use of): k = 16, d = 128: 1.6 (15); d = 1024: 10 (23); d = 4096: 61 (48); k = 50, d = 1000:
16 (23). It took 25 at d = 1024 when every kernel that read the sample drew it anew, and when both
k x d matrices of neurons were formed and differentiated, instead of the products of features and
sample. At d = 4096 it moves through more memory than a cache holds. JAX's own setting drops the
barrier that keeps drawn numbers drawn once, and cuts kernels into tasks: 47 at d = 1024.
"""

from __future__ import annotations

from collections.abc import Iterator

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from benchmarks.race import Contender, Row, compiled, race
from theorysim.compiled import jit
from theorysim.systems import rank_one
from theorysim.systems import rank_one_chain as chain

RATE = 0.05  # times 1 / d
START = 0.1
UNIT = "step of a run"


def problem(k: int, width: int, dtype: str = "float32") -> rank_one.RankOne:
    """Coordinate vectors as features, readouts 1, random signs."""
    signs = np.random.default_rng(0).choice([-1.0, 1.0], (2, k)).astype(dtype)
    teacher, student = map(jnp.asarray, signs)
    features = jnp.asarray(rank_one.orthonormal_features(k, width), dtype)
    scale = np.asarray(np.sqrt(k), dtype)
    return rank_one.from_signs(features, jnp.ones(k, dtype), teacher, student, scale)


def reduced(k: int, d: int, runs: int, steps: int, dtype: str = "float32") -> Contender:
    """Overlaps of many runs of the chain."""
    given = problem(k, k, dtype)._replace(features=None)
    rate = np.asarray(RATE / d, dtype)

    def run(key: Array) -> Array:
        start = chain.begin(given, jnp.asarray(START, dtype))
        states = chain.run(given, jax.nn.relu, start, d, rate, steps, key, every=steps)
        return states.overlap[-1]

    keys = jax.random.split(jax.random.key(0), runs)
    return compiled("reduced chain", jax.vmap(run), keys, work=runs * steps)


def full(k: int, d: int, runs: int, steps: int, cut: bool = True) -> Contender:
    """Overlaps of many runs in d dimensions; compiled as verifications are unless `cut`.

    JAX cuts the kernels of a step into tasks for several threads.
    """
    given = problem(k, d)
    truth, other = (jnp.eye(d, dtype=jnp.float32)[k + i] for i in (0, 1))
    start = START * truth + np.float32(np.sqrt(1 - START**2)) * other

    # The problem is an argument: XLA takes minutes to compute with its features as constants.
    def run(key: Array, given: rank_one.RankOne) -> Array:
        rate = jnp.float32(RATE / d)
        path, _ = rank_one.train(given, jax.nn.relu, truth, start, rate, steps, key, every=steps)
        return path[-1] @ truth

    keys = jax.random.split(jax.random.key(0), runs)
    many = jax.vmap(run, in_axes=(0, None))
    name, how = ("vmapped", jax.jit) if cut else ("vmapped, kernels uncut", jit)
    return compiled(f"SGD in d dimensions, {name}", many, keys, given, work=runs * steps, jit=how)


def loop(k: int, d: int, steps: int) -> Contender:
    """The overlap of one run with the gradient written out, coordinate features and u = e_k."""
    given = jax.tree.map(np.asarray, problem(k, d))
    root = np.sqrt(1 + given.scale**2 / k)

    def run() -> float:
        generator = np.random.default_rng(1)
        direction = np.zeros(d, np.float32)
        direction[k], direction[k + 1] = START, np.sqrt(1 - START**2)
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
        return float(direction[k])

    return Contender("NumPy loop", run, steps)


def rows(quick: bool) -> Iterator[Row]:
    """The chain against both peers, at several dimensions."""
    k, runs, steps, dimensions = (
        (5, 4, 20, (20, 50)) if quick else (50, 1000, 200, (100, 1000, 10_000))
    )
    for d in dimensions:
        few = max(1, min(runs, 200_000 // d))
        yield from race(
            reduced(k, d, runs, steps),
            full(k, d, few, steps),
            loop(k, d, steps),
            size={"k": k, "d": d, "runs": runs, "steps": steps},
            unit=UNIT,
            dtype="float32",
        )
