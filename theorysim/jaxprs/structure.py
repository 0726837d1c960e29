"""What a JAX program consists of, whoever reads or runs it."""

from __future__ import annotations

import math
from collections.abc import Container, Iterator, Sequence
from typing import Any

import jax
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn

# The parameter that holds the program of an operation that only calls it.
CALLS = {
    "jit": "jaxpr",
    "pjit": "jaxpr",
    "closed_call": "call_jaxpr",
    "core_call": "call_jaxpr",
    "custom_jvp_call": "call_jaxpr",
    "custom_vjp_call": "call_jaxpr",
    "custom_vmap_call": "call",
    "remat2": "jaxpr",
}
# Calls that say themselves how they are called with many (`sharing_keys`).
OPAQUE = {"custom_vmap_call"}


def bodies(equation: JaxprEqn) -> list[Jaxpr]:
    """The programs inside an operation: of a call, of the branches of a choice, of a loop."""
    inner = jax.tree.leaves(
        list(equation.params.values()), is_leaf=lambda p: isinstance(p, Jaxpr | ClosedJaxpr)
    )
    inner = [p.jaxpr if isinstance(p, ClosedJaxpr) else p for p in inner]
    return [body for body in inner if isinstance(body, Jaxpr)]


def opened(body: Jaxpr | ClosedJaxpr) -> tuple[Jaxpr, Sequence[Any]]:
    """The program of a call, and its constants."""
    return (body.jaxpr, body.consts) if isinstance(body, ClosedJaxpr) else (body, ())


def applied(equation: JaxprEqn, inputs: Sequence[Any]) -> Sequence[Any]:
    """What an operation makes of these inputs."""
    found = equation.primitive.bind(*inputs, **equation.primitive.get_bind_params(equation.params))
    return found if equation.primitive.multiple_results else [found]


def contains(jaxpr: Jaxpr, primitives: Container[str]) -> bool:
    """Whether a program has a primitive of these names at any depth.

    A "while" is a loop whose length depends on its values, a "scan" one of fixed length.
    """
    return any(equation.primitive.name in primitives for equation in every_operation(jaxpr))


def every_operation(jaxpr: Jaxpr) -> Iterator[JaxprEqn]:
    """The operations of a program at any depth, those of a loop's body once."""
    for equation in jaxpr.eqns:
        yield equation
        for body in bodies(equation):
            yield from every_operation(body)


def shape(variable: Any) -> tuple[int, ...]:
    """The shape of a variable or a literal; () of what has none."""
    return getattr(variable.aval, "shape", ())


def size(variable: Any) -> int:
    """How many entries a variable or a literal has."""
    return math.prod(shape(variable))


def summed_length(product: Any) -> int:
    """Over how many terms each entry of a `dot_general` sums."""
    (summed, _), _ = product.params["dimension_numbers"]
    return math.prod(shape(product.invars[0])[axis] for axis in summed)


def counters(loop: JaxprEqn) -> tuple[int, int] | None:
    """Which part of a `while`'s state is the integer that it counts up by ones, and up to which.

    None where it ends otherwise; jax.lax.fori_loop makes such loops.
    """
    test, body = (loop.params[name].jaxpr for name in ("cond_jaxpr", "body_jaxpr"))
    state = test.invars[loop.params["cond_nconsts"] :]
    if [equation.primitive.name for equation in test.eqns] != ["lt"]:
        return None
    compared = test.eqns[0].invars
    if not all(any(v is part for part in state) and v.aval.dtype.kind == "i" for v in compared):
        return None
    counted, limit = map(state.index, compared)
    before = body.invars[loop.params["body_nconsts"] :]
    grows = any(
        equation.primitive.name == "add"
        and equation.outvars[0] is body.outvars[counted]
        and equation.invars[0] is before[counted]
        and getattr(equation.invars[1], "val", None) == 1
        for equation in body.eqns
    )
    kept = body.outvars[limit] is before[limit]
    return (counted, limit) if grows and kept else None
