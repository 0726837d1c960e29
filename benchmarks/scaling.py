"""Laws: how cost grows with d, k, n, width, depth, instances and keys, each beside a peer.

Every ladder varies one size; the page fits an exponent to it. Seconds are of a step where chains
and SGD are told, else of all that the size counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from benchmarks import deep_linear, rank_one, two_layer_linear
from benchmarks.race import Contender, Row, compiled, race


def neurons(quick: bool) -> Iterator[Row]:
    """A step of the chain and of SGD in d dimensions, against k."""
    d, runs, steps = (64, 4, 20) if quick else (1024, 64, 200)
    for k in (2, 4, 8) if quick else (8, 16, 32, 64, 128, 256):
        yield from race(
            rank_one.reduced(k, d, runs, steps),
            rank_one.full(k, d, 4, steps),
            size={"k": k, "d": d, "runs": runs},
            unit=rank_one.UNIT,
            dtype="float32",
            over="k",
        )


def dimension(quick: bool) -> Iterator[Row]:
    """A step of SGD in d dimensions, vmapped and in a NumPy loop, against d."""
    k, runs, steps = (4, 2, 20) if quick else (16, 16, 200)
    for d in (16, 32, 64) if quick else (128, 256, 512, 1024, 2048, 4096):
        yield from race(
            rank_one.full(k, d, runs, steps, cut=False),
            rank_one.loop(k, d, steps),
            rank_one.full(k, d, runs, steps),
            size={"k": k, "d": d, "runs": runs},
            unit=rank_one.UNIT,
            dtype="float32",
            over="d",
        )


def keys(quick: bool) -> Iterator[Row]:
    """A step of all runs of the chain, against how many runs there are; NumPy does one by one."""
    k, d, steps = (4, 16, 20) if quick else (16, 256, 1000)
    one = rank_one.loop(k, d, steps)
    for runs in (1, 2, 4) if quick else (1, 4, 16, 64, 256, 1024):
        # What the loop takes for one run it takes for each.
        yield from race(
            replace(rank_one.reduced(k, d, runs, steps), work=steps),
            replace(one, work=one.work / runs),
            size={"k": k, "d": d, "keys": runs},
            unit="step of all runs",
            dtype="float32",
            over="keys",
        )


def logistic(features: np.ndarray) -> np.ndarray:
    """The closed form of modes as one writes it in NumPy, (1, times, modes)."""
    times, tau = two_layer_linear.MODE_TIMES[None, :, None], two_layer_linear.TAU
    decay = np.exp(-4 * features[:, None, :] * times)
    return features[:, None, :] / (1 + decay * (features[:, None, :] * np.exp(2 * tau) - 1))


def modes(quick: bool) -> Iterator[Row]:
    """All modes at all times in closed form, against their number."""
    low, high = two_layer_linear.FEATURES
    for count in (100, 300, 1000) if quick else (1000, 10_000, 100_000, 1_000_000, 4_000_000):
        features = jnp.asarray(np.random.default_rng(0).uniform(low, high, (1, count)))
        yield from race(
            compiled("closed form of modes", two_layer_linear.closed, features),
            Contender("vectorised logistic in NumPy", partial(logistic, np.asarray(features))),
            size={"modes": count},
            unit="all modes",
            dtype="float64",
            over="modes",
        )


def width(quick: bool) -> Iterator[Row]:
    """The exact flow of full matrices, against their width."""
    for size in (2, 4, 8) if quick else (8, 16, 32, 64, 128):
        yield from race(
            two_layer_linear.exact_flow(size),
            two_layer_linear.diffrax_flow(size),
            size={"width": size, "times": two_layer_linear.MATRIX_TIMES.size},
            unit="path",
            dtype="float64",
            over="width",
        )


def instances(quick: bool) -> Iterator[Row]:
    """The reduced ODE of many instances at once and one by one, against their number."""
    depth, samples, features = (3, 4, 6) if quick else (8, 50, 100)
    run = partial(deep_linear.reduced, depth)
    for count in (1, 2, 4) if quick else (1, 4, 16, 64, 256):
        several = deep_linear.problems(count, samples, features)
        each = [deep_linear.Problem(*(part[i] for part in several)) for i in range(count)]
        yield from race(
            compiled("reduced ODE, vmapped", jax.vmap(run), several),
            Contender("reduced ODE, one by one", partial(_one_by_one, jax.jit(run), each)),
            size={"depth": depth, "n": samples, "d": features, "instances": count},
            unit="all instances",
            dtype="float64",
            over="instances",
        )


def _one_by_one(program: Any, each: list[deep_linear.Problem]) -> list[Array]:
    return [program(one) for one in each]


def samples(quick: bool) -> Iterator[Row]:
    """The reduced ODE and SciPy's, of d numbers, against the number of samples."""
    depth, features = (3, 16) if quick else (8, 200)
    for count in (2, 4, 8) if quick else (10, 20, 40, 80, 160):
        one = deep_linear.problems(1, count, features)
        yield from race(
            compiled("reduced ODE", partial(deep_linear.reduced, depth), one.first()),
            deep_linear.scipy_loop(depth, one),
            size={"depth": depth, "n": count, "d": features},
            unit="instance",
            dtype="float64",
            over="n",
        )


def depth(quick: bool) -> Iterator[Row]:
    """The reduced ODE and that of all matrices, against the depth."""
    samples, features = (4, 6) if quick else (20, 40)
    for layers in (2, 3, 4) if quick else (2, 4, 8, 16, 32):
        one = deep_linear.problems(1, samples, features).first()
        yield from race(
            compiled("reduced ODE", partial(deep_linear.reduced, layers), one),
            compiled("ODE of all matrices", partial(deep_linear.matrices, layers), one),
            size={"depth": layers, "n": samples, "d": features},
            unit="instance",
            dtype="float64",
            over="depth",
        )


def rows(quick: bool) -> Iterator[Row]:
    """All ladders, rung by rung."""
    for ladder in (neurons, dimension, keys):
        yield from ladder(quick)
    with jax.enable_x64(True):
        for ladder in (modes, width, instances, samples, depth):
            yield from ladder(quick)
