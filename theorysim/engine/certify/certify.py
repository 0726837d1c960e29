"""Certifying claims with enclosures: at one instance, or over a box of the space.

What is certified is the claim read over the real numbers: no rounding of floating point takes part
(docs/guide/certify.md states which numbers the floats of a formula and of an instance stand for).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jax
import numpy as np

from theorysim.claims.hypotheses import Strict
from theorysim.claims.instance import Instance, field_values, size_items
from theorysim.claims.kinds import Claim
from theorysim.claims.reading import ResolvedReading
from theorysim.claims.theorem import Theorem
from theorysim.enclosures import (
    MAX_BOXES,
    MAX_PRECISION,
    PRECISION,
    BoxOutcome,
    BoxProgress,
    Decision,
    Formula,
    Outcome,
    Problem,
    certify_problems,
    decide,
    trace,
)
from theorysim.enclosures.arithmetic import UNDEFINED
from theorysim.enclosures.interpreter import Interpreter, object_array
from theorysim.engine import registry
from theorysim.engine.certify.report import Certificate, CertifyReport
from theorysim.engine.certify.spaces import (
    Piece,
    check_order,
    describe_box,
    enclose,
    order_margins,
    pieces,
    spell,
)
from theorysim.engine.measure.errors import runs, simulation_keys
from theorysim.engine.measure.instance_files import read_instance
from theorysim.engine.measure.setup import select_readings
from theorysim.errors import UsageError

# With fewer bits even literals lose digits.
LEAST_PRECISION = 32

# Formulas that are made for floating point drop terms below its rounding, some dozen of them.
FORMULA_ROUNDING = 64 * float(np.finfo(np.float64).eps)
TINY = (
    "by {:.1e} of both sides only: it may come from terms that the formula drops because they are "
    "below the rounding of floating point"
)


def certify(
    theorem: Theorem | str,
    *,
    claim: str | None = None,
    reading: str | None = None,
    instance: Mapping[str, Any] | str | Path | None = None,
    box: Mapping[str, Any] | None = None,
    precision: int = PRECISION,
    max_precision: int = MAX_PRECISION,
    max_boxes: int = MAX_BOXES,
    progress: BoxProgress | None = None,
) -> CertifyReport:
    """Certify claims at one instance, or over a box of the space, with enclosures.

    Args:
        theorem: a theorem or its id.
        claim, reading: certify only these. A named claim that cannot be certified is an error;
            otherwise its certificate says so.
        instance: JSON data or a file with it, such as the counterexample of `falsify`; the
            precision is doubled until the sign of every slack is certain.
        box: {field: (low, high) or a number}; the space's own box for fields that it leaves out.
            Integers and choices are enumerated, sizes take their defaults unless they are named.
        precision, max_precision: bits to start with (boxes keep them) and to end with.
        max_boxes: budget per claim.
        progress: called with (boxes examined, budget).

    Raises:
        UsageError: for an unknown id, name or value, and for a named claim that uses what has no
            enclosure, with the remedy.
    """
    if isinstance(theorem, str):
        theorem = registry.theorem(theorem)
    if instance is not None and box is not None:
        raise UsageError("an instance is one point: leave out the box")
    if not LEAST_PRECISION <= precision <= max_precision:
        raise UsageError(
            f"precision {precision} to {max_precision}: expected at least {LEAST_PRECISION} bits, "
            "and no fewer to end with than to start with"
        )
    if max_boxes < 1:
        raise UsageError(f"max_boxes {max_boxes}: expected at least 1")
    with jax.enable_x64(True):
        targets = [(r, c) for r in select_readings(theorem, reading, claim) for c in r.claims]
        parts = [] if instance is not None else pieces(theorem.space, box or {})
        if instance is not None:
            job: Any = _AtInstance(theorem, _read(theorem, instance), precision, max_precision)
        else:
            job = _OnBox(theorem, parts, precision, max_precision, max_boxes, progress)
        certificates = tuple(_certificate(job, r, c, claim is not None) for r, c in targets)
    mode = "box" if instance is None else "instance"
    primary = theorem.primary().name
    ranges = describe_box(parts)
    return CertifyReport(theorem.id, theorem.title, mode, primary, certificates, ranges)


def _certificate(job: Any, reading: ResolvedReading, claim: Claim, named: bool) -> Certificate:
    empty = Certificate(
        reading.name, claim.name, str(claim.kind), claim.statement, Outcome.UNSUPPORTED
    )
    try:
        return job(reading, claim, empty)
    except UsageError as error:
        if named:
            raise
        return dataclasses.replace(empty, note=str(error))


def _formula(
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
        given = None if claim.where is None else claim.where(run)
        both = claim.lhs(run), claim.rhs(run)
        sources.update(run.sources)
        return *both, given

    relation = claim.relation, claim.strict, subject
    formula = _trace(theorem, reading, sides, sizes, *relation)
    if sources:
        raise UsageError(f"{subject} has an error of {' and '.join(sorted(sources))}: verify it")
    if formula.needs[-2]:
        raise UsageError(f"{subject} integrates an ODE, whose error no enclosure bounds: verify it")
    return formula


def _hypotheses(theorem: Theorem, reading: ResolvedReading, sizes: Mapping[str, int]) -> Formula:
    """A relation that holds wherever the hypotheses are met."""
    subject = f"the hypotheses of {theorem.id}, reading {reading.name!r}"
    return _trace(theorem, reading, lambda x, keys: (0, 0, None), sizes, "equal", False, subject)


def _trace(
    theorem: Theorem,
    reading: ResolvedReading,
    sides: Callable[[Instance, Any], tuple],
    sizes: Mapping[str, int],
    relation: str,
    strict: bool,
    subject: str,
) -> Formula:
    """`sides(x, keys) -> (lhs, rhs, given or None)` under the hypotheses of a reading."""
    names, items = list(theorem.space.fields), tuple(sizes.items())

    def points(*inputs: Any) -> tuple:
        *values, tolerance_scale, key = inputs
        x = Instance(dict(zip(names, values)), items, tolerance_scale)
        hypotheses = reading.hypotheses.values()
        closed = [margin(x) for margin in hypotheses if not isinstance(margin, Strict)]
        opened = [margin(x) for margin in hypotheses if isinstance(margin, Strict)]
        found = sides(x, simulation_keys(jax.random.wrap_key_data(key), theorem.keys))
        return *found, closed + order_margins(theorem.space, x), opened

    like = jax.eval_shape(lambda key: theorem.space.sample(key, sizes), jax.random.key(0))
    examples = [
        *(field_values(like)[name] for name in names),
        np.float64(1),
        np.zeros(2, np.uint32),
    ]
    return trace(points, examples, relation, strict, subject)


def _read(theorem: Theorem, instance: Mapping[str, Any] | str | Path) -> tuple[Instance, Any]:
    """The instance and the data of its key."""
    x, key = read_instance(theorem, instance)
    check_order(theorem.space, x)
    return x, np.zeros(2, np.uint32) if key is None else key


@dataclass(frozen=True)
class _AtInstance:
    theorem: Theorem
    instance: tuple[Instance, Any]
    precision: int
    max_precision: int
    excluded: dict[str, bool] = field(default_factory=dict)

    def __call__(self, reading: ResolvedReading, claim: Claim, empty: Certificate) -> Certificate:
        x, key = self.instance
        sizes = dict(size_items(x))
        data = {"theorem": self.theorem.id, **self.theorem.space.to_json(x), "key": key.tolist()}
        if reading.name not in self.excluded:
            margins = self._decision(_hypotheses(self.theorem, reading, sizes))
            self.excluded[reading.name] = margins.outcome is Outcome.OUTSIDE
        if self.excluded[reading.name]:
            return _with_decision(empty, Decision(Outcome.OUTSIDE), data)
        return _with_decision(
            empty, self._decision(_formula(self.theorem, reading, claim, sizes)), data
        )

    def _decision(self, formula: Formula) -> Decision:
        x, key = self.instance
        fields = self.theorem.space.fields

        def inputs(interpreter: Interpreter) -> list[Any]:
            values = [enclose(interpreter, fields[name], field_values(x)[name]) for name in fields]
            return [*values, object_array([UNDEFINED], ()), key]

        return decide(formula, inputs, self.precision, self.max_precision)


def _with_decision(
    certificate: Certificate, decision: Decision, instance: Mapping[str, Any]
) -> Certificate:
    numbers = {name: spell(value) for name, value in instance["values"].items()}
    made = {name: value for name, value in vars(decision).items() if name != "relative"}
    tiny = decision.outcome is Outcome.VIOLATED and decision.relative < FORMULA_ROUNDING
    return dataclasses.replace(
        certificate,
        **made,
        instance=dict(instance),
        numbers=numbers,
        note=TINY.format(decision.relative) if tiny else "",
    )


@dataclass(frozen=True)
class _OnBox:
    theorem: Theorem
    pieces: list[Piece]
    precision: int
    max_precision: int
    max_boxes: int
    progress: BoxProgress | None

    def __call__(self, reading: ResolvedReading, claim: Claim, empty: Certificate) -> Certificate:
        formulas: dict[tuple, Formula] = {}
        kept: dict[str, Piece] = {}
        for piece in self.pieces:
            sizes = tuple(piece.sizes.items())
            if sizes not in formulas:
                formulas[sizes] = _formula(self.theorem, reading, claim, piece.sizes)
            kept.setdefault(_what_matters(formulas[sizes], piece), piece)
        pieces = list(kept.values())
        problems = [_problem(formulas[tuple(piece.sizes.items())], piece) for piece in pieces]
        found = certify_problems(
            problems, self.precision, self.max_precision, self.max_boxes, self.progress
        )
        return self._with_outcome(empty, found, pieces)

    def _with_outcome(
        self, empty: Certificate, found: BoxOutcome, pieces: list[Piece]
    ) -> Certificate:
        if found.place is not None and found.decision is not None:
            number, point = found.place
            data = {"theorem": self.theorem.id, **pieces[number].instance(point)}
            empty = _with_decision(empty, found.decision, data)
        return dataclasses.replace(
            empty,
            outcome=found.outcome,
            boxes=found.boxes,
            dropped=found.dropped,
            depth=found.depth,
            left=found.left,
            resisting=found.resisting,
        )


def _what_matters(formula: Formula, piece: Piece) -> str:
    """Pieces that differ only in what does not enter the formula are examined once."""
    names = zip(piece.space.fields, formula.needs)
    entering = [
        (name, piece.fixed[name]) for name, needed in names if needed and name in piece.fixed
    ]
    return repr((piece.sizes, [(name, np.asarray(value).tolist()) for name, value in entering]))


def _problem(formula: Formula, piece: Piece) -> Problem:
    def arrange(interpreter: Interpreter, numbers: list[Any]) -> list[Any]:
        undefined = object_array([interpreter.arithmetic.lift(UNDEFINED)], ())
        return [*piece.arrays(interpreter, numbers), undefined, np.zeros(2, np.uint32)]

    return Problem(formula, piece.coordinates, arrange, piece.names())
