"""Running JAX programs in an arithmetic of enclosures.

`jax.make_jaxpr` turns a formula into a program; an `Interpreter` runs it on NumPy arrays of
objects: floats are numbers of the arithmetic, booleans are True, False or None, integers and random
keys are known exactly.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from flint import arb

from theorysim.enclosures.arithmetic.base import Arithmetic, Undecided, both, negated
from theorysim.enclosures.arithmetic.numbers import literal, short_decimal
from theorysim.enclosures.interpreter.arrays import evaluate_exactly, map_entries, object_array
from theorysim.errors import UsageError
from theorysim.jaxprs.structure import CALLS

# rule(interpreter, equation, *values) returns the value of an operation, or a list of its values.
Rule = Callable[..., Any]


class UnknownPrimitive(UsageError):
    """A formula uses an operation of JAX for which no enclosure is known."""

    def __init__(self, operation: str, subject: str):
        super().__init__(
            f"certify does not know the operation {operation!r} in {subject}: "
            "state that part of the formula with other operations"
        )


class Interpreter:
    """Runs programs in one arithmetic, at one precision of python-flint.

    `rules` say how operations are run, by the name of their primitive; what they leave out is run
    by JAX where all is known exactly, else by the arithmetic's functions.

    Outside loops, an operation that is repeated on the same objects gives the same object, so that
    equal parts of a formula are known to be equal. `subject` is named in errors.
    """

    def __init__(self, arithmetic: Arithmetic, rules: Mapping[str, Rule], subject: str):
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
            Undecided: where the enclosures do not decide a branch.
        """
        self._results.clear()
        return self.call(program, inputs)

    def call(self, program: Any, inputs: list[Any]) -> list[Any]:
        """Outputs of a jaxpr inside the program, closed or not."""
        jaxpr = getattr(program, "jaxpr", program)
        constants = [self.constant(value) for value in getattr(program, "consts", ())]
        variables = (*jaxpr.constvars, *jaxpr.invars)
        known = dict(zip(variables, (*constants, *inputs), strict=True))

        def read(atom: Any) -> Any:
            return self.constant(atom.val, atom) if hasattr(atom, "val") else known[atom]

        for equation in jaxpr.eqns:
            outputs = self._outputs(equation, [read(atom) for atom in equation.invars])
            known.update(zip(equation.outvars, outputs, strict=True))
        return [read(atom) for atom in jaxpr.outvars]

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
        if _is_key(value):
            return value
        array = np.asarray(value)
        if jnp.issubdtype(array.dtype, np.floating):
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

    def _outputs(self, equation: Any, values: list[Any]) -> list[Any]:
        name = equation.primitive.name
        if name in CALLS:
            return self.call(equation.params[CALLS[name]], values)
        exact = all(_is_exact(atom.aval) for atom in (*equation.invars, *equation.outvars))
        if name in self.rules and not (exact and any(map(_is_key, values))):
            outputs = self.rules[name](self, equation, *values)
            outputs = outputs if isinstance(outputs, list) else [outputs]
            return [_typed(v, atom.aval) for v, atom in zip(outputs, equation.outvars)]
        if exact:
            return evaluate_exactly(equation, values)
        if name in self.arithmetic.functions:
            return [self.elementwise(name, *values)]
        raise UnknownPrimitive(name, self.subject)


def _is_key(value: Any) -> bool:
    return hasattr(value, "dtype") and jnp.issubdtype(value.dtype, jax.dtypes.prng_key)


def _is_exact(aval: Any) -> bool:
    return not jnp.issubdtype(aval.dtype, np.inexact)


def _typed(value: Any, aval: Any) -> Any:
    """Integers that were moved about as objects are integers again."""
    if isinstance(value, np.ndarray) and value.dtype == object and aval.dtype.kind in "iu":
        return value.astype(aval.dtype)
    return value
