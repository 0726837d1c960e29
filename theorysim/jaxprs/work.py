"""How much work enclosures have with a JAX program, counted without running it.

Every entry of a result costs them about the same, whatever the operation; `cost` weighs operations
as floating point does.
"""

from __future__ import annotations

from typing import Any

from jax.extend.core import ClosedJaxpr, Jaxpr

from theorysim.jaxprs.structure import CALLS, size, summed_length

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
    made = sum(map(size, equation.outvars))
    if name == "dot_general":
        made *= 2 * summed_length(equation)
    if name.startswith("scatter"):  # every update marks its place in the array
        array, _, updates = map(size, equation.invars)
        made = updates * (updates + array)
    given = sum(map(size, equation.invars))
    return OVERHEAD + max(made, given)
