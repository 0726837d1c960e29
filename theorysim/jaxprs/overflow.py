"""Which integers of a program leave the range of their type: JAX wraps them around in silence."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax.extend.core import Jaxpr, Literal, Var
from jaxtyping import Array, Bool

from theorysim.jaxprs.structure import CALLS, bodies

LOOPS = frozenset({"while", "scan"})
TOTALS = frozenset({"cumsum", "reduce_sum"})
PRODUCTS = frozenset(
    {"cumprod", "dot_general", "integer_pow", "mul", "pow", "reduce_prod", "shift_left", "square"}
)
# So many bits more, by multiplications with literals, may be too many: 2 n and 100 n are not.
MOST_BITS = 20
# Operations on integers that may leave the range of their type.
GROWING = PRODUCTS | TOTALS | {"add", "convert_element_type", "neg", "sub"}


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
    elif name == "shift_left":
        real = floats[0] * 2.0 ** floats[1]
    else:
        real = equation.primitive.bind(*floats, **params)
    return ~(jnp.abs(real) < float(jnp.iinfo(equation.outvars[0].aval.dtype).max))


def multiplies_integers(equation: Any) -> bool:
    """Whether an operation makes products of integers, which soon leave the range of their type."""
    return equation.primitive.name in PRODUCTS and _makes_integers(equation)


def _makes_integers(equation: Any) -> bool:
    """Whether there are results (a call whose results nobody asks for has none), and signed ones"""
    return any(jnp.issubdtype(one.aval.dtype, jnp.signedinteger) for one in equation.outvars)


def grows_integers(jaxpr: Jaxpr) -> bool:
    """Whether integers of a program may grow until they leave the range of their type.

    Where they are multiplied by each other or by large numbers, or shifted by what is not
    constant, where floats become integers of less than 64 bits, in loops where they are added to
    each other, and where they are so many times.
    """
    return _growth(jaxpr) > MOST_BITS


def _growth(jaxpr: Jaxpr, in_loop: bool = False, fixed: Collection[Var] = ()) -> float:
    """By how many bits integers may grow at most, all operations together.

    `fixed` are inputs that are constants or choices among such: a counter takes steps of one, or
    none.
    """
    fixed, gained = set(fixed), 0.0
    for equation in jaxpr.eqns:
        name, given = equation.primitive.name, equation.invars
        known = [isinstance(atom, Literal) or atom in fixed for atom in given]
        gained += _gain(equation, in_loop, known)
        for body in bodies(equation):
            pairs = zip(body.invars, given) if name in CALLS else ()
            own = {v for v, atom in pairs if isinstance(atom, Literal) or atom in fixed}
            gained += _growth(body, in_loop or name in LOOPS, own)
        if (
            given
            and name not in LOOPS
            and all(is_known or _is_bool(atom) for atom, is_known in zip(given, known))
        ):
            fixed.update(equation.outvars)
    return gained


def _gain(equation: Any, in_loop: bool, known: Sequence[bool]) -> float:
    """By how many bits the integers that an operation makes may be longer than those it is given.

    Infinitely many in a loop, and where two that are not known are multiplied.
    """
    name = equation.primitive.name
    if not may_overflow(equation):
        return 0.0
    if name in ("add", "sub", "neg"):
        return 0.0 if any(known) else math.inf if in_loop else 1.0
    if name == "convert_element_type" or name in TOTALS:
        return math.inf if equation.outvars[0].aval.dtype.itemsize < 8 else 0.0
    if name not in ("mul", "shift_left") or in_loop:
        return math.inf
    factors = equation.invars[1:] if name == "shift_left" else equation.invars
    literals = [atom.val for atom in factors if isinstance(atom, Literal)]
    sizes = [float(np.max(np.abs(np.asarray(value, float)))) for value in literals]
    if not sizes:
        return math.inf
    return sizes[0] if name == "shift_left" else math.log2(max(1.0, *sizes))


def _is_bool(atom: Any) -> bool:
    return atom.aval.dtype == bool
