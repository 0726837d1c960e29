"""How long the loops of a program run, known before: from the numbers that they count up to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var, jaxpr_as_fun
from jax.interpreters.partial_eval import dce_jaxpr
from jaxtyping import Array, Float

from theorysim.jaxprs.cost import CALLBACKS, operations
from theorysim.jaxprs.structure import CALLS, applied, contains, opened
from theorysim.jaxprs.waiting import waits

# What a length may cost of what it is the length of.
CHEAP = 1 / 20


def known_length(program: ClosedJaxpr) -> Callable[..., Float[Array, ""]] | None:
    """How many operations the counting loops of a program take, told by its inputs.

    Loops count integers up to a limit, as those of `jax.lax.fori_loop` do; others add nothing. None
    where no loop counts, where to know a limit takes a loop whose length differs, too, or a good
    part of the program, and where Python is called, which would be done twice.
    """
    if program.effects:
        return None

    def length(*inputs: Array) -> Array:
        return _evaluated(program.jaxpr, program.consts, inputs)[1]

    whole = jax.make_jaxpr(length)(*(v.aval for v in program.jaxpr.invars))
    short, _ = dce_jaxpr(whole.jaxpr, [True], instantiate=True)
    if not any(isinstance(v, Var) and v in short.invars for e in short.eqns for v in e.invars):
        return None
    if waits(short) or contains(short, CALLBACKS):
        return None
    if operations(short) > CHEAP * operations(program.jaxpr):
        return None
    told = jaxpr_as_fun(whole.replace(jaxpr=short))
    return lambda *inputs: told(*inputs)[0]


def _evaluated(
    program: Jaxpr, constants: Sequence[Any], inputs: Sequence[Any]
) -> tuple[list[Any], Array]:
    """The outputs, and what the counting loops at any depth of calls and scans take together."""
    known: dict[Var, Any] = {
        **dict(zip(program.constvars, constants, strict=True)),
        **dict(zip(program.invars, inputs, strict=True)),
    }

    def value(variable: Var | Literal) -> Any:
        return variable.val if isinstance(variable, Literal) else known[variable]

    total = jnp.zeros(())
    for equation in program.eqns:
        found, length = _operation(equation, list(map(value, equation.invars)))
        total += length
        known |= dict(zip(equation.outvars, found, strict=True))
    return list(map(value, program.outvars)), total


def _operation(equation: JaxprEqn, inputs: list[Any]) -> tuple[list[Any], Any]:
    name, params = equation.primitive.name, equation.params
    if name in CALLS:
        return _evaluated(*opened(params[CALLS[name]]), inputs)
    if name == "scan":
        return _scan(params, inputs)
    return list(applied(equation, inputs)), _counted(equation, inputs) if name == "while" else 0.0


def _scan(params: dict[str, Any], inputs: list[Any]) -> tuple[list[Any], Array]:
    """A scan, whose rounds tell what they take beside their outputs."""
    fixed, carried = params["num_consts"], params["num_carry"]
    constants, start = inputs[:fixed], inputs[fixed : fixed + carried]
    rows = inputs[fixed + carried :]

    def step(state: list[Any], row: list[Any]) -> tuple[list[Any], tuple[list[Any], Array]]:
        found, length = _evaluated(*opened(params["jaxpr"]), [*constants, *state, *row])
        return found[:carried], (found[carried:], length)

    state, (kept, lengths) = jax.lax.scan(
        step, start, rows, params["length"], params["reverse"], params["unroll"]
    )
    return [*state, *kept], jnp.sum(lengths)


def _counted(loop: JaxprEqn, inputs: list[Any]) -> Array:
    """Operations of a round, times the largest distance to a limit at the start, of integers."""
    test, body = loop.params["cond_jaxpr"].jaxpr, loop.params["body_jaxpr"].jaxpr
    of_test, of_body = loop.params["cond_nconsts"], loop.params["body_nconsts"]
    begin = dict(zip(test.invars, [*inputs[:of_test], *inputs[of_test + of_body :]], strict=True))
    rounds = jnp.zeros(())
    for equation in test.eqns:
        sides = [v.val if isinstance(v, Literal) else begin.get(v) for v in equation.invars]
        if equation.primitive.name != "lt" or any(side is None for side in sides):
            continue
        counted, limit = map(jnp.asarray, sides)
        if jnp.issubdtype(limit.dtype, jnp.integer):
            distance = limit.astype(float) - counted.astype(float)  # integers would wrap
            rounds = jnp.maximum(rounds, jnp.max(distance, initial=0))
    return rounds * operations(body)
