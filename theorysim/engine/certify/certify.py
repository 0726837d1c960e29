"""Certifying claims with enclosures: at one instance, or over a box of the space.

What is certified is the claim read over the real numbers: no rounding of floating point takes part
(docs/guide/certify.md states which numbers the floats of a formula and of an instance stand for).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from theorysim.claims.instance import Instance, size_items
from theorysim.claims.kinds import Claim
from theorysim.claims.reading import ResolvedReading
from theorysim.claims.theorem import Theorem
from theorysim.counts import checked_count
from theorysim.enclosures import (
    MAX_BOXES,
    MAX_PRECISION,
    PRECISION,
    BoxOutcome,
    Decision,
    Formula,
    Outcome,
    Problem,
    certify_problems,
    decide,
)
from theorysim.engine import registry
from theorysim.engine.certify.formulas import (
    claim_formula,
    enters_key,
    hypotheses_formula,
    instance_inputs,
    piece_inputs,
)
from theorysim.engine.certify.report import Certificate, CertifyReport, Tree, tiny_note
from theorysim.engine.certify.spaces import Piece, check_order, describe_box, pieces, spell
from theorysim.engine.measure.instance_files import read_instance
from theorysim.engine.measure.making import no_key
from theorysim.engine.measure.setup import refuse_experiment, select_readings
from theorysim.errors import UsageError
from theorysim.jaxprs.fingerprint import fingerprint
from theorysim.precision import in_precision
from theorysim.progress import Progress, silent

# With fewer bits even literals lose digits.
LEAST_PRECISION = 32


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
    progress: Progress = silent,
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
        progress: called with the boxes examined, the budget, and what is being done.

    Raises:
        UsageError: for an unknown id, name or value, and for a named claim that uses what has no
            enclosure, with the remedy.
    """
    if isinstance(theorem, str):
        theorem = registry.theorem(theorem)
    refuse_experiment(theorem, "certified")
    if instance is not None and box is not None:
        raise UsageError("an instance is one point: leave out the box")
    if not LEAST_PRECISION <= precision <= max_precision:
        raise UsageError(
            f"precision {precision} to {max_precision}: expected at least {LEAST_PRECISION} bits, "
            "and no fewer to end with than to start with"
        )
    max_boxes = checked_count(max_boxes, f"max_boxes {max_boxes!r}")
    with in_precision(double=True):
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
    settings = {"precision": precision, "max_precision": max_precision, "max_boxes": max_boxes}
    given = {name: np.asarray(value).tolist() for name, value in (box or {}).items()}
    return CertifyReport(
        theorem.id, theorem.title, mode, primary, certificates, ranges, given, settings
    )


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


def _read(theorem: Theorem, instance: Mapping[str, Any] | str | Path) -> tuple[Instance, Any]:
    """The instance and the data of its key."""
    x, key = read_instance(theorem, instance)
    check_order(theorem.space, x)
    return x, no_key() if key is None else key


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
            subject = f"the hypotheses of {self.theorem.id}, reading {reading.name!r}"
            margins = reading.hypotheses.values()
            decision = self._decision(hypotheses_formula(self.theorem, margins, sizes, subject))
            self.excluded[reading.name] = decision.outcome is Outcome.OUTSIDE
        if self.excluded[reading.name]:
            return _with_decision(empty, Decision(Outcome.OUTSIDE), data)
        formula = claim_formula(self.theorem, reading, claim, sizes)
        made = _with_decision(empty, self._decision(formula), data)
        return dataclasses.replace(
            made, program=fingerprint(formula.program), random=enters_key(formula)
        )

    def _decision(self, formula: Formula) -> Decision:
        inputs = instance_inputs(self.theorem, *self.instance)
        return decide(formula, inputs, self.precision, self.max_precision)


def _with_decision(
    certificate: Certificate, decision: Decision, instance: Mapping[str, Any]
) -> Certificate:
    numbers = {name: spell(value) for name, value in instance["values"].items()}
    made = {name: value for name, value in vars(decision).items() if name != "relative"}
    return dataclasses.replace(
        certificate,
        **made,
        instance=dict(instance),
        numbers=numbers,
        note=tiny_note(decision.outcome, decision.relative),
    )


@dataclass(frozen=True)
class _OnBox:
    theorem: Theorem
    pieces: list[Piece]
    precision: int
    max_precision: int
    max_boxes: int
    progress: Progress

    def __call__(self, reading: ResolvedReading, claim: Claim, empty: Certificate) -> Certificate:
        formulas: dict[tuple, Formula] = {}
        kept: dict[str, Piece] = {}
        for piece in self.pieces:
            sizes = tuple(piece.sizes.items())
            if sizes not in formulas:
                formulas[sizes] = claim_formula(self.theorem, reading, claim, piece.sizes)
                _refuse_key(formulas[sizes])
            kept.setdefault(piece.what_matters(formulas[sizes].needs), piece)
        pieces = list(kept.values())
        problems = [
            Problem(
                formulas[tuple(piece.sizes.items())],
                piece.coordinates,
                piece_inputs(piece),
                piece.names(),
            )
            for piece in pieces
        ]
        found = certify_problems(
            problems, self.precision, self.max_precision, self.max_boxes, self.progress
        )
        return self._with_outcome(empty, found, list(zip(kept, pieces, problems)))

    def _with_outcome(
        self, empty: Certificate, found: BoxOutcome, parts: list[tuple[str, Piece, Problem]]
    ) -> Certificate:
        if found.place is not None and found.decision is not None:
            number, point = found.place
            _, piece, problem = parts[number]
            data = {"theorem": self.theorem.id, **piece.instance(point), "key": no_key().tolist()}
            empty = _with_decision(empty, found.decision, data)
            empty = dataclasses.replace(empty, program=fingerprint(problem.formula.program))
        trees = tuple(
            Tree(what, fingerprint(problem.formula.program), cuts)
            for (what, _, problem), cuts in zip(parts, found.cuts)
        )
        return dataclasses.replace(
            empty,
            outcome=found.outcome,
            boxes=found.boxes,
            dropped=found.dropped,
            depth=found.depth,
            left=found.left,
            resisting=found.resisting,
            trees=trees if found.outcome is Outcome.CERTIFIED else (),
        )


def _refuse_key(formula: Formula) -> None:
    """A box has no key: what was certified with one of them would say nothing of the others."""
    if enters_key(formula):
        raise UsageError(
            f"{formula.subject} depends on the random key, over which no box ranges: "
            "certify it at an instance, which has a key"
        )
