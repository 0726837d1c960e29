"""Kernels beside what the machine needs for a part of their work that no other form saves.

The peer of a row is no rival: it is the normal numbers that a chain reads, the exponentials of a
closed form, the matrix products of a flow, or a copy of the results, alone, in the same process.
The ratio is a share: at .8 a kernel takes 1.25 times as long as that part of it.

The products of the reduced flow are those of its slowest instance, as often as Dormand-Prince's
method of order 8 evaluates the field in the steps that this instance takes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from benchmarks import deep_linear, rank_one, two_layer_linear
from benchmarks.race import Contender, Row, compiled, race
from theorysim.compiled import jit
from theorysim.numerics.products import dot
from theorysim.numerics.random import chi_square, normal
from theorysim.systems.rank_one import outside
from theorysim.systems.rank_one_chain import BLOCK

EVALUATIONS = 13
"""of the field in a step of Dormand-Prince's method of order 8, whose last one begins the next"""


def drawn(
    name: str, draw: Callable[[Array], Array], blocks: int, keys: Array, work: float, jit: Callable
) -> Contender:
    """The sums of what is drawn for each of several runs, block after block."""

    def run(key: Array) -> Array:
        def block(total: Array, j: Array) -> tuple[Array, None]:
            return total + jnp.sum(draw(jax.random.fold_in(key, j))), None

        like = jax.eval_shape(draw, key)
        return jax.lax.scan(block, jnp.zeros((), like.dtype), jnp.arange(blocks))[0]

    return compiled(f"its {name} numbers", jax.vmap(run), keys, work=work, jit=jit)


def chain(k: int, d: int, runs: int, steps: int) -> Iterator[Row]:
    """The reduced chain: k + 2 normal numbers a step, and one of chi^2."""
    blocks, keys, work = steps // BLOCK, jax.random.split(jax.random.key(0), runs), runs * steps
    for dtype in ("float32", "float64"):
        gaussian = partial(normal, shape=((k + 2) * BLOCK,), dtype=dtype)
        square = partial(chi_square, degrees=d - k - 2, shape=(BLOCK,), dtype=dtype)
        yield from race(
            rank_one.reduced(k, d, runs, steps, dtype),
            drawn("normal", gaussian, blocks, keys, work, jax.jit),
            drawn("chi^2", square, blocks, keys, work, jax.jit),
            size={"k": k, "d": d, "runs": runs, "steps": steps},
            unit=rank_one.UNIT,
            dtype=dtype,
        )


def multiplied(k: int, d: int, runs: int, steps: int) -> Contender:
    """The products with k features of each step: with the sample, and four that take them off.

    A NumPy loop that knows them to be coordinates has none of these.
    """
    features = jnp.asarray(np.linalg.qr(np.random.default_rng(0).normal(size=(d, k)))[0], "float32")

    def run(vector: Array, features: Array) -> Array:
        def step(vector: Array, _: None) -> tuple[Array, None]:
            inside = dot(features.T, vector[::-1])  # of another vector: XLA would take the product
            off = outside(features.T, vector, basis=features)  # that this one begins with
            return off + 1e-9 * jnp.sum(inside), None

        return jax.lax.scan(step, vector, None, length=steps)[0]

    vectors = jnp.ones((runs, d), "float32")
    many = jax.vmap(run, in_axes=(0, None))
    name = "its products with features"
    return compiled(name, many, vectors, features, work=runs * steps, jit=jit)


def descent(k: int, dimensions: tuple[int, ...], runs: int, steps: int) -> Iterator[Row]:
    """SGD in d dimensions as verifications compile it; every step takes d normal numbers."""
    keys = jax.random.split(jax.random.key(0), runs)
    for d in dimensions:
        gaussian = partial(normal, shape=(d,), dtype="float32")
        yield from race(
            rank_one.full(k, d, runs, steps, cut=False),
            drawn("normal", gaussian, steps, keys, runs * steps, jit),
            multiplied(k, d, runs, steps),
            size={"k": k, "d": d, "runs": runs, "steps": steps},
            unit=rank_one.UNIT,
            dtype="float32",
        )


