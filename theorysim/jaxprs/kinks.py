"""Where a program differentiates a function that has a kink, and whether a run comes upon it.

Automatic differentiation takes one value at a kink of max, min, |x| or relu. Of one kink that is a
subgradient; of functions composed of several that coincide it need not be: jnp.clip with equal
bounds gives 1/4, where every subgradient is 0. Runs that come upon one tell nothing of the theory.

A derivative of max(a, b) is recognised by what JAX makes of it: the result is compared with an
operand. So are those of |x| and of relu(x), which compare x with 0, and of the largest entry.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn, Literal
from jaxtyping import Array, Bool

from theorysim.jaxprs.exactness import parts_of_scan, parts_of_while
from theorysim.jaxprs.structure import CALLS, bodies

NAMES = {
    "max": "max",
    "min": "min",
    "abs": "|x|",
    "custom_jvp_call": "relu",
    "reduce_max": "the largest entry",
    "reduce_min": "the least entry",
}
# How the derivatives of those with one operand compare it with 0.
ONE_SIDED = {"abs": "ge", "custom_jvp_call": "gt"}


class Kink(NamedTuple):
    """A kink that is differentiated: its operation, what it is called, and what it stands in."""

    equation: JaxprEqn
    name: str
    around: tuple[JaxprEqn, ...] = ()


def kinks(jaxpr: Jaxpr, around: tuple[JaxprEqn, ...] = ()) -> list[Kink]:
    """The kinks that a program differentiates, at any depth; `around` are operations around it."""
    live = _live(jaxpr)
    found = [
        Kink(equation, NAMES[equation.primitive.name], around)
        for equation in jaxpr.eqns
        if _is_differentiated(equation, jaxpr, live)
    ]
    for equation in jaxpr.eqns:
        for body in bodies(equation):
            found += kinks(body, (equation, *around))
    return found


def _live(jaxpr: Jaxpr) -> list[JaxprEqn]:
    """The operations that a result needs: derivatives that `stop_gradient` drops are not."""
    needed = {v for v in jaxpr.outvars if not isinstance(v, Literal)}
    live = []
    for equation in reversed(jaxpr.eqns):
        if needed.intersection(equation.outvars):
            live.append(equation)
            needed |= {v for v in equation.invars if not isinstance(v, Literal)}
    return live


def _is_differentiated(equation: JaxprEqn, jaxpr: Jaxpr, live: list[JaxprEqn]) -> bool:
    name = equation.primitive.name
    if name not in NAMES or (name == "custom_jvp_call" and not _is_relu(equation)):
        return False
    if name in ONE_SIDED:
        operand = equation.invars[0]
        return any(e.primitive.name == ONE_SIDED[name] and e.invars[0] is operand for e in live)
    same = _copies(equation.outvars[0], jaxpr)
    operands = [v for v in equation.invars if not isinstance(v, Literal)]
    return any(
        e.primitive.name == "eq"
        and any(v in same for v in e.invars if not isinstance(v, Literal))
        and any(v in operands for v in e.invars if not isinstance(v, Literal))
        for e in live
    )


def _is_relu(equation: JaxprEqn) -> bool:
    return any(
        inner.params.get("name") == "relu" for body in bodies(equation) for inner in body.eqns
    )


def _copies(variable: Any, jaxpr: Jaxpr) -> set[Any]:
    """A variable and what differs from it in shape only."""
    same = {variable}
    for equation in jaxpr.eqns:
        if equation.primitive.name in ("reshape", "broadcast_in_dim") and (
            not isinstance(equation.invars[0], Literal) and equation.invars[0] in same
        ):
            same.add(equation.outvars[0])
    return same


def kinks_met(
    program: ClosedJaxpr, inputs: Sequence[Any], sites: Sequence[Kink]
) -> Bool[Array, " n"]:
    """Of every kink of a program, whether a run on these inputs comes upon it; pure, vmappable."""
    index = {id(site.equation): place for place, site in enumerate(sites)}
    return _run(program, list(inputs), jnp.zeros(len(sites), bool), index)[1]


def _run(
    program: ClosedJaxpr | Jaxpr, inputs: Sequence[Any], met: Array, index: dict[int, int]
) -> tuple[list[Any], Array]:
    is_closed = isinstance(program, ClosedJaxpr)
    jaxpr, constants = (program.jaxpr, program.consts) if is_closed else (program, ())
    known = dict(zip(jaxpr.constvars, constants, strict=True))
    known.update(zip(jaxpr.invars, inputs, strict=True))

    def read(atom: Any) -> Any:
        return atom.val if isinstance(atom, Literal) else known[atom]

    for equation in jaxpr.eqns:
        given = [read(atom) for atom in equation.invars]
        if id(equation) in index:
            met = met.at[index[id(equation)]].max(_tied(equation, given))
        results, met = _evaluated(equation, given, met, index)
        known.update(zip(equation.outvars, results, strict=True))
    return [read(atom) for atom in jaxpr.outvars], met


def _tied(equation: JaxprEqn, given: list[Any]) -> Array:
    """Whether the operands are at the kink."""
    name = equation.primitive.name
    if name in ONE_SIDED:
        return jnp.any(given[0] == 0)
    if name in ("max", "min"):
        return jnp.any(given[0] == given[1])
    axes = tuple(equation.params["axes"])
    extreme = (jnp.max if name == "reduce_max" else jnp.min)(given[0], axis=axes, keepdims=True)
    return jnp.any(jnp.sum(given[0] == extreme, axis=axes) > 1)


def _evaluated(
    equation: JaxprEqn, given: list[Any], met: Array, index: dict[int, int]
) -> tuple[Sequence[Any], Array]:
    name, params = equation.primitive.name, equation.params
    if name in CALLS:
        return _run(params[CALLS[name]], given, met, index)
    if name in LOOPS and any(kinks(body) for body in bodies(equation)):
        return LOOPS[name](params, given, met, index)
    found = equation.primitive.bind(*given, **params)
    return (found if equation.primitive.multiple_results else [found]), met


def _scan(params: Any, given: list[Any], met: Array, index: dict[int, int]) -> Any:
    constants, start, rows = parts_of_scan(params, given)
    carried = len(start)

    def body(carry: tuple[list[Any], Array], row: list[Any]) -> tuple[Any, list[Any]]:
        state, met = carry
        results, met = _run(params["jaxpr"], [*constants, *state, *row], met, index)
        return (results[:carried], met), results[carried:]

    kept = {name: params[name] for name in ("length", "reverse", "unroll")}
    (end, met), stacked = jax.lax.scan(body, (start, met), rows, **kept)
    return [*end, *stacked], met


def _while(params: Any, given: list[Any], met: Array, index: dict[int, int]) -> Any:
    test, body, start = parts_of_while(params, given)

    def goes_on(carry: tuple[list[Any], Array]) -> Array:
        return _run(params["cond_jaxpr"], [*test, *carry[0]], carry[1], index)[0][0]

    def move(carry: tuple[list[Any], Array]) -> tuple[list[Any], Array]:
        return _run(params["body_jaxpr"], [*body, *carry[0]], carry[1], index)

    return jax.lax.while_loop(goes_on, move, (start, met))


def _cond(params: Any, given: list[Any], met: Array, index: dict[int, int]) -> Any:
    which, *inputs = given

    def branch(body: ClosedJaxpr) -> Callable:
        return lambda met, *inputs: _run(body, inputs, met, index)

    return jax.lax.switch(which, [branch(body) for body in params["branches"]], met, *inputs)


LOOPS = {"scan": _scan, "while": _while, "cond": _cond}


def line_of(kink: Kink, file: str) -> str:
    """File and line of this file that a kink comes from; "" if it comes from elsewhere."""
    for equation in (kink.equation, *kink.around):
        trace = equation.source_info.traceback
        for frame in trace.frames if trace is not None else ():
            if frame.file_name == file:
                return f"{file}:{frame.line_num}"
    return ""
