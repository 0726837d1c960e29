"""A program parted in two: what some of its inputs do not change, and what they do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var

from theorysim.jaxprs.largest import largest_of
from theorysim.jaxprs.structure import CALLS, OPAQUE, applied, opened

# Calls that say themselves how they are called with many, or what their derivatives are.
WHOLE = OPAQUE | {"custom_jvp_call", "custom_vjp_call"}


class _Place:
    """Where a value is, or will be once the inputs that vary are known."""


class Parted(NamedTuple):
    """What is left of a program to be computed, as `finish(*varying inputs)`, flat.

    `largest` is what `largest_array` says of it.
    """

    finish: Callable[..., list[Any]]
    largest: int


def parted(program: ClosedJaxpr, inputs: Sequence[Any]) -> Parted:
    """Compute what does not depend on the inputs that are None, and tell the rest."""
    known: dict[_Place, Any] = {}
    later: list[tuple[JaxprEqn, list[_Place], list[_Place]]] = []

    def place(value: Any) -> _Place:
        new = _Place()
        if value is not None:
            known[new] = value
        return new

    def walk(body: Jaxpr, constants: Sequence[Any], given: list[_Place]) -> list[_Place]:
        at: dict[Var, _Place] = dict(zip(body.constvars, map(place, constants), strict=True))
        at |= dict(zip(body.invars, given, strict=True))

        def read(variable: Var | Literal) -> _Place:
            return place(variable.val) if isinstance(variable, Literal) else at[variable]

        for equation in body.eqns:
            sources, name = list(map(read, equation.invars)), equation.primitive.name
            if name in CALLS and name not in WHOLE:
                found = walk(*opened(equation.params[CALLS[name]]), sources)
            elif all(source in known for source in sources):
                found = list(map(place, applied(equation, [known[s] for s in sources])))
            else:
                found = [place(None) for _ in equation.outvars]
                later.append((equation, sources, found))
            at |= dict(zip(equation.outvars, found, strict=True))
        return list(map(read, body.outvars))

    given = list(map(place, inputs))
    results = walk(program.jaxpr, program.consts, given)

    def finish(*varying: Any) -> list[Any]:
        values = known | dict(zip((g for g in given if g not in known), varying, strict=True))
        for equation, sources, found in later:
            outputs = applied(equation, [values[source] for source in sources])
            values |= dict(zip(found, outputs, strict=True))
        return [values[result] for result in results]

    rest = [(equation, [s not in known for s in sources]) for equation, sources, _ in later]
    return Parted(finish, largest_of(rest))
