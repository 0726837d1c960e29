"""How programs of JAX repeat and branch."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from theorysim.enclosures.arithmetic.base import Undecided
from theorysim.enclosures.interpreter.arrays import by_jax, is_key, kind, require_decided
from theorysim.enclosures.interpreter.interpreter import Interpreter
from theorysim.enclosures.interpreter.rulebook import Table
from theorysim.jaxprs.structure import counters

# A loop that has not come to its end after so many rounds is given up.
LONGEST_LOOP = 10**6


def _row(array: Any, place: int) -> Any:
    return array[place : place + 1].reshape(array.shape[1:])


def _scan(interpreter: Interpreter, equation: Any, *operands: Any) -> list[Any]:
    p = equation.params
    fixed, state = p["num_consts"], p["num_consts"] + p["num_carry"]
    constants, carry, inputs = operands[:fixed], list(operands[fixed:state]), operands[state:]
    length = p["length"]
    kept: list[list[Any]] = [[] for _ in equation.outvars[p["num_carry"] :]]
    interpreter.expect(length, p["jaxpr"])
    for place in reversed(range(length)) if p["reverse"] else range(length):
        rows = [_row(array, place) for array in inputs]
        results = interpreter.loop(p["jaxpr"], [*constants, *carry, *rows])
        carry = results[: p["num_carry"]]
        for rounds, result in zip(kept, results[p["num_carry"] :]):
            rounds.append(result)
    paths = [rounds[::-1] if p["reverse"] else rounds for rounds in kept]
    outvars = equation.outvars[p["num_carry"] :]
    return carry + [_stacked(path, v.aval) for path, v in zip(paths, outvars)]


def _stacked(path: list[Any], aval: Any) -> Any:
    if path:
        return jnp.stack(path) if isinstance(path[0], jax.Array) else np.stack(path)
    dtype = object if kind(aval.dtype) in "fb" else aval.dtype
    return np.empty(aval.shape, dtype)


def _while(interpreter: Interpreter, equation: Any, *operands: Any) -> list[Any]:
    p = equation.params
    tests, bodies = p["cond_nconsts"], p["cond_nconsts"] + p["body_nconsts"]
    state = list(operands[bodies:])
    if (counting := counters(equation)) is not None:
        counted, limit = (state[part] for part in counting)
        interpreter.expect(int(np.max(limit - counted, initial=0)), p["body_jaxpr"])
    for _ in range(LONGEST_LOOP):
        (test,) = interpreter.loop(p["cond_jaxpr"], [*operands[:tests], *state])
        goes_on = require_decided(test)
        if not goes_on.any():
            return state
        moved = interpreter.loop(p["body_jaxpr"], [*operands[tests:bodies], *state])
        state = [_advanced(goes_on, new, old) for new, old in zip(moved, state)]
    raise Undecided


def _advanced(goes_on: np.ndarray, new: Any, old: Any) -> Any:
    """In a loop under vmap, whose test leads with the mapped axes, each lane stops by itself."""
    if goes_on.all():
        return new
    where = jnp.where if is_key(new) else np.where
    return where(goes_on.reshape(*goes_on.shape, *[1] * (new.ndim - goes_on.ndim)), new, old)


def _cond(interpreter: Interpreter, equation: Any, index: np.ndarray, *operands: Any) -> list[Any]:
    branches = equation.params["branches"]
    chosen = int(require_decided(index).item())
    return interpreter.call(branches[min(max(chosen, 0), len(branches) - 1)], list(operands))


RANDOM = {
    "random_seed": "i>k",
    "random_wrap": "i>k",
    "random_unwrap": "k>i",
    "random_bits": "k>i",
    "random_split": "k>k",
    "random_clone": "k>k",
    "random_fold_in": "ki>k",
    "threefry2x32": "iiii>ii",
}

CONTROL: Table = {
    "scan": {"[fibk]*>[fibk]*": _scan},
    "while": {"[fibk]*>[fibk]*": _while},
    "cond": {"i[fibk]*>[fibk]*": _cond},
    "platform_index": {">i": by_jax},
    **{name: {pattern: by_jax} for name, pattern in RANDOM.items()},
}
