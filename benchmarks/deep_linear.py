"""Gradient flow of a deep linear network: the reduced ODE against all its matrices and SciPy.

Every contender follows the same flow from the same 0-balanced weights at the same tolerances:

- reduced: `deep_linear.end_to_end_flow`, n numbers, alone and vmapped over a batch of instances;
- matrices: `deep_linear_network.flow_path`, all L matrices, differentiated automatically;
- SciPy: the printed d-dimensional ODE in a loop of DOP853 over the instances.

Errors are the largest distance, over instances and times, to SciPy at much finer tolerances, over
the largest entry.

Why a batch gains little: each instance multiplies by a matrix of its own (50 x 50, 20 KB), so that
nothing is shared. A product takes 0.35 us alone, 0.25 each among 16 or 64, and 0.87 each among 256,
whose 5 MB are read anew at every stage and leave the caches; and a batch takes the steps of its
slowest instance, 92 among 64 of them where the mean is 66.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from benchmarks.race import Contender, Row, compiled, race, with_error
from theorysim.systems import deep_linear, deep_linear_network
from validation.oracles import deep_linear as scipy_flow

TOLERANCES: dict[str, Any] = {"rtol": 1e-8, "atol": 1e-10}
REFERENCE = {"method": "DOP853", "rtol": 1e-12, "atol": 1e-14}
TIMES = np.linspace(0.0, 5.0, 6)


class Problem(NamedTuple):
    """Instances lead: rows of data, the teacher at the start, the one that labels."""

    data: Array
    source: Array
    target: Array

    def first(self) -> Problem:
        """The first instance."""
        return Problem(*(part[0] for part in self))


def problems(batch: int, samples: int, dimension: int) -> Problem:
    """Gaussian rows, and teachers of norm about one."""
    keys = jax.random.split(jax.random.key(0), 3)
    shapes = ((batch, samples, dimension), (batch, dimension), (batch, dimension))
    data, source, target = (jax.random.normal(k, s) for k, s in zip(keys, shapes, strict=True))
    return Problem(data, source / dimension**0.5, target / dimension**0.5)


def reduced(depth: int, one: Problem, **options: Any) -> Array:
    """The path of n numbers, as the weights of the whole network."""
    options = TOLERANCES | options
    return deep_linear.end_to_end_flow(*one, depth, jnp.asarray(TIMES), **options)


def matrices(depth: int, one: Problem) -> Array:
    """The same path from all matrices, each as wide as the input."""
    hidden = (one.source.shape[0],) * (depth - 1)
    layers = deep_linear_network.balanced_layers(jax.random.key(1), one.source, hidden)
    labels, times = one.data @ one.target, jnp.asarray(TIMES)
    return deep_linear_network.flow_path(layers, one.data, labels, times, **TOLERANCES).weights


def looped(depth: int, several: Problem, **options: Any) -> np.ndarray:
    """The same paths from the printed ODE, one after another."""
    options = {"method": "DOP853", **TOLERANCES, **options}
    instances = zip(*(np.asarray(part) for part in several), strict=True)
    return np.stack(
        [
            scipy_flow.end_to_end_flow(data, source, target, depth, TIMES, options)
            for data, source, target in instances
        ]
    )


def scipy_loop(depth: int, several: Problem) -> Contender:
    """`looped`, per instance."""
    count = len(several.data)
    return Contender("SciPy loop", partial(looped, depth, several), count)


def rows(quick: bool) -> Iterator[Row]:
    """One instance against all matrices; a batch against instances one by one, and SciPy's."""
    depth, samples, dimension, batch = (3, 4, 6, 2) if quick else (8, 50, 100, 32)
    with jax.enable_x64(True):
        several = problems(batch, samples, dimension)
        exact = looped(depth, several, **REFERENCE)
        single = partial(reduced, depth)
        one = compiled("reduced ODE", single, several.first())
        all_matrices = compiled("ODE of all matrices", partial(matrices, depth), several.first())
        many = compiled("reduced ODE, vmapped", jax.vmap(single), several, work=batch)
        size = {"depth": depth, "n": samples, "d": dimension, "instances": batch}
        common: dict[str, Any] = {"unit": "instance", "dtype": "float64"}
        one = with_error(one, exact[0])
        yield from race(
            one, with_error(all_matrices, exact[0]), size=size | {"instances": 1}, **common
        )
        loop = with_error(scipy_loop(depth, several), exact)
        yield from race(with_error(many, exact), one, loop, size=size, **common)
