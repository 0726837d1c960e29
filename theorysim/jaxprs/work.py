"""How much work enclosures have with a JAX program, counted without running it.

Every entry of a result costs them about the same, whatever the operation; `cost` weighs operations
as floating point does.
"""

from __future__ import annotations

import math
from typing import Any
from weakref import WeakKeyDictionary

from jax.extend.core import ClosedJaxpr, Jaxpr

from theorysim.jaxprs.structure import CALLS, opened, shape, size, summed_length

# What an operation costs beside its entries, in entries.
OVERHEAD = 16

# How work grows with the size of a matrix: factors follow their recursions, a spectrum of
# eigenvectors solves a system for each.
MATRICES = {"cholesky": 3, "lu": 3, "qr": 3, "triangular_solve": 3, "svd": 3, "eigh": 4}

# Every round of a loop asks for it again; each program is counted once while it lives.
_COUNTED: WeakKeyDictionary[Jaxpr, int] = WeakKeyDictionary()


def work(program: ClosedJaxpr | Jaxpr) -> int:
    """Entries that the operations of a jaxpr make, and some for each operation.

    A loop of traced length counts as one round; the costliest branch counts.
    """
    jaxpr, _ = opened(program)
    if jaxpr not in _COUNTED:
        _COUNTED[jaxpr] = sum(map(_of_operation, jaxpr.eqns))
    return _COUNTED[jaxpr]


def _of_operation(equation: Any) -> int:
    name, params = equation.primitive.name, equation.params
    if name in CALLS:
        return work(params[CALLS[name]])
    if name == "scan":
        return params["length"] * work(params["jaxpr"])
    if name == "while":
        return work(params["cond_jaxpr"]) + work(params["body_jaxpr"])
    if name == "cond":
        return max(map(work, params["branches"]))
    made = sum(map(size, equation.outvars))
    if name == "dot_general":
        made *= 2 * summed_length(equation)
    if name.startswith("scatter"):  # every update marks its place in the array
        array, _, updates = map(size, equation.invars)
        made = updates * (updates + array)
    if name in MATRICES:
        made = max(_of_matrices(shape(v), MATRICES[name]) for v in equation.invars)
    given = sum(map(size, equation.invars))
    return OVERHEAD + max(made, given)


def _of_matrices(stack: tuple[int, ...], power: int) -> int:
    return math.prod(stack[:-2]) * max(stack[-2:]) ** power
