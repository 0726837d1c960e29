"""Running JAX programs in an arithmetic of enclosures.

`jax.make_jaxpr` turns a formula into a program; an `Interpreter` runs it on arrays: floats are
objects of the arithmetic, booleans are True, False or None, integers and random keys are known
exactly. Which operation runs on which kinds of numbers is a closed table: what is not in it is
refused, and so is an integer that its type cannot hold.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from flint import arb

from theorysim.enclosures.arithmetic.base import Arithmetic, Undecided, both, negated
from theorysim.enclosures.arithmetic.integers import INTEGERS
from theorysim.enclosures.arithmetic.numbers import literal, short_decimal
from theorysim.enclosures.interpreter.arrays import (
    as_array,
    dtype_of,
    is_float,
    is_key,
    map_entries,
    object_array,
)
from theorysim.enclosures.interpreter.rulebook import Rulebook, Step
from theorysim.errors import UsageError
from theorysim.jaxprs.structure import opened


class UnknownPrimitive(UsageError):
    """A formula uses an operation of JAX for which no enclosure is known."""

    def __init__(self, operation: str, subject: str):
        super().__init__(
            f"certify does not know the operation {operation} in {subject}: "
            "state that part of the formula with other operations"
        )


class IntegerOverflow(UsageError):
    """An integer leaves the range of its type: machines wrap around, numbers do not."""

    def __init__(self, operation: str, value: int, dtype: Any, subject: str):
        super().__init__(
            f"{operation!r} gives the integer {value} in {subject}, which {dtype} cannot hold: use "
            "floats or a wider type"
        )


class Interpreter:
    """Runs programs in one arithmetic, at one precision of python-flint.

    `rules` says how operations are run; what it leaves out is refused.

    Outside loops, an operation that is repeated on the same objects gives the same object, so that
    equal parts of a formula are known to be equal. `subject` is named in errors.
    """

    def __init__(self, arithmetic: Arithmetic, rules: Rulebook, subject: str):
        self.arithmetic = arithmetic
        self.rules = rules
        self.subject = subject
        self.index_maps: dict[int, tuple[Any, np.ndarray]] = {}
        self._constants: dict[int, tuple[Any, Any]] = {}
        self._decimals: dict[Any, Any] = {}
        self._results: dict[tuple, tuple[Any, tuple]] = {}
        self._loops = 0

    def run(self, program: Any, inputs: list[Any]) -> list[Any]:
        """Outputs of a closed jaxpr.

        Raises:
            UnknownPrimitive: naming the operation that has no enclosure here.
            IntegerOverflow: for an integer that its type cannot hold.
            Undecided: where the enclosures do not decide a branch.
        """
        self._results.clear()
        return self.call(program, inputs)

    def call(self, program: Any, inputs: list[Any]) -> list[Any]:
        """Outputs of a jaxpr inside the program, closed or not."""
        jaxpr, constants = opened(program)
        known = dict(zip(jaxpr.constvars, map(self.constant, constants), strict=True))
        known.update(zip(jaxpr.invars, inputs, strict=True))

        def read(atom: Any) -> Any:
            return self.constant(atom.val, atom) if hasattr(atom, "val") else known[atom]

        for step in self.rules.steps(jaxpr):
            atoms = step.equation.invars
            values = list(map(read if step.has_literals else known.__getitem__, atoms))
            known.update(zip(step.equation.outvars, self._outputs(step, values), strict=True))
        return list(map(read, jaxpr.outvars))

    def expect(self, rounds: int, program: Any) -> None:
        """Told before a loop whose length is known: a reason to give up for who has little time."""

    def loop(self, program: Any, inputs: list[Any]) -> list[Any]:
        """One round of a loop; its results are not remembered, because there may be many."""
        self._loops += 1
        try:
            return self.call(program, inputs)
        finally:
            self._loops -= 1

    def constant(self, value: Any, place: Any = None) -> Any:
        """A constant as an array; what stands at one place of the program is one number."""
        place = value if place is None else place
        if id(place) not in self._constants:  # keeps the place alive, so that ids stay unique
            self._constants[id(place)] = place, self.lift(value)
        return self._constants[id(place)][1]

    def lift(self, value: Any) -> Any:
        """An array of JAX or NumPy as the interpreter holds it."""
        if is_key(value):
            return value
        array = np.asarray(value)
        if array.dtype.kind == "f":
            return object_array([self._literal(number) for number in array.flat], array.shape)
        return array.astype(object) if array.dtype == bool else array

    def _literal(self, number: Any) -> Any:
        if not np.isfinite(number) or short_decimal(number) is None:
            return self.arithmetic.lift(literal(number))
        return self.decimal(number)

    def decimal(self, number: Any) -> Any:
        """The number of a short decimal, which is the same wherever it stands."""
        place = np.asarray(number).dtype, number
        if place not in self._decimals:
            self._decimals[place] = self.arithmetic.lift(literal(number))
        return self._decimals[place]

    def floats(self, integers: Any) -> np.ndarray:
        """Integers as numbers of the arithmetic."""
        return map_entries(lambda n: self.arithmetic.lift(arb(int(n))), np.asarray(integers))

    def elementwise(self, name: str, *arrays: Any) -> np.ndarray:
        """A function of the arithmetic."""
        return self.apply(name, self.arithmetic.functions[name], *arrays)

    def apply(self, name: Any, function: Callable, *arrays: Any) -> np.ndarray:
        """Elementwise, each application to the same objects once; `name` tells functions apart."""
        if self._loops:
            return map_entries(function, *arrays)

        def remembered(*numbers: Any) -> Any:
            place = (name, *map(id, numbers))
            if place not in self._results:  # keeps the numbers alive, so that ids stay unique
                self._results[place] = function(*numbers), numbers
            return self._results[place][0]

        return map_entries(remembered, *arrays)

    def function(self, name: str, equation: Any) -> Callable[..., np.ndarray]:
        """An elementwise function of floats, or of exact integers if such are the results."""
        if is_float(equation.outvars[0]):
            return functools.partial(self.elementwise, name)
        return functools.partial(map_entries, INTEGERS[name])

    def compare(self, relation: str, a: Any, b: Any) -> bool | None:
        """A comparison of numbers, integers or booleans."""
        if isinstance(a, (bool, int, np.integer, type(None))):
            return None if a is None or b is None else bool(getattr(operator, relation)(a, b))
        at_most = self.arithmetic.at_most
        if relation in ("le", "gt"):
            outcome = at_most(a, b)
        elif relation in ("ge", "lt"):
            outcome = at_most(b, a)
        else:
            outcome = both(at_most(a, b), at_most(b, a))
        return negated(outcome) if relation in ("gt", "lt", "ne") else outcome

    def decide(self, relation: str, a: Any, b: Any) -> bool:
        """The same where a program has to branch.

        Raises:
            Undecided: where the enclosures overlap.
        """
        outcome = self.compare(relation, a, b)
        if outcome is None:
            raise Undecided
        return outcome

    def either(self, a: Any, b: Any) -> Any:
        """What encloses two alternatives between which nothing decides."""
        if a is b:
            return a
        if isinstance(a, (bool, type(None))):
            return a if a == b else None
        if isinstance(a, (int, np.integer)):
            if a != b:
                raise Undecided
            return a
        return self.arithmetic.hull(a, b)

    def require(self, known: bool, operation: str) -> None:
        """Refuse the program where an operation is used in a way that has no rule.

        Raises:
            UnknownPrimitive: naming it.
        """
        if not known:
            raise UnknownPrimitive(repr(operation), self.subject)

    def _outputs(self, step: Step, values: list[Any]) -> list[Any]:
        if step.body is not None:
            return self.call(step.body, values)
        if step.rule is None:
            raise self._unknown(step.equation)
        outputs = step.rule(self, step.equation, *values)
        outputs = list(map(as_array, outputs if isinstance(outputs, list) else [outputs]))
        for place in step.integers:
            atom, name = step.equation.outvars[place], step.equation.primitive.name
            outputs[place] = self._held(outputs[place], atom.aval, name)
        return outputs

    def _unknown(self, equation: Any) -> UnknownPrimitive:
        atoms = *equation.invars, *equation.outvars
        types = ", ".join(dict.fromkeys(str(dtype_of(atom)) for atom in atoms))
        return UnknownPrimitive(f"{equation.primitive.name!r} of {types}", self.subject)

    def _held(self, value: Any, aval: Any, operation: str) -> Any:
        """Integers as an array of their type.

        Raises:
            IntegerOverflow: where the type does not hold them.
        """
        if value.dtype == aval.dtype:
            return value
        info = np.iinfo(aval.dtype)
        wrong = next((n for n in value.ravel().tolist() if not info.min <= n <= info.max), None)
        if wrong is not None:
            raise IntegerOverflow(operation, wrong, aval.dtype, self.subject)
        return value.astype(aval.dtype)
