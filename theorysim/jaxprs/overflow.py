"""Which integers of a program leave the range of their type: JAX wraps them around in silence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import jax.numpy as jnp
from jax.extend.core import Jaxpr, Literal, Var
from jaxtyping import Array, Bool

from theorysim.jaxprs.structure import CALLS, bodies

PRODUCTS = frozenset(
    {"cumprod", "dot_general", "integer_pow", "mul", "pow", "reduce_prod", "square"}
)
# Operations on integers that may leave the range of their type.
GROWING = PRODUCTS | {"add", "convert_element_type", "cumsum", "neg", "reduce_sum", "sub"}


def may_overflow(equation: Any) -> bool:
    """Whether an operation makes signed integers that its type may not hold.

    Steps by a constant (the counter of a loop) do not get there; other widths of integers are
    chosen for what is known to fit, and unsigned ones are meant to wrap around (random bits do).
    """
    name = equation.primitive.name
    if name not in GROWING or not _makes_integers(equation):
        return False
    if name in ("add", "sub"):
        return not any(isinstance(atom, Literal) for atom in equation.invars)
    old = equation.invars[0].aval.dtype
    return name != "convert_element_type" or jnp.issubdtype(old, jnp.floating)


def overflows(equation: Any, given: Sequence[Any]) -> Bool[Array, "*shape"]:
    """Of the results of such an operation, which are no longer what real numbers would give."""
    name, params = equation.primitive.name, dict(equation.params)
    floats = [jnp.asarray(value).astype(float) for value in given]
    if "preferred_element_type" in params:
        params["preferred_element_type"] = None
    if name == "convert_element_type":
        (real,) = floats
    else:
        real = equation.primitive.bind(*floats, **params)
    return ~(jnp.abs(real) < float(jnp.iinfo(equation.outvars[0].aval.dtype).max))


def multiplies_integers(equation: Any) -> bool:
    """Whether an operation makes products of integers, which soon leave the range of their type."""
    return equation.primitive.name in PRODUCTS and _makes_integers(equation)


def _makes_integers(equation: Any) -> bool:
    """Whether there are results (a call whose results nobody asks for has none), and signed ones"""
    return any(jnp.issubdtype(one.aval.dtype, jnp.signedinteger) for one in equation.outvars)


def _is_integer(variable: Any) -> bool:
    return jnp.issubdtype(variable.aval.dtype, jnp.integer)


def multiplies_inputs(jaxpr: Jaxpr, inputs: Iterable[Var]) -> bool:
    """Whether a program multiplies integers that come from some of its inputs."""
    known = set(inputs)
    for equation in jaxpr.eqns:
        given = [isinstance(atom, Var) and atom in known for atom in equation.invars]
        if not any(given):
            continue
        if multiplies_integers(equation):
            return True
        called = equation.primitive.name in CALLS
        for body in bodies(equation):
            # A loop's body may get any of what the loop gets.
            own = (v for v, one in zip(body.invars, given) if one) if called else body.invars
            if multiplies_inputs(body, own):
                return True
        known.update(v for v in equation.outvars if _is_integer(v))
    return False
