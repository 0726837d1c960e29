"""Running a JAX program in Monte Carlo arithmetic: every operation that rounds errs anew.

Inputs that are moved by ulps do not show all rounding. A sum that absorbs a small addend errs alike
wherever it lies on its floating-point grid, and so do differences of two such sums. Here every
result that is rounded is moved up or down (Monte-Carlo arithmetic, Parker 1997; `moved_roundings`
says by how much), in loops and branches, too, so that an operation that nobody thought of is moved.
Where all that is asked is whether a result hangs on digits that nothing can know, the origins of
numbers are moved alone (`moved_origins`), which costs less to compile.

An integer that leaves the range of its type is no number: an arbitrary one stands in for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax.extend.core import ClosedJaxpr, Jaxpr, Literal
from jaxtyping import Array

from theorysim.jaxprs.directions import Moves, hashed, is_inexact, seed_of
from theorysim.jaxprs.exactness import (
    exact_constant,
    exact_results,
    parts_of_scan,
    parts_of_while,
    steady,
)
from theorysim.jaxprs.moved_origins import (
    apart,
    as_origin,
    moved_constant,
    of_origin,
    sorts,
)
from theorysim.jaxprs.moved_roundings import in_range, moved_rounding, rounds_nothing
from theorysim.jaxprs.overflow import may_overflow
from theorysim.jaxprs.structure import CALLS
from theorysim.jaxprs.ties import ORDERS, compared, from_whole, jumps

EQUALITIES = frozenset({"eq", "ne"})


def perturb_rounding(
    function: Callable, origins: bool = False, ties: bool = True, lanes: bool = False
) -> Callable:
    """The function of arrays in Monte Carlo arithmetic; its errors differ with the inputs.

    With `origins`, only floats among inputs and constants, and what is drawn, are moved. Ties are,
    unless the time of an integrator, that must come to its end, is compared. With `lanes` it runs
    under a vmap whose axis is `ties.LANES`, in three of which all ties fall alike.
    """

    def run(*inputs: Any) -> Any:
        program, shapes = jax.make_jaxpr(function, return_shape=True)(*inputs)
        leaves = list(map(jnp.asarray, jax.tree.leaves(inputs)))
        exact = [not is_inexact(leaf) for leaf in leaves]
        moves = Moves(seed_of(leaves), origins, ties, lanes)
        given = [as_origin(leaf, moves) for leaf in leaves] if origins else leaves
        results = _call(program, moves, given, exact)
        return jax.tree.unflatten(jax.tree.structure(shapes), results)

    return run


def _call(
    program: ClosedJaxpr | Jaxpr, moves: Moves, inputs: Sequence[Any], exact: Sequence[bool]
) -> list[Any]:
    """Outputs of a jaxpr; `exact` tells which inputs are integers by origin."""
    is_closed = isinstance(program, ClosedJaxpr)
    jaxpr, constants = (program.jaxpr, program.consts) if is_closed else (program, ())
    known = {v: moved_constant(c, moves) for v, c in zip(jaxpr.constvars, constants, strict=True)}
    known.update(zip(jaxpr.invars, inputs, strict=True))
    integers = dict(zip(jaxpr.constvars, map(exact_constant, constants), strict=True))
    integers.update(zip(jaxpr.invars, exact, strict=True))
    for equation in jaxpr.eqns:
        given = [
            moved_constant(a.val, moves) if isinstance(a, Literal) else known[a]
            for a in equation.invars
        ]
        flags = [
            exact_constant(a.val) if isinstance(a, Literal) else integers[a]
            for a in equation.invars
        ]
        known.update(zip(equation.outvars, _outputs(equation, moves, given, flags), strict=True))
        integers.update(zip(equation.outvars, exact_results(equation, flags), strict=True))
    return [
        moved_constant(a.val, moves) if isinstance(a, Literal) else known[a] for a in jaxpr.outvars
    ]


def _outputs(equation: Any, moves: Moves, given: list[Any], exact: list[bool]) -> Sequence[Any]:
    name, params = equation.primitive.name, equation.params
    if name in CALLS:
        return _call(params[CALLS[name]], moves, given, exact)
    if name in LOOPS:
        return LOOPS[name](params, moves, given, exact)
    if moves.ties and jumps(equation):
        given = from_whole(equation, moves, given, exact)
    elif moves.ties and moves.origins and sorts(equation):
        given = apart(moves, given, exact)
    found = equation.primitive.bind(*given, **params)
    results = found if equation.primitive.multiple_results else [found]
    if name in ORDERS and (moves.ties or (name in EQUALITIES and not moves.origins)):
        return [compared(equation, moves, given, exact, results[0])]
    if moves.origins:
        return [of_origin(equation, moves, given, exact, result) for result in results]
    if rounds_nothing(equation):
        return results
    arrays = list(map(jnp.asarray, given))
    if may_overflow(equation):
        return [in_range(equation, moves, arrays, results[0])]
    integers = exact_results(equation, exact)
    return [
        moved_rounding(equation, moves, arrays, value, is_integer) if is_inexact(value) else value
        for value, is_integer in zip(results, integers, strict=True)
    ]


def _while(params: Any, moves: Moves, given: list[Any], exact: list[bool]) -> Sequence[Any]:
    test, body, start = parts_of_while(params, given)
    test_exact, body_exact, start_exact = parts_of_while(params, exact)
    state_exact = steady(params["body_jaxpr"], body_exact, start_exact, [])

    def goes_on(count: Array, state: list[Any]) -> Array:
        flags = [*test_exact, *state_exact]
        return _call(params["cond_jaxpr"], _in_round(moves, count), [*test, *state], flags)[0]

    def move(counted: tuple[Array, list[Any]]) -> tuple[Array, list[Any]]:
        count, state = counted
        own, flags = _in_round(moves, count), [*body_exact, *state_exact]
        moved = _call(params["body_jaxpr"], own, [*body, *state], flags)
        going = goes_on(count, state)
        if not going.ndim:
            return count + 1, moved
        # A loop under vmap: what has come to its end stays.
        return count + 1, [
            jnp.where(going.reshape(going.shape + (1,) * (new.ndim - going.ndim)), new, old)
            for new, old in zip(moved, state, strict=True)
        ]

    start_at = jnp.zeros((), jnp.uint32), list(start)
    return jax.lax.while_loop(lambda counted: jnp.any(goes_on(*counted)), move, start_at)[1]


# Rounds of a loop after which the directions change in every one.
SETTLED = 256


def _in_round(moves: Moves, count: Array) -> Moves:
    """Of a loop: what stands still, or falls into a cycle, does so otherwise in every round.

    So a loop that ends by an equality may end. Ties change at once, directions after so many rounds
    as an iteration takes to come to rest.
    """
    late = moves.seed ^ hashed(count.astype(moves.seed.dtype))
    seed = jnp.where(count < SETTLED, moves.seed, late)
    return moves._replace(round=moves.round + count, seed=seed)


def _scan(params: Any, moves: Moves, given: list[Any], exact: list[bool]) -> Sequence[Any]:
    constants, start, rows = parts_of_scan(params, given)
    constants_exact, start_exact, rows_exact = parts_of_scan(params, exact)
    state_exact = steady(params["jaxpr"], constants_exact, start_exact, rows_exact)
    flags, carried = [*constants_exact, *state_exact, *rows_exact], len(start)

    def body(carry: list[Any], row: list[Any]) -> tuple[list[Any], list[Any]]:
        results = _call(params["jaxpr"], moves, [*constants, *carry, *row], flags)
        return results[:carried], results[carried:]

    kept = {name: params[name] for name in ("length", "reverse", "unroll")}
    end, stacked = jax.lax.scan(body, start, rows, **kept)
    return [*end, *stacked]


def _cond(params: Any, moves: Moves, given: list[Any], exact: list[bool]) -> Sequence[Any]:
    index, *inputs = given
    branches = [
        lambda *inputs, branch=branch: _call(branch, moves, inputs, exact[1:])
        for branch in params["branches"]
    ]
    return jax.lax.switch(index, branches, *inputs)


LOOPS = {"while": _while, "scan": _scan, "cond": _cond}