def modes(count: int) -> Iterator[Row]:
    """The closed form of modes: one of its two exponentials, and its results."""
    low, high = two_layer_linear.FEATURES
    features = jnp.asarray(np.random.default_rng(0).uniform(low, high, (1, count)))
    results = jnp.zeros((1, two_layer_linear.MODE_TIMES.size, count))
    yield from race(
        compiled("closed form of modes", two_layer_linear.closed, features, work=count),
        compiled("its exponentials", jnp.exp, results, work=count),
        compiled("a copy of its results", jnp.negative, results, work=count),
        size={"modes": count, "times": two_layer_linear.MODE_TIMES.size},
        unit="mode",
        dtype="float64",
    )


def matrices(width: int) -> Iterator[Row]:
    """The exact flow: at each time one R of a QR, of three blocks, and five products."""
    times = two_layer_linear.MATRIX_TIMES.size
    blocks = jax.random.normal(jax.random.key(0), (times, 3 * width, width))
    squares = blocks[:, :width]
    yield from race(
        two_layer_linear.exact_flow(width),
        compiled("its decompositions", partial(jnp.linalg.qr, mode="r"), blocks),
        compiled("its matrix products", partial(_powers, 5), squares),
        size={"width": width, "times": times},
        unit="path",
        dtype="float64",
    )


def _powers(count: int, matrices: Array) -> Array:
    """So many products of each matrix with what the last one gave."""
    found = matrices
    for _ in range(count):
        found = dot(matrices, found)
    return found


def flow(depth: int, samples: int, dimension: int, batch: int) -> Iterator[Row]:
    """The reduced flow, vmapped: each evaluation of the field is a product with a matrix."""
    several = deep_linear.problems(batch, samples, dimension)
    many = jax.vmap(partial(deep_linear.reduced, depth))
    products = EVALUATIONS * _steps(depth, several)

    def repeated(matrices: Array) -> Array:
        scaled = matrices / jnp.linalg.norm(matrices, axis=(1, 2), keepdims=True)
        once = lambda _, vectors: jax.vmap(dot)(scaled, vectors)  # noqa: E731
        return jax.lax.fori_loop(0, products, once, jnp.ones((batch, samples)))

    size = {"depth": depth, "n": samples, "d": dimension, "instances": batch}
    yield from race(
        compiled("reduced ODE, vmapped", many, several, work=batch),
        compiled("its matrix products", repeated, several.data[..., :samples], work=batch),
        size=size | {"products": products},
        unit="instance",
        dtype="float64",
    )


def _steps(depth: int, several: deep_linear.Problem) -> int:
    """The fewest steps in which every instance comes to its end: that of the slowest."""

    def suffice(steps: int) -> bool:
        path = jax.vmap(partial(deep_linear.reduced, depth, max_steps=steps))(several)
        return bool(jnp.all(jnp.isfinite(path)))

    few, enough = 0, 1
    while not suffice(enough):
        few, enough = enough, 2 * enough
    while enough - few > 1:
        middle = (few + enough) // 2
        few, enough = (few, middle) if suffice(middle) else (middle, enough)
    return enough


def rows(quick: bool) -> Iterator[Row]:
    """All kernels; those that are told in double precision are in it."""
    yield from descent(4, (16,), 2, 20) if quick else descent(16, (1024, 4096), 16, 200)
    with jax.enable_x64(True):
        yield from chain(5, 20, 4, BLOCK) if quick else chain(50, 1000, 1000, 200)
        yield from modes(100 if quick else 1_000_000)
        yield from matrices(3 if quick else 64)
        yield from flow(3, 4, 6, 2) if quick else flow(8, 50, 100, 32)
