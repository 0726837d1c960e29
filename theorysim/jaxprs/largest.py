"""How much of a program's arrays its processor has to keep at hand, of each input of a batch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from jax.extend.core import Jaxpr, JaxprEqn, Var

from theorysim.jaxprs.structure import CALLS, OPAQUE, bodies, size

# These read and write a part of an array alone.
_READERS = ("gather", "dynamic_slice")
_WRITERS = ("scatter", "dynamic_update_slice")

# Bytes from which on a batch of arrays that are read once or twice is worth being cut, too: what
# takes 130 kB for each key (transferability/lemma-5) is then a third faster, and need not be handed
# out by the system anew each time; what takes 144 bytes (low-rank/lemma-3) is a third slower.
LARGE = 1 << 16


def largest_array(program: Jaxpr, varies: Sequence[bool] | None = None) -> int:
    """Bytes of the largest array that a step of an innermost loop reads or writes.

    Of a program without loops, which reads little again, the largest array, if it is `LARGE`. Only
    arrays count that depend on inputs which vary; the others are made once for a batch. Of what a
    loop stacks a step writes a row. Calls that say themselves how they are called with many are not
    looked into.

    Args:
        program: of one input of the batch.
        varies: of every input of the program, whether it does; all, unless it is said.
    """
    chosen = [True] * len(program.invars) if varies is None else varies
    return largest_of(varying(program, chosen))


def largest_of(operations: Iterable[tuple[JaxprEqn, Sequence[bool]]]) -> int:
    """The same of operations, each with which of its operands vary."""
    in_loops, elsewhere = _seen(operations)
    return max(in_loops or [bytes for bytes in elsewhere if bytes >= LARGE], default=0)


def varying(program: Jaxpr, varies: Sequence[bool]) -> Iterator[tuple[JaxprEqn, list[bool]]]:
    """The operations of a program that depend on what varies, and by which operands."""
    known = {v for v, own in zip(program.invars, varies, strict=True) if own}
    for equation in program.eqns:
        own = [isinstance(v, Var) and v in known for v in equation.invars]
        if any(own):
            known.update(equation.outvars)
            yield equation, own


def _seen(
    operations: Iterable[tuple[JaxprEqn, Sequence[bool]]],
) -> tuple[list[int], list[int]]:
    """Bytes of the largest array in each innermost loop, and of all arrays outside of loops."""
    in_loops: list[int] = []
    elsewhere: list[int] = []
    for equation, varies in operations:
        name, inner = equation.primitive.name, _inside(equation, list(varies))
        if name in ("scan", "while"):
            for body, own in inner:
                deeper, here = _seen(varying(body, own))
                in_loops += deeper or [max(here, default=0)]
        elif inner and name not in OPAQUE:
            for body, own in inner:
                deeper, here = _seen(varying(body, own))
                in_loops, elsewhere = in_loops + deeper, elsewhere + here
        else:
            elsewhere += _touched(equation, varies)
    return in_loops, elsewhere


def _inside(equation: JaxprEqn, varies: list[bool]) -> list[tuple[Jaxpr, list[bool]]]:
    """The programs inside, and which of their inputs vary: the state of a loop is taken to."""
    name, inner = equation.primitive.name, bodies(equation)
    if name in CALLS:
        given = [varies]
    elif name == "cond":
        given = [varies[1:]] * len(inner)
    elif name == "scan":
        given = [varies[: equation.params["num_consts"]]]
    elif name == "while":
        of_test = equation.params["cond_nconsts"]
        given = [varies[:of_test], varies[of_test:][: equation.params["body_nconsts"]]]
    else:  # such as the sum of a reduction
        return []
    return [
        (body, [*own, *[True] * (len(body.invars) - len(own))])
        for body, own in zip(inner, given, strict=True)
    ]


def _touched(equation: JaxprEqn, varies: Sequence[bool]) -> list[int]:
    """Bytes of the arrays that an operation reads and writes."""
    name, written = equation.primitive.name, map(_bytes, equation.outvars)
    if name.startswith(_READERS):
        return list(written)
    if name.startswith(_WRITERS):
        return [_bytes(v) for v in equation.invars[1:]]
    read = (_bytes(v) for v, own in zip(equation.invars, varies, strict=True) if own)
    return [*written, *read]


def _bytes(variable: Any) -> int:
    return size(variable) * getattr(variable.aval, "dtype", np.dtype(bool)).itemsize
