"""How much work a JAX program is, counted without running it."""

from __future__ import annotations

import math
from typing import Any

from jax.extend.core import ClosedJaxpr, Jaxpr

from theorysim.jaxprs.structure import CALLS

# What an operation costs beside its entries, in entries.
OVERHEAD = 16


def work(program: ClosedJaxpr | Jaxpr) -> int:
    """Entries that the operations of a jaxpr make, and some for each operation.

    A loop of traced length counts as one round; the costliest branch counts.
    """
    jaxpr = getattr(program, "jaxpr", program)
    return sum(map(_of_operation, jaxpr.eqns))


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
    made = sum(math.prod(v.aval.shape) for v in equation.outvars)
    if name == "dot_general":
        (summed, _), _ = params["dimension_numbers"]
        made *= 2 * math.prod(equation.invars[0].aval.shape[axis] for axis in summed)
    given = sum(math.prod(v.aval.shape) for v in equation.invars)
    return OVERHEAD + max(made, given)
