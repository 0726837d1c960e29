"""How operations of JAX are run on their kinds of numbers: a closed table."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from jax.extend.core import Jaxpr

from theorysim.enclosures.interpreter.arrays import dtype_of, kind
from theorysim.jaxprs.structure import CALLS

# rule(interpreter, equation, *values) returns the value of an operation, or a list of its values.
Rule = Callable[..., Any]

# The rules of a primitive by the kinds of its operands and results, a regular expression such as
# "ff>f": f for floats, i for integers, b for booleans, k for random keys.
Table = Mapping[str, Mapping[str, Rule]]


class Step(NamedTuple):
    """An operation of a program, and how it is run: by a rule, or as a program of its own.

    Neither where no rule is known. `integers` are the places of a rule's results that are integers.
    """

    equation: Any
    has_literals: bool
    body: Any | None
    rule: Rule | None
    integers: tuple[int, ...]


class Rulebook:
    """The rules of all known operations, and of every program, while it lives, which it takes.

    A program is run many times, and so is the body of a loop: its rules are looked up once.
    """

    def __init__(self, table: Table):
        self._table = {name: dict(rules) for name, rules in table.items()}
        self._steps: WeakKeyDictionary[Jaxpr, list[Step]] = WeakKeyDictionary()

    def find(self, equation: Any) -> Rule | None:
        """How an operation is run on its kinds of numbers, if the table says."""
        present = _kinds(equation)
        rules = self._table.get(equation.primitive.name, {})
        return next((rule for pattern, rule in rules.items() if _fits(pattern, present)), None)

    def steps(self, jaxpr: Jaxpr) -> list[Step]:
        """The operations of a program, in order."""
        if jaxpr not in self._steps:
            self._steps[jaxpr] = list(map(self._step, jaxpr.eqns))
        return self._steps[jaxpr]

    def _step(self, equation: Any) -> Step:
        name, results = equation.primitive.name, enumerate(equation.outvars)
        has_literals = any(hasattr(atom, "val") for atom in equation.invars)
        if name in CALLS:
            return Step(equation, has_literals, equation.params[CALLS[name]], None, ())
        integers = tuple(place for place, atom in results if kind(dtype_of(atom)) == "i")
        return Step(equation, has_literals, None, self.find(equation), integers)


def _kinds(equation: Any) -> str:
    """The kinds of operands and results."""
    operands, results = (
        "".join(kind(dtype_of(atom)) for atom in atoms)
        for atoms in (equation.invars, equation.outvars)
    )
    return f"{operands}>{results}"


@functools.lru_cache(maxsize=4096)
def _fits(pattern: str, present: str) -> bool:
    return re.fullmatch(pattern, present) is not None
