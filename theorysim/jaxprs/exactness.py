"""Which floats of a program are integers or constants by their origin: nothing was rounded there.

A result that merely equals an integer says nothing: the cosine of 1e-9 is 1.0 by rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jax.extend.core import ClosedJaxpr, Jaxpr, Literal

from theorysim.jaxprs.structure import CALLS

# Operations that move, pick or flip the sign of entries: they round nothing. Two are Equinox's, and
# keep the times of integrators.
_MOVES = """
    abs broadcast_in_dim ceil clamp complex concatenate conj copy copy_p cummax cummin
    dynamic_slice dynamic_update_slice expand_dims floor gather imag iota max maybe_set min neg
    nextafter optimization_barrier pad real reduce_max reduce_min reshape rev round scatter
    scatter-max scatter-min select_if_vmap select_n sign slice sort split squeeze stack
    stop_gradient top_k transpose
"""
MOVES = frozenset(_MOVES.split())

# Operations that make integers of integers, whose floats are exact as long as they are not large.
_CLOSED = """
    add add_any conv_general_dilated cumprod cumsum dot_general mul reduce_prod reduce_sum
    reduce_window_sum rem scatter-add square sub
"""
CLOSED = frozenset(_CLOSED.split())

# Operations whose results are integers, whatever they are given.
INTEGERS = frozenset({"ceil", "floor", "iota", "round", "sign"})


class Exact(IntEnum):
    """What a number is known to be, by its origin."""

    NOT = 0
    CONSTANT = 1
    """written in the program with few binary digits, as 1/2 is, and moved, but not computed with"""
    INTEGER = 2


# Of a constant: a multiple of one over this, below this.
FEW = 1024


def exact_outputs(program: ClosedJaxpr | Jaxpr, exact: Sequence[Exact]) -> list[Exact]:
    """Of every output of a jaxpr, what it is by origin, given that of its inputs."""
    is_closed = isinstance(program, ClosedJaxpr)
    jaxpr, constants = (program.jaxpr, program.consts) if is_closed else (program, ())
    known = dict(zip(jaxpr.constvars, map(exact_constant, constants), strict=True))
    known.update(zip(jaxpr.invars, exact, strict=True))

    def read(atom: Any) -> Exact:
        return exact_constant(atom.val) if isinstance(atom, Literal) else known[atom]

    for equation in jaxpr.eqns:
        results = exact_results(equation, [read(atom) for atom in equation.invars])
        known.update(zip(equation.outvars, results, strict=True))
    return [read(atom) for atom in jaxpr.outvars]


def exact_constant(value: Any) -> Exact:
    """What a constant is in all its entries; one that is not known yet is nothing."""
    dtype = jnp.result_type(value) if not hasattr(value, "dtype") else value.dtype
    if not jnp.issubdtype(dtype, jnp.inexact):
        return Exact.INTEGER
    if isinstance(value, Tracer):
        return Exact.NOT
    numbers = np.asarray(value)
    if np.all(numbers == np.round(numbers)):
        return Exact.INTEGER
    few = np.all(FEW * numbers == np.round(FEW * numbers)) and np.all(np.abs(numbers) < FEW)
    return Exact.CONSTANT if few else Exact.NOT


def exact_results(equation: Any, exact: Sequence[Exact]) -> list[Exact]:
    """The same of an operation's results; what is no float is always an integer."""
    name, params = equation.primitive.name, equation.params
    if name in CALLS:
        return exact_outputs(params[CALLS[name]], exact)
    if name == "cond":
        several = [exact_outputs(branch, exact[1:]) for branch in params["branches"]]
        return [min(found) for found in zip(*several, strict=True)]
    if name == "scan":
        constants, start, rows = parts_of_scan(params, exact)
        start = steady(params["jaxpr"], constants, start, rows)
        return exact_outputs(params["jaxpr"], [*constants, *start, *rows])
    if name == "while":
        _, constants, start = parts_of_while(params, exact)
        return steady(params["body_jaxpr"], constants, start, [])
    kept = _kept(equation, min(exact, default=Exact.INTEGER))
    floats = (jnp.issubdtype(v.aval.dtype, jnp.inexact) for v in equation.outvars)
    return [kept if is_float else Exact.INTEGER for is_float in floats]


def _kept(equation: Any, least: Exact) -> Exact:
    """What results are whose operands are at least this."""
    name = equation.primitive.name
    if name in INTEGERS:
        return Exact.INTEGER
    is_size = name == "abs" and jnp.issubdtype(equation.invars[0].aval.dtype, jnp.complexfloating)
    if (name in MOVES and name != "nextafter" and not is_size) or _only_renames(equation):
        return least
    power = name == "integer_pow" and equation.params["y"] >= 0
    closed = power or name in CLOSED or name == "convert_element_type"
    return Exact.INTEGER if closed and least is Exact.INTEGER else Exact.NOT


def _only_renames(equation: Any) -> bool:
    """Whether a type is changed for itself: it was one that gives way to others."""
    if equation.primitive.name != "convert_element_type":
        return False
    (given,), (made,) = equation.invars, equation.outvars
    return given.aval.dtype == made.aval.dtype


def parts_of_scan(params: Any, given: Sequence[Any]) -> tuple[list[Any], list[Any], list[Any]]:
    """What a scan is given: constants, the state it starts from, rows."""
    fixed, state = params["num_consts"], params["num_consts"] + params["num_carry"]
    return list(given[:fixed]), list(given[fixed:state]), list(given[state:])


def parts_of_while(params: Any, given: Sequence[Any]) -> tuple[list[Any], list[Any], list[Any]]:
    """What a while loop is given: constants of its test and of its body, its first state."""
    tests, bodies = params["cond_nconsts"], params["cond_nconsts"] + params["body_nconsts"]
    return list(given[:tests]), list(given[tests:bodies]), list(given[bodies:])


def steady(body: Any, constants: list[Exact], start: list[Exact], rows: list[Exact]) -> list[Exact]:
    """What a loop's state is in every round."""
    while True:
        moved = exact_outputs(body, [*constants, *start, *rows])[: len(start)]
        kept = [min(pair) for pair in zip(start, moved, strict=True)]
        if kept == start:
            return kept
        start = kept
