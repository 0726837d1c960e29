"""Operands that are moved before an operation: what it computes is exact for others at best.

An exact but ill-conditioned matrix has the eigenvalues of its neighbours; and what rounding brings
beyond the domain of a function stands at its end.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import jax.numpy as jnp
from jaxtyping import Array

from theorysim.jaxprs.directions import Moves, bits_of, hashed, is_inexact, nudged
from theorysim.jaxprs.ties import NEAR

# Backward stable: they are exact for operands, and then rounded, that differ by a part of their
# largest entry (of the last two axes), which in practice grows with the root of the dimension.
_WHOLE = """
    cholesky custom_linear_solve eig eigh fft geqrf householder_product lu qr schur svd
    triangular_solve tridiagonal_solve
"""

WHOLE = frozenset(_WHOLE.split())

# Where numbers of about one may leave a domain by rounding: the root of 1 - u^2 is none at u = 1.
DOMAINS: Mapping[str, tuple[float | None, float | None]] = {
    "sqrt": (0.0, None),
    "acosh": (1.0, None),
    "acos": (-1.0, 1.0),
    "asin": (-1.0, 1.0),
}

# Special functions are at best exact for operands that differ by some units of the last place: so
# many, measured against mpmath (tests/jaxprs/test_special_functions.py).
SPECIAL: Mapping[str, int] = {
    **dict.fromkeys(("lgamma", "digamma", "zeta", "erfc"), 16),
    "exp2": 1,
    **dict.fromkeys(("igamma", "igammac", "igamma_grad_a", "random_gamma_grad"), 256),
}


def with_moved_operands(equation: Any, moves: Moves, given: list[Any], unit: int) -> list[Any]:
    """The operands of what is exact at best for others: of decompositions and special functions.

    Every entry is moved by itself; in a stack of matrices equal ones are moved alike. What is not
    of these is what it was.
    """
    special = SPECIAL.get(equation.primitive.name, 0)

    def moved(values: Any) -> Any:
        values = jnp.asarray(values)
        if not is_inexact(values) or not values.size:
            return values
        sizes, salt = jnp.abs(values), bits_of(values)
        if special:
            return nudged(values, special * unit * sizes, salt, moves, False)
        shape = values.shape[-2:]
        places = jnp.arange(math.prod(shape), dtype=salt.dtype).reshape(shape)
        return nudged(values, unit * of_largest(sizes), salt + hashed(places), moves, False)

    return list(map(moved, given))


def within_domain(name: str, given: list[Any]) -> list[Any]:
    """The operand, at an end of its domain where rounding may have brought it beyond."""
    if name not in DOMAINS or not jnp.issubdtype(jnp.asarray(given[0]).dtype, jnp.floating):
        return given
    values, ends = jnp.asarray(given[0]), jnp.clip(given[0], *DOMAINS[name])
    beyond = jnp.abs(values - ends) <= NEAR * jnp.finfo(values.dtype).eps
    return [jnp.where(beyond, ends, values), *given[1:]]


def of_largest(sizes: Array) -> Array:
    """The largest entry of a matrix, times the root of its dimension."""
    axes = tuple(range(-min(2, sizes.ndim), 0))
    return max(sizes.shape[-2:], default=1) ** 0.5 * jnp.max(sizes, axis=axes, keepdims=True)
