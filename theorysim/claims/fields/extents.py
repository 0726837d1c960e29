"""Lengths as formulas of sizes: "d", "steps + 1", "2*knots - 1"."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping

OPERATIONS: Mapping[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
}


def length_of(formula: str, sizes: Mapping[str, int]) -> int:
    """The number that a formula of sizes stands for: their names, integers, +, - and *.

    Raises:
        ValueError: for a name that is no size, with those there are, for another kind of formula,
            and for a length below zero.
    """
    try:
        tree = ast.parse(formula, mode="eval").body
    except SyntaxError:
        raise _no_formula(formula) from None
    length = _evaluate(tree, formula, sizes)
    if length < 0:
        raise ValueError(f"{formula!r} is {length} at {dict(sizes)}: expected at least 0")
    return length


def _evaluate(node: ast.expr, formula: str, sizes: Mapping[str, int]) -> int:
    match node:
        case ast.Name(id=name):
            if name not in sizes:
                raise ValueError(
                    f"{name!r} is no size: add {name}=Size(4) to the space; it has {list(sizes)}"
                )
            return sizes[name]
        case ast.Constant(value=int(number)) if not isinstance(number, bool):
            return number
        case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATIONS:
            sides = (_evaluate(side, formula, sizes) for side in (left, right))
            return OPERATIONS[type(op)](*sides)
        case _:
            raise _no_formula(formula)


def _no_formula(formula: str) -> ValueError:
    return ValueError(
        f"{formula!r} is no length: expected sizes, integers, +, - and *, as in 'steps + 1'"
    )
