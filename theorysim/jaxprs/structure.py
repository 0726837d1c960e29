"""What a JAX program consists of, whoever reads or runs it."""

from __future__ import annotations

from collections.abc import Container

import jax
from jax.extend.core import ClosedJaxpr, Jaxpr

# The parameter that holds the program of an operation that only calls it.
CALLS = {
    "jit": "jaxpr",
    "pjit": "jaxpr",
    "closed_call": "call_jaxpr",
    "core_call": "call_jaxpr",
    "custom_jvp_call": "call_jaxpr",
    "custom_vjp_call": "call_jaxpr",
    "remat2": "jaxpr",
}


def contains(jaxpr: Jaxpr, primitives: Container[str]) -> bool:
    """Whether a program has a primitive of these names at any depth.

    A "while" is a loop whose length depends on its values, a "scan" one of fixed length.
    """
    for equation in jaxpr.eqns:
        inner = jax.tree.leaves(
            list(equation.params.values()), is_leaf=lambda p: isinstance(p, Jaxpr | ClosedJaxpr)
        )
        bodies = [p.jaxpr if isinstance(p, ClosedJaxpr) else p for p in inner]
        if equation.primitive.name in primitives or any(
            contains(body, primitives) for body in bodies if isinstance(body, Jaxpr)
        ):
            return True
    return False
