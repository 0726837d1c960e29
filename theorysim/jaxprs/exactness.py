"""Which floats of a program are integers by their origin, so that nothing was rounded in them.

A result that merely equals an integer says nothing: the cosine of 1e-9 is 1.0 by rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
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


def exact_outputs(program: ClosedJaxpr | Jaxpr, exact: Sequence[bool]) -> list[bool]:
    """Of every output of a jaxpr, whether it is an integer by origin, given that of its inputs."""
    is_closed = isinstance(program, ClosedJaxpr)
    jaxpr, constants = (program.jaxpr, program.consts) if is_closed else (program, ())
    known = dict(zip(jaxpr.constvars, map(exact_constant, constants), strict=True))
    known.update(zip(jaxpr.invars, exact, strict=True))

    def read(atom: Any) -> bool:
        return exact_constant(atom.val) if isinstance(atom, Literal) else known[atom]

    for equation in jaxpr.eqns:
        results = exact_results(equation, [read(atom) for atom in equation.invars])
        known.update(zip(equation.outvars, results, strict=True))
    return [read(atom) for atom in jaxpr.outvars]


def exact_constant(value: Any) -> bool:
    """Whether a constant consists of integers; one that is not known yet does not."""
    dtype = jnp.result_type(value) if not hasattr(value, "dtype") else value.dtype
    if not jnp.issubdtype(dtype, jnp.inexact):
        return True
    if isinstance(value, Tracer):
        return False
    numbers = np.asarray(value)
    return bool(np.all(numbers == np.round(numbers)))


def exact_results(equation: Any, exact: Sequence[bool]) -> list[bool]:
    """The same of an operation's results; what is no float is always exact."""
    name, params = equation.primitive.name, equation.params
    if name in CALLS:
        return exact_outputs(params[CALLS[name]], exact)
    if name == "cond":
        several = [exact_outputs(branch, exact[1:]) for branch in params["branches"]]
        return [all(found) for found in zip(*several, strict=True)]
    if name == "scan":
        constants, start, rows = parts_of_scan(params, exact)
        start = steady(params["jaxpr"], constants, start, rows)
        return exact_outputs(params["jaxpr"], [*constants, *start, *rows])
    if name == "while":
        _, constants, start = parts_of_while(params, exact)
        return steady(params["body_jaxpr"], constants, start, [])
    kept = name in INTEGERS or (_keeps_integers(equation) and all(exact))
    return [kept or not jnp.issubdtype(v.aval.dtype, jnp.inexact) for v in equation.outvars]


def _keeps_integers(equation: Any) -> bool:
    name = equation.primitive.name
    power = name == "integer_pow" and equation.params["y"] >= 0
    is_size = name == "abs" and jnp.issubdtype(equation.invars[0].aval.dtype, jnp.complexfloating)
    moves = name in MOVES and name != "nextafter" and not is_size
    return power or moves or name in CLOSED or name == "convert_element_type"


def parts_of_scan(params: Any, given: Sequence[Any]) -> tuple[list[Any], list[Any], list[Any]]:
    """What a scan is given: constants, the state it starts from, rows."""
    fixed, state = params["num_consts"], params["num_consts"] + params["num_carry"]
    return list(given[:fixed]), list(given[fixed:state]), list(given[state:])


def parts_of_while(params: Any, given: Sequence[Any]) -> tuple[list[Any], list[Any], list[Any]]:
    """What a while loop is given: constants of its test and of its body, its first state."""
    tests, bodies = params["cond_nconsts"], params["cond_nconsts"] + params["body_nconsts"]
    return list(given[:tests]), list(given[tests:bodies]), list(given[bodies:])


def steady(body: Any, constants: list[bool], start: list[bool], rows: list[bool]) -> list[bool]:
    """What of a loop's state is an integer in every round."""
    while True:
        moved = exact_outputs(body, [*constants, *start, *rows])[: len(start)]
        kept = [one and other for one, other in zip(start, moved, strict=True)]
        if kept == start:
            return kept
        start = kept
