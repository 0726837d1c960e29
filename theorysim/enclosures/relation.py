"""A relation between two formulas, as a program that runs in any arithmetic of enclosures."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from flint import arb
from jax.interpreters.partial_eval import dce_jaxpr
from jaxtyping import Array

from theorysim.enclosures.interpreter.interpreter import Interpreter
from theorysim.errors import UsageError


@dataclass(frozen=True)
class RelationValues:
    """The values of a relation at its points; `margins` and `open_margins` are common to all.

    A point counts where the margins are >= 0 and the open ones > 0.
    """

    shape: tuple[int, ...]
    slack: list[Any]
    lhs: list[Any]
    rhs: list[Any]
    condition: list[Any]
    margins: list[Any]
    open_margins: list[Any]

    @property
    def every_margin(self) -> list[Any]:
        """Margins and open margins: where one is negative, the point does not count."""
        return [*self.margins, *self.open_margins]


@dataclass(frozen=True)
class Formula:
    """A relation as a program: inputs -> what `RelationValues` names.

    The slack is to be >= 0 (`strict`: > 0) at every point whose `condition` is >= 0, if no margin
    is negative and all open ones are positive. `needs` tells which of the traced inputs enter.
    """

    program: Any
    needs: tuple[bool, ...]
    strict: bool
    equality: bool
    subject: str

    def run(self, interpreter: Interpreter, inputs: list[Any]) -> RelationValues:
        """All points of the relation in the arithmetic of the interpreter.

        Raises:
            UnknownPrimitive: naming the operation that has no enclosure.
            Undecided: where the enclosures do not decide a branch.
        """
        used = [value for value, needed in zip(inputs, self.needs) if needed]
        outputs = interpreter.run(self.program, used)
        return RelationValues(outputs[0].shape, *(output.ravel().tolist() for output in outputs))

    def is_fine(self, slack: arb) -> bool:
        """Whether the relation certainly holds."""
        return slack > 0 if self.strict else slack >= 0

    def is_bad(self, slack: arb) -> bool:
        """Whether the relation certainly fails."""
        return slack <= 0 if self.strict else slack < 0


def trace(
    relation: Callable[..., tuple],
    examples: Iterable[Any],
    kind: str,
    strict: bool,
    subject: str,
) -> Formula:
    """The formula of `relation(*examples) -> (lhs, rhs, condition or None, margins, open ones)`.

    `kind` is "at_most", "at_least" or "equal"; `subject` is named in errors.

    Raises:
        UsageError: for complex sides or margins, and for margins that are true or false: both would
            count as met.
    """

    def refuse_complex(values: Any) -> None:
        if any(jnp.iscomplexobj(value) for value in jax.tree.leaves(values)):
            raise UsageError(
                f"complex numbers in {subject} have no order: compare real and imaginary parts"
            )

    def refuse_truths(margins: Any) -> None:
        if any(jnp.asarray(margin).dtype == bool for margin in jax.tree.leaves(margins)):
            raise UsageError(
                f"a condition of {subject} is true or false; give a number that is >= 0 where it "
                "holds: `b - a` for `a <= b`"
            )

    def points(*inputs: Any) -> tuple[Array, ...]:
        lhs, rhs, condition, *margins = relation(*inputs)
        refuse_complex((lhs, rhs, condition, margins))
        refuse_truths((condition, margins))
        lhs, rhs = jnp.broadcast_arrays(jnp.asarray(lhs, float), jnp.asarray(rhs, float))
        slack = {
            "at_most": lambda: rhs - lhs,
            "at_least": lambda: lhs - rhs,
            "equal": lambda: -jnp.abs(lhs - rhs),
        }
        condition = jnp.zeros(()) if condition is None else jnp.asarray(condition, float)
        condition = jnp.broadcast_to(condition, lhs.shape)
        return slack[kind](), lhs, rhs, condition, *map(_concatenate, margins)

    with jax.enable_x64(True):
        closed = jax.make_jaxpr(points)(*examples)
    jaxpr, needs = dce_jaxpr(closed.jaxpr, [True] * len(closed.jaxpr.outvars))
    program = closed.replace(jaxpr=jaxpr)
    return Formula(program, tuple(needs), strict, kind == "equal", subject)


def _concatenate(margins: list[Any]) -> Array:
    flat = [jnp.ravel(jnp.asarray(margin, float)) for margin in margins]
    return jnp.concatenate(flat) if flat else jnp.zeros(0)
