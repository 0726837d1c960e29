"""Claims and hypotheses as formulas, and instances and boxes as their inputs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from theorysim.claims.instance import Instance, field_values
from theorysim.claims.kinds import Claim
from theorysim.claims.margins import Margin, is_strict
from theorysim.claims.reading import ResolvedReading
from theorysim.claims.run import Run
from theorysim.claims.theorem import Theorem
from theorysim.enclosures import Formula, trace
from theorysim.enclosures.arithmetic import UNDEFINED
from theorysim.enclosures.interpreter import Interpreter, object_array
from theorysim.engine.certify.spaces import Piece, enclose, order_margins
from theorysim.engine.measure.errors import runs, simulation_keys
from theorysim.engine.measure.making import no_key, shapes_of
from theorysim.errors import UsageError


def claim_formula(
    theorem: Theorem, reading: ResolvedReading, claim: Claim, sizes: Mapping[str, int]
) -> Formula:
    """The claim as a program of the fields' values, the tolerance scale and the key.

    Raises:
        UsageError: for a claim that no enclosure decides.
    """
    subject = f"claim {claim.name!r} of {theorem.id}, reading {reading.name!r}"
    if claim.relation is None:
        raise UsageError(f"{subject} is decided by many runs together ({claim.kind}): verify it")
    sources: set[str] = set()

    def sides(x: Instance, keys: Any) -> tuple:
        run = runs((reading,), x, keys)[reading.name]
        given = None if claim.where is None else _condition(claim.where, run)
        both = claim.sides(run)
        sources.update(run.sources)
        return *both, given

    relation = claim.relation, claim.strict, subject
    formula = _trace(theorem, reading.hypotheses.values(), sides, sizes, *relation)
    if sources:
        raise UsageError(f"{subject} has an error of {' and '.join(sorted(sources))}: verify it")
    if formula.needs[-2]:
        raise UsageError(f"{subject} integrates an ODE, whose error no enclosure bounds: verify it")
    return formula


def _condition(where: Margin, run: Run) -> Any:
    """A margin that is at least 0 exactly where the claim says something."""
    margin = jnp.asarray(where(run))
    is_number = margin.dtype != bool  # truths are refused as they are
    return jnp.where(margin > 0, margin, -1.0) if is_strict(where) and is_number else margin


def hypotheses_formula(
    theorem: Theorem, hypotheses: Collection[Margin], sizes: Mapping[str, int], subject: str
) -> Formula:
    """A relation that holds wherever hypotheses are met; `subject` is named in errors."""

    def holds(x: Instance, keys: Any) -> tuple:
        del x, keys
        return 0, 0, None

    return _trace(theorem, hypotheses, holds, sizes, "equal", False, subject)


def _trace(
    theorem: Theorem,
    hypotheses: Collection[Margin],
    sides: Callable[[Instance, Any], tuple],
    sizes: Mapping[str, int],
    relation: str,
    strict: bool,
    subject: str,
) -> Formula:
    """`sides(x, keys) -> (lhs, rhs, given or None)` under hypotheses."""
    names, items = list(theorem.space.fields), tuple(sizes.items())

    def points(*inputs: Any) -> tuple:
        *values, tolerance_scale, key = inputs
        x = Instance(dict(zip(names, values)), items, tolerance_scale)
        closed = [margin(x) for margin in hypotheses if not is_strict(margin)]
        opened = [margin(x) for margin in hypotheses if is_strict(margin)]
        found = sides(x, simulation_keys(jax.random.wrap_key_data(key), theorem.keys))
        return *found, closed + order_margins(theorem.space, x), opened

    examples = [*shapes_of(theorem, items), np.float64(1), no_key()]
    return trace(points, examples, relation, strict, subject)


def enters_key(formula: Formula) -> bool:
    """Whether the formula depends on the random key."""
    return formula.needs[-1]


def instance_inputs(
    theorem: Theorem, x: Instance, key: np.ndarray
) -> Callable[[Interpreter], list[Any]]:
    """The inputs of a formula at an instance, for any interpreter."""
    fields, values = theorem.space.fields, field_values(x)

    def inputs(interpreter: Interpreter) -> list[Any]:
        enclosed = [enclose(interpreter, fields[name], values[name]) for name in fields]
        return [*enclosed, _undefined(interpreter), key]

    return inputs


def piece_inputs(piece: Piece) -> Callable[[Interpreter, list[Any]], list[Any]]:
    """The inputs of a formula from a number per coordinate; the key does not enter."""
    key = no_key()

    def inputs(interpreter: Interpreter, numbers: list[Any]) -> list[Any]:
        return [*piece.arrays(interpreter, numbers), _undefined(interpreter), key]

    return inputs


def _undefined(interpreter: Interpreter) -> np.ndarray:
    return object_array([interpreter.arithmetic.lift(UNDEFINED)], ())
