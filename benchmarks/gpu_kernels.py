"""What `benchmarks.gpu` measures on a device, with the operations and bytes that it takes.

Operations are counted on the traced program by `theorysim.jaxprs.cost`, where an elementary
function is 20 and a random number 100; bytes are what goes in and what comes out, all else may stay
in caches. Verification and the falsifier compute in double precision, always; of them only the
drawing and measuring of instances is counted. The falsifier runs once, its compilation included.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array

import theorysim
from benchmarks import rank_one, sweep, tangent_kernels
from benchmarks.race import Contender, compiled, seconds
from theorysim.engine.measure.batch import traced_measurement
from theorysim.engine.measure.draw import traced_drawing
from theorysim.engine.measure.setup import Setup, parse_settings, select_readings
from theorysim.engine.verify.judge import measured_draws
from theorysim.errors import SizeError, is_out_of_memory
from theorysim.jaxprs.cost import RANDOM, operations
from theorysim.memory import tree_bytes
from theorysim.numerics.descent import descend_to
from theorysim.numerics.kernels import tangent_gram
from theorysim.systems import rank_one_chain as chain
from theorysim.systems.two_layer_linear import Factors, pretraining_loss

DTYPES = ("float32", "float64")
STATEMENT = "overtraining/lemma-a.28"
STEPS = 200


@dataclass(frozen=True)
class Kernel:
    """A contender, its sizes, and operations and bytes per unit of its work.

    `times` are seconds per unit of work where it has run already.
    """

    contender: Contender
    dtype: str
    size: Mapping[str, int]
    unit: str
    operations: float
    bytes: float
    times: tuple[float, ...] = ()


def kernels(quick: bool, on_cpu: bool) -> Iterator[Kernel]:
    """All of them, the longest last; on a CPU the falsifier has a smaller budget."""
    for dtype in DTYPES:
        yield swept(dtype, 10**4 if quick else 10**7)
        yield descent(dtype, *((4, 2, 10) if quick else (64, 1024, 200)))
        yield gram(dtype, *((64, 8) if quick else (8192, 512)))
        yield tangent_kernel(dtype, *((16, 8) if quick else (1024, 2048)))
        yield rank_one_chain(dtype, *((4, 16, 4) if quick else (50, 10**6, 10**5)))
    yield verification(100 if quick else 10_000)
    yield falsifier((500,) if quick else (10**5,) if on_cpu else (10**6, 10**5))


def verification(instances: int) -> Kernel:
    """`theorysim.verify` of a statement on gradient descent."""
    reading = theorysim.theorem(STATEMENT).primary().name

    def run() -> Any:
        return theorysim.verify(STATEMENT, instances=instances, reading=reading)

    contender = Contender("verify", run, instances)
    size = {"instances": instances}
    return Kernel(contender, "float64", size, "instance", *_of_statement(reading))


def falsifier(budgets: tuple[int, ...]) -> Kernel:
    """`theorysim.falsify` of the same statement, at the first budget that fits into memory."""
    reading = theorysim.theorem(STATEMENT).primary().name
    for budget in budgets:
        run = partial(_attack, reading, budget)
        try:
            taken = seconds(run)
        except (SizeError, MemoryError, RuntimeError) as error:
            if not (isinstance(error, SizeError) or is_out_of_memory(error)):
                raise
            continue
        contender = Contender("falsify", run, budget)
        work = _of_statement(reading)
        size = {"evaluations": budget}
        return Kernel(contender, "float64", size, "evaluation", *work, (taken / budget,))
    raise SizeError(f"{STATEMENT}: no budget of {budgets} fits into memory; choose a smaller one")


def _attack(reading: str, budget: int) -> Any:
    """At one size: the search would run longer descents, too, the more the larger its budget."""
    settings = {"steps": STEPS}
    return theorysim.falsify(STATEMENT, reading=reading, budget=budget, settings=settings)


def _of_statement(reading: str) -> tuple[float, float]:
    """Operations and bytes of drawing and measuring an instance."""
    theorem = theorysim.theorem(STATEMENT)
    setup = Setup(theorem, select_readings(theorem, reading, None), parse_settings(theorem, {}), 0)
    traced = [traced_drawing(setup), *map(traced_measurement, measured_draws(setup))]
    return sum(operations(t.jaxpr.jaxpr) for t in traced), sum(
        tree_bytes(t.out_info) for t in traced
    )


def swept(dtype: str, cells: int) -> Kernel:
    """The compiled part of a sweep of 2000 steps of descent per cell."""
    numbers = (jnp.ones((), dtype), jnp.ones((), dtype))
    contender = sweep.prepared(sweep.descent, cells, dtype).in_memory()
    counted = _count(sweep.descent, *numbers)
    return Kernel(contender, dtype, {"cells": cells}, "cell", counted, numbers[0].nbytes)


def descent(dtype: str, width: int, instances: int, steps: int) -> Kernel:
    """Gradient descent of two-layer linear networks, differentiated automatically."""
    targets = jax.random.normal(jax.random.key(0), (instances, width, width), dtype) / width**0.5
    start = Factors(*2 * (jnp.eye(width, dtype=dtype) / 10,))

    def run(target: Array) -> Factors:
        return descend_to(lambda w: pretraining_loss(w, target), start, optax.sgd(0.01), steps)

    contender = compiled("descent", jax.vmap(run), targets, work=instances)
    size = {"width": width, "instances": instances, "steps": steps}
    # A target in, both weights out.
    moved = 3 * targets[0].nbytes
    return Kernel(contender, dtype, size, "run", _count(run, targets[0]), moved)


def gram(dtype: str, inputs: int, dimension: int) -> Kernel:
    """The tangent kernel of an infinitely wide ReLU network."""
    x = jax.random.normal(jax.random.key(0), (inputs, dimension), dtype)
    contender = compiled("Gram of an infinite width", tangent_gram, x, x)
    moved = x.nbytes + inputs**2 * x.dtype.itemsize
    size = {"inputs": inputs, "d": dimension}
    return Kernel(contender, dtype, size, "Gram", _count(tangent_gram, x, x), moved)


def tangent_kernel(dtype: str, width: int, inputs: int) -> Kernel:
    """The empirical tangent kernel of a dense network; operations are those of one by hand."""
    params = tangent_kernels.parameters(width, dtype)
    x = tangent_kernels.points(inputs, dtype)

    def run() -> Array:
        return theorysim.empirical_ntk(tangent_kernels.network, params, x)

    contender = Contender("empirical tangent kernel", run)
    moved = tree_bytes((params, x)) + inputs**2 * x.dtype.itemsize
    size = {"width": width, "inputs": inputs}
    counted = _count(tangent_kernels.by_hand, params, x)
    return Kernel(contender, dtype, size, "kernel", counted, moved)


def rank_one_chain(dtype: str, k: int, d: int, runs: int) -> Kernel:
    """Steps of the reduced chain of rank-one fine-tuning; bytes are those of a state."""
    steps = chain.BLOCK
    contender = rank_one.reduced(k, d, runs, steps, dtype)
    given = rank_one.problem(k, k, dtype)._replace(features=None)
    state = chain.begin(given, jnp.asarray(rank_one.START, dtype))
    number = jnp.ones((), dtype)
    sample = chain.Sample(jnp.ones(k, dtype), number, number, number)

    def step(state: chain.State, sample: chain.Sample) -> Any:
        return chain.step(given, jax.nn.relu, (number, None), state, sample)

    # A rejection sampler has no known number of operations: a number drawn is a number drawn.
    counted = _count(step, state, sample) + RANDOM * (k + 3)
    size = {"k": k, "d": d, "runs": runs, "steps": steps}
    moved = 2 * number.nbytes / steps
    return Kernel(contender, dtype, size, rank_one.UNIT, counted, moved)


def _count(function: Callable[..., Any], *arguments: Any) -> float:
    return operations(jax.make_jaxpr(function)(*arguments).jaxpr)
