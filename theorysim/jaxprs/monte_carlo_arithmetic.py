"""Running a JAX program in Monte Carlo arithmetic: every operation that rounds errs anew.

Inputs that are moved by ulps do not show all rounding. A sum that absorbs a small addend errs alike
wherever it lies on its floating-point grid, and so do differences of two such sums. Here the result
of every rounding operation is moved up or down by one unit of its last place (Monte-Carlo
arithmetic, Parker 1997), in loops and branches, too. The direction is a hash of the result and of
the inputs: equal results move alike, so that what is equal stays equal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr, Literal
from jaxtyping import Array

from theorysim.jaxprs.structure import CALLS

# Primitives whose results are rounded; all others (moves, comparisons, choices) are exact.
_ROUNDED = """
    acos acosh add add_any asin asinh atan atan2 atanh bessel_i0e bessel_i1e cbrt cholesky
    conv_general_dilated cos cosh cumlogsumexp cumprod cumsum custom_linear_solve digamma div
    dot_general eig eigh erf erf_inv erfc exp exp2 expm1 fft geqrf householder_product igamma
    igammac integer_pow lgamma log log1p logistic lu mul pow reduce_prod reduce_sum
    regularized_incomplete_beta rsqrt scatter-add schur sin sinh sqrt square sub svd tan tanh
    triangular_solve tridiagonal_solve
"""
ROUNDED = frozenset(_ROUNDED.split())

# Integers are exact, and what counts in floats must not be moved.
LARGEST_COUNT = 2.0**31

# The golden ratio's bits and another odd number, as in common integer hashes.
SPREAD: dict[int, tuple[Any, Any]] = {
    32: (np.uint32(0x9E3779B1), np.uint32(0x85EBCA6B)),
    64: (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)),
}


def perturb_rounding(function: Callable) -> Callable:
    """The function of arrays in Monte Carlo arithmetic; its errors differ with the inputs."""

    def run(*inputs: Any) -> Any:
        program, shapes = jax.make_jaxpr(function, return_shape=True)(*inputs)
        leaves = jax.tree.leaves(inputs)
        results = _call(program, _seed(leaves), leaves)
        return jax.tree.unflatten(jax.tree.structure(shapes), results)

    return run


def _seed(leaves: Sequence[Any]) -> Array:
    """A hash of the bits of all floats and of their places."""
    seed = jnp.zeros((), jnp.uint32)
    for leaf in map(jnp.asarray, leaves):
        if _is_float(leaf):
            places = jnp.arange(leaf.size).reshape(leaf.shape).astype(_uint(leaf))
            mixed = _mixed(_bits(leaf) ^ _mixed(places)).astype(jnp.uint32)
            seed = 31 * seed + jnp.sum(mixed, dtype=jnp.uint32)
    return seed


def _is_float(value: Any) -> bool:
    is_float = jnp.issubdtype(value.dtype, jnp.floating)
    return is_float and 8 * value.dtype.itemsize in SPREAD


def _uint(values: Array) -> Any:
    return jnp.dtype(f"uint{8 * values.dtype.itemsize}")


def _bits(values: Array) -> Array:
    return jax.lax.bitcast_convert_type(values, _uint(values))


def _mixed(bits: Array) -> Array:
    """A hash of unsigned integers whose every bit depends on all bits."""
    width = 8 * bits.dtype.itemsize
    first, second = (jnp.asarray(odd, bits.dtype) for odd in SPREAD[width])
    bits = bits * first
    bits = (bits ^ (bits >> (width // 2))) * second
    return bits ^ (bits >> (width // 2))


def _moved(values: Array, seed: Array) -> Array:
    """Values that are no counts, moved by one unit of their last place up or down."""
    count = (values == jnp.round(values)) & (jnp.abs(values) < LARGEST_COUNT)
    up = _mixed(_bits(values) ^ _mixed(seed.astype(_uint(values)))) & 1
    eps = jnp.finfo(values.dtype).eps
    return jnp.where(count, values, values * jnp.where(up, 1 + eps, 1 - eps))


def _call(program: ClosedJaxpr | Jaxpr, seed: Array, inputs: Sequence[Any]) -> list[Any]:
    """Outputs of a jaxpr."""
    is_closed = isinstance(program, ClosedJaxpr)
    jaxpr, constants = (program.jaxpr, program.consts) if is_closed else (program, ())
    known = dict(zip(jaxpr.constvars, constants, strict=True))
    known.update(zip(jaxpr.invars, inputs, strict=True))
    for equation in jaxpr.eqns:
        given = [a.val if isinstance(a, Literal) else known[a] for a in equation.invars]
        known.update(zip(equation.outvars, _outputs(equation, seed, given), strict=True))
    return [a.val if isinstance(a, Literal) else known[a] for a in jaxpr.outvars]


def _outputs(equation: Any, seed: Array, given: list[Any]) -> Sequence[Any]:
    name, params = equation.primitive.name, equation.params
    if name in CALLS:
        return _call(params[CALLS[name]], seed, given)
    if name in LOOPS:
        return LOOPS[name](params, seed, given)
    found = equation.primitive.bind(*given, **params)
    results = found if equation.primitive.multiple_results else [found]
    return [
        _moved(value, seed) if name in ROUNDED and _is_float(value) else value for value in results
    ]


def _while(params: Any, seed: Array, given: list[Any]) -> Sequence[Any]:
    tested, moved = params["cond_nconsts"], params["body_nconsts"]
    test, body, start = given[:tested], given[tested : tested + moved], given[tested + moved :]
    return jax.lax.while_loop(
        lambda state: _call(params["cond_jaxpr"], seed, [*test, *state])[0],
        lambda state: _call(params["body_jaxpr"], seed, [*body, *state]),
        start,
    )


def _scan(params: Any, seed: Array, given: list[Any]) -> Sequence[Any]:
    fixed, carried = params["num_consts"], params["num_carry"]
    constants, start, rows = given[:fixed], given[fixed : fixed + carried], given[fixed + carried :]

    def body(carry: list[Any], row: list[Any]) -> tuple[list[Any], list[Any]]:
        results = _call(params["jaxpr"], seed, [*constants, *carry, *row])
        return results[:carried], results[carried:]

    kept = {name: params[name] for name in ("length", "reverse", "unroll")}
    end, stacked = jax.lax.scan(body, start, rows, **kept)
    return [*end, *stacked]


def _cond(params: Any, seed: Array, given: list[Any]) -> Sequence[Any]:
    index, *inputs = given
    branches = [partial(_call, branch, seed) for branch in params["branches"]]
    return jax.lax.switch(index, branches, inputs)


LOOPS = {"while": _while, "scan": _scan, "cond": _cond}
