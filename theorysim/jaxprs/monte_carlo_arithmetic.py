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

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax.extend.core import ClosedJaxpr, Jaxpr, Literal, jaxpr_as_fun
from jaxtyping import Array

from theorysim.jaxprs.directions import Moves, in_this_lane, is_inexact, seed_of
from theorysim.jaxprs.exactness import (
    Exact,
    exact_constant,
    exact_results,
    parts_of_scan,
    parts_of_while,
    steady,
)
from theorysim.jaxprs.moved_operation import moved_operation
from theorysim.jaxprs.moved_origins import as_origin, moved_constant
from theorysim.jaxprs.structure import CALLS
from theorysim.jaxprs.ties import ORDERS


def with_arbitrary_overflows(function: Callable) -> Callable:
    """The function of arrays with an arbitrary integer for each that leaves its range."""
    return perturb_rounding(function, ties=False, roundings=False)


def perturb_rounding(
    function: Callable,
    origins: bool = False,
    ties: bool = True,
    lanes: bool = False,
    roundings: bool = True,
) -> Callable:
    """The function of arrays in Monte Carlo arithmetic; its errors differ with the inputs.

    With `origins`, only floats among inputs and constants, and what is drawn, are moved. Ties are,
    unless the time of an integrator, that must come to its end, is compared. With `lanes` the
    number of one, a float, is given before the inputs: each number makes errors of its own. Without
    `roundings` only integers that overflow are others.
    """

    def run(*given: Any) -> Any:
        numbers, inputs = (given[:1], given[1:]) if lanes else ((), given)
        program, shapes = jax.make_jaxpr(function, return_shape=True)(*inputs)
        leaves = list(map(jnp.asarray, jax.tree.leaves(inputs)))
        exact = [Exact.NOT if is_inexact(leaf) else Exact.INTEGER for leaf in leaves]
        # One for all inputs, where only integers that overflow are others: what does not depend on
        # an instance is computed once for all.
        seed = seed_of([*numbers, *leaves] if roundings else [jnp.ones(())])
        moves = Moves(seed, origins, ties, roundings=roundings)
        moves = in_this_lane(moves, *numbers) if lanes else moves
        moved = [as_origin(leaf, moves) for leaf in leaves] if origins else leaves
        results = _call(program, moves, moved, exact)
        return jax.tree.unflatten(jax.tree.structure(shapes), results)

    return run


def _call(
    program: ClosedJaxpr | Jaxpr, moves: Moves, inputs: Sequence[Any], exact: Sequence[Exact]
) -> list[Any]:
    """Outputs of a jaxpr; `exact` tells what inputs are by origin."""
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
        turned = _is_turned(equation, known)
        results = _outputs(equation, moves, given, flags, turned)
        known.update(zip(equation.outvars, results, strict=True))
        integers.update(zip(equation.outvars, exact_results(equation, flags), strict=True))
    return [
        moved_constant(a.val, moves) if isinstance(a, Literal) else known[a] for a in jaxpr.outvars
    ]


def _is_turned(equation: Any, known: Mapping[Any, Any]) -> bool:
    """Whether a comparison names first what was computed last: it is one of two ways round."""
    if equation.primitive.name not in ORDERS:
        return False
    atoms = [atom for atom in equation.invars if not isinstance(atom, Literal)]
    if len(atoms) < 2:
        return len(atoms) == 1 and atoms[0] is equation.invars[0]
    return next(v for v in reversed(known) if v in atoms) is equation.invars[0]


def _outputs(
    equation: Any, moves: Moves, given: list[Any], exact: list[Exact], turned: bool
) -> Sequence[Any]:
    name, params = equation.primitive.name, equation.params
    if name in CALLS:
        return _call(params[CALLS[name]], moves, given, exact)
    if name in LOOPS:
        return LOOPS[name](params, moves, given, exact)
    return moved_operation(equation, moves, given, exact, turned)


def _while(params: Any, moves: Moves, given: list[Any], exact: list[Exact]) -> Sequence[Any]:
    test, body, start = parts_of_while(params, given)
    test_exact, body_exact, start_exact = parts_of_while(params, exact)
    state_exact = steady(params["body_jaxpr"], body_exact, start_exact, [])

    settles = moves.roundings and not _counts(params["cond_jaxpr"].jaxpr)

    def called(program: ClosedJaxpr, count: Array, inputs: list[Any], flags: list[Exact]) -> list:
        moved = _call(program, _in_round(moves, count), inputs, flags)
        if not settles:
            return moved
        plain = jaxpr_as_fun(program)(*inputs)
        return [jnp.where(count < SETTLED, one, other) for one, other in zip(moved, plain)]

    def goes_on(count: Array, state: list[Any]) -> Array:
        return called(params["cond_jaxpr"], count, [*test, *state], [*test_exact, *state_exact])[0]

    # Whether a loop goes on is computed once: asked again elsewhere in the program, it may be
    # rounded otherwise, a tie then falls otherwise, and a state that does not move waits for ever.
    def move(carried: tuple[Array, Array, list[Any]]) -> tuple[Array, Array, list[Any]]:
        count, going, state = carried
        inputs, flags = [*body, *state], [*body_exact, *state_exact]
        moved = called(params["body_jaxpr"], count, inputs, flags)
        if going.ndim:  # A loop under vmap: what has come to its end stays.
            moved = [
                jnp.where(going.reshape(going.shape + (1,) * (new.ndim - going.ndim)), new, old)
                for new, old in zip(moved, state, strict=True)
            ]
        return count + 1, going & goes_on(count + 1, moved), moved

    begun, state = jnp.zeros((), jnp.uint32), list(start)
    carried = begun, goes_on(begun, state), state
    return jax.lax.while_loop(lambda carried: jnp.any(carried[1]), move, carried)[2]


# Rounds after which nothing is moved any more in a loop whose end hangs on what it computes. It
# ends as the plain loop does then: one that waits until numbers are equal, or within a tolerance
# of some units, would not if these were moved for ever, or fell into a cycle.
SETTLED = 4096


def _counts(test: Jaxpr) -> bool:
    """Whether the end of a loop hangs on whole numbers only."""
    used = {atom for one in test.eqns for atom in one.invars if not isinstance(atom, Literal)}
    used.update(atom for atom in test.outvars if not isinstance(atom, Literal))
    asked = [v.aval for v in (*test.constvars, *test.invars) if v in used]
    return all(jnp.issubdtype(getattr(value, "dtype", bool), jnp.integer) for value in asked)


def _in_round(moves: Moves, count: Array) -> Moves:
    """Of a loop: ties that fall by themselves do so otherwise in every round."""
    return moves._replace(round=moves.round + count)


def _scan(params: Any, moves: Moves, given: list[Any], exact: list[Exact]) -> Sequence[Any]:
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


def _cond(params: Any, moves: Moves, given: list[Any], exact: list[Exact]) -> Sequence[Any]:
    index, *inputs = given
    branches = [
        lambda *inputs, branch=branch: _call(branch, moves, inputs, exact[1:])
        for branch in params["branches"]
    ]
    return jax.lax.switch(index, branches, *inputs)


LOOPS = {"while": _while, "scan": _scan, "cond": _cond}
