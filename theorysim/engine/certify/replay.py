"""Checking a certificate again, apart from the search that found it.

Shared with `certify` are the statement, its translation into a program, and the enclosures of that
program's operations. Not shared is everything that decides: which boxes there are is read from the
certificate (two halves of a box cover it), every leaf is bounded with more bits by a rule of its
own, and so is the relation at an instance. What a certificate states beside its proof (the box as
a text, the numbers, the enclosures) is compared with what was proved.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from flint import arb, ctx

from theorysim.claims.instance import size_items
from theorysim.claims.kinds import Claim
from theorysim.claims.reading import ResolvedReading
from theorysim.claims.theorem import Theorem
from theorysim.enclosures import Formula, Outcome, RelationValues
from theorysim.enclosures.arithmetic import (
    BALLS,
    Arithmetic,
    Interval,
    Sloped,
    Undecided,
    exact_number,
    slopes_arithmetic,
)
from theorysim.enclosures.arithmetic.intervals import ONE
from theorysim.enclosures.decision import relative_size
from theorysim.enclosures.interpreter import RULES, Interpreter
from theorysim.engine import registry
from theorysim.engine.certify.formulas import (
    claim_formula,
    enters_key,
    instance_inputs,
    piece_inputs,
)
from theorysim.engine.certify.report import Certificate, CertifyReport, tiny_note
from theorysim.engine.certify.spaces import Piece, check_order, describe_box, pieces, spell
from theorysim.engine.measure.instance_files import json_object, read_instance
from theorysim.engine.measure.making import no_key
from theorysim.engine.measure.setup import select_readings
from theorysim.errors import UsageError
from theorysim.jaxprs.fingerprint import fingerprint
from theorysim.precision import in_precision

Ends = tuple[tuple[float, float], ...]

# Bits beyond those of the certificate, so that no rounding is the same.
MORE_BITS = 53
# More bits are refused: they prove no more, and a file that asks for a billion takes days.
MOST_BITS = 2**16


@dataclass(frozen=True)
class Replayed:
    """What became of one certificate: proved again, or the reason why not."""

    reading: str
    claim: str
    outcome: Outcome
    fault: str = ""

    def __str__(self) -> str:
        found = self.fault or "proved again"
        return f"{self.reading}, {self.claim}: {self.outcome}: {found}"


class _Unproved(Exception):
    """The certificate does not prove what it says."""


def replay(
    theorem: Theorem | str, certificate: Mapping[str, Any] | str | Path
) -> tuple[Replayed, ...]:
    """Check every certificate of a report, the JSON data of `CertifyReport` or a file with it.

    Raises:
        UsageError: for what is no such report, and for one of another theorem.
    """
    if isinstance(theorem, str):
        theorem = registry.theorem(theorem)
    data = certificate if isinstance(certificate, Mapping) else json_object(certificate)
    if data.get("theorem") != theorem.id:
        raise UsageError(f"a certificate of {data.get('theorem')}, not of {theorem.id}")
    try:
        if not data["certificates"]:
            raise ValueError("it certifies nothing")
        with in_precision(double=True):
            return tuple(_replayed(theorem, data, one) for one in data["certificates"])
    except UsageError:
        raise
    except (LookupError, TypeError, ValueError, OverflowError, AttributeError) as error:
        raise UsageError(f"no complete certificate: {type(error).__name__}: {error}") from None


def _replayed(theorem: Theorem, data: Mapping[str, Any], one: Mapping[str, Any]) -> Replayed:
    outcome, fault = Outcome(one["outcome"]), ""
    (reading,) = select_readings(theorem, one["reading"], one["claim"])
    (claim,) = reading.claims
    try:
        with ctx.workprec(_bits(data, one) + MORE_BITS):
            if outcome not in (Outcome.CERTIFIED, Outcome.VIOLATED):
                raise _Unproved("it claims no proof")
            if claim.statement != one["statement"]:
                raise _Unproved(f"the claim is {claim.statement!r} now")
            if data["mode"] == "box" and outcome is Outcome.CERTIFIED:
                _check_box(theorem, reading, claim, data["given"], one["trees"])
                _check_stated(one, _of_a_box(one))
            else:
                _check_instance(theorem, reading, claim, one)
            names = {"reading": reading.name, "claim": claim.name, "kind": str(claim.kind)}
            _check_stated(one, names)
            _check_stated(data, _report(theorem, data))
    except _Unproved as error:
        fault = f"not proved: {error}"
    return Replayed(one["reading"], one["claim"], outcome, fault)


def _bits(data: Mapping[str, Any], one: Mapping[str, Any]) -> int:
    bits = max(int(one["precision"]), int(data["settings"]["precision"]))
    if bits > MOST_BITS:
        raise _Unproved(f"{bits} bits, of which at most {MOST_BITS} are replayed")
    return bits


def _check_stated(stated: Mapping[str, Any], true: Mapping[str, Any]) -> None:
    """What a certificate states beside its proof.

    Raises:
        _Unproved: naming the first entry that is another one.
    """
    for name, value in true.items():
        if stated[name] != value:
            raise _Unproved(f"its {name} is {stated[name]!r}, not {value!r}")


def _report(theorem: Theorem, data: Mapping[str, Any]) -> dict[str, Any]:
    """What a report of these certificates states."""
    mode = "box" if data["mode"] == "box" else "instance"
    box = describe_box(pieces(theorem.space, data["given"]) if mode == "box" else [])
    certificates = (
        Certificate(one["reading"], one["claim"], one["kind"], "", Outcome(one["outcome"]))
        for one in data["certificates"]
    )
    primary = theorem.primary().name
    report = CertifyReport(theorem.id, theorem.title, mode, primary, tuple(certificates), box)
    stated = report.as_json()
    return {name: stated[name] for name in ("title", "mode", "primary", "outcome", "box")}


def _of_a_box(one: Mapping[str, Any]) -> dict[str, Any]:
    """What a certificate of a whole box states of single points: nothing; and its counts."""
    paths = [path for tree in one["trees"] for path in tree["cuts"]]
    empty = Certificate("", "", "", "", Outcome.CERTIFIED)
    about = ("lhs", "rhs", "slack", "precision", "undecided", "entries", "instance", "numbers")
    points = {name: getattr(empty, name) for name in (*about, "left", "resisting", "note")}
    counts = {"boxes": 2 * len(paths) + len(one["trees"]), "place": [], "random": False}
    return {**points, **counts, "depth": max((len(path) + 1 for path in paths), default=0)}


def _same_program(formula: Formula, program: str) -> None:
    if fingerprint(formula.program) != program:
        raise _Unproved("the statement's program is another one now")


def _check_instance(
    theorem: Theorem, reading: ResolvedReading, claim: Claim, one: Mapping[str, Any]
) -> None:
    """The relation at the stored instance.

    Raises:
        _Unproved: where it is not certain.
    """
    if not isinstance(one["instance"], Mapping):
        raise _Unproved("the instance is missing")
    x, key = read_instance(theorem, one["instance"])
    check_order(theorem.space, x)
    formula = claim_formula(theorem, reading, claim, dict(size_items(x)))
    _same_program(formula, one["program"])
    if enters_key(formula) and key is None:
        raise _Unproved("the key is missing, which enters")
    interpreter = Interpreter(BALLS, RULES, formula.subject)
    inputs = instance_inputs(theorem, x, no_key() if key is None else key)
    values = _run(formula, interpreter, inputs(interpreter))
    if values is None:
        raise _Unproved("a branch is undecided")
    met = all(m >= 0 for m in values.margins) and all(m > 0 for m in values.open_margins)
    if not met:
        raise _Unproved("the hypotheses are not certain")
    counted = [pair for pair in zip(values.slack, values.condition) if not pair[1] < 0]
    if not counted:
        raise _Unproved("the claim does not speak of this instance")
    if one["outcome"] == Outcome.VIOLATED:
        proved = any(c >= 0 and formula.is_bad(slack) for slack, c in counted)
    else:
        proved = all(formula.is_fine(slack) for slack, _ in counted)
    if not proved:
        raise _Unproved("the sign of a slack is not certain, or is the other one")
    numbers = {name: spell(value) for name, value in one["instance"]["values"].items()}
    facts = {"numbers": numbers, "random": enters_key(formula), "entries": len(values.slack)}
    _check_stated(one, {**facts, "undecided": 0})
    _check_enclosures(one, values)


def _check_enclosures(one: Mapping[str, Any], values: RelationValues) -> None:
    """The stated enclosures of one entry hold the numbers, and a tiny violation is marked."""
    places = np.arange(len(values.slack)).reshape(values.shape)
    if len(one["place"]) != places.ndim:
        raise _Unproved(f"there is no entry {one['place']}")
    place = int(places[tuple(one["place"])])
    sides = {name: getattr(values, name)[place] for name in ("lhs", "rhs", "slack")}
    for name, ball in sides.items():
        if not arb(one[name]).overlaps(ball):
            raise _Unproved(f"its {name} is {one[name]}, not {ball.str(20)}")
    note = tiny_note(Outcome(one["outcome"]), relative_size(**sides))
    if bool(note) != bool(one["note"]):
        raise _Unproved(f"its note is {one['note']!r}, not {note!r}")


def _run(formula: Formula, interpreter: Interpreter, inputs: list[Any]) -> RelationValues | None:
    try:
        return formula.run(interpreter, inputs)
    except Undecided:
        return None


def _check_box(
    theorem: Theorem,
    reading: ResolvedReading,
    claim: Claim,
    given: Mapping[str, Any],
    trees: Sequence[Mapping[str, Any]],
) -> None:
    """The relation on all leaves of all parts of the box.

    Raises:
        _Unproved: naming the first leaf where it is not certain.
    """
    by_piece = {tree["piece"]: tree for tree in trees}
    done: set[str] = set()
    speaks = False
    for piece in pieces(theorem.space, given):
        formula = claim_formula(theorem, reading, claim, piece.sizes)
        what = piece.what_matters(formula.needs)
        if what in done:
            continue
        if what not in by_piece:
            raise _Unproved(f"no tree for {what}")
        _same_program(formula, by_piece[what]["program"])
        if enters_key(formula):
            raise _Unproved("the random key enters")
        done.add(what)
        leaf_rule = _Leaf(formula, piece)
        for leaf in _leaves(piece, by_piece[what]["cuts"]):
            found = leaf_rule.outcome(leaf)
            if found is Outcome.UNDECIDED:
                raise _Unproved(f"not certain on {leaf}")
            speaks |= found is Outcome.CERTIFIED
    if not speaks:
        raise _Unproved("the claim speaks of no point of the box")
    if len(by_piece) != len(done) or len(trees) != len(done):
        raise _Unproved("there are trees of parts that the box does not have")


def _leaves(piece: Piece, cuts: Mapping[str, tuple[int, float]]) -> Iterator[Ends]:
    """What is left of a part after all cuts: both sides of a cut cover what was cut."""
    stack = [("", tuple((c.low, c.high) for c in piece.coordinates))]
    while stack:
        path, ends = stack.pop()
        if path not in cuts:
            yield ends
            continue
        coordinate, number = cuts[path]
        low, high = ends[coordinate]
        if coordinate < 0 or not low < number < high:
            raise _Unproved(f"the cut {number} is not within [{low}, {high}]")
        for side, half in (("1", (number, high)), ("0", (low, number))):
            stack.append((path + side, (*ends[:coordinate], half, *ends[coordinate + 1 :])))


class _Leaf:
    """Whether a relation certainly holds wherever the hypotheses do on a box."""

    def __init__(self, formula: Formula, piece: Piece):
        self.formula, self.inputs = formula, piece_inputs(piece)
        self.balls = Interpreter(BALLS, RULES, formula.subject)
        slopes: Arithmetic = slopes_arithmetic(len(piece.coordinates))
        self.slopes = Interpreter(slopes, RULES, formula.subject)

    def outcome(self, ends: Ends) -> Outcome:
        """Certified, outside the hypotheses or undecided on the box with these ends.

        No point of it need be an instance.
        """
        values = self._sloped(ends)
        if values is None:
            return Outcome.UNDECIDED
        if any(margin.value.high < 0 for margin in values.margins):
            return Outcome.OUTSIDE
        if any(margin.value.high <= 0 for margin in values.open_margins):
            return Outcome.OUTSIDE
        places = [p for p, condition in enumerate(values.condition) if not condition.value.high < 0]
        if not all(self._holds_at(place, ends, values) for place in places):
            return Outcome.UNDECIDED
        return Outcome.CERTIFIED if places else Outcome.OUTSIDE

    def _holds_at(self, place: int, ends: Ends, values: RelationValues | None) -> bool:
        """One slack: directly, on the face where it is least, or by the mean value theorem."""
        if values is None:
            return False
        slack = values.slack[place]
        if self.formula.is_fine(slack.value.low):
            return True
        if not all(slope is None or slope.is_finite for slope in slack.slopes):
            return False
        face = tuple(
            (low, low)
            if slope is None or slope.low >= 0
            else (high, high)
            if slope.high <= 0
            else (low, high)
            for (low, high), slope in zip(ends, slack.slopes)
        )
        if face != ends:
            return self._holds_at(place, face, self._sloped(face))
        return self._holds_around(place, ends, slack.slopes)

    def _holds_around(self, place: int, ends: Ends, slopes: Sequence[Interval | None]) -> bool:
        """The slack in the middle exceeds slope times distance, summed over the coordinates."""
        middle = [arb(exact_number(low / 2 + high / 2)) for low, high in ends]
        values = _run(self.formula, self.balls, self.inputs(self.balls, list(middle)))
        if values is None:
            return False
        least = values.slack[place]
        for (low, high), centre, slope in zip(ends, middle, slopes):
            if slope is not None and low < high:
                reach = (arb(exact_number(high)) - centre).max(centre - arb(exact_number(low)))
                least = least - slope.magnitude() * reach
        return self.formula.is_fine(least)

    def _sloped(self, ends: Ends) -> RelationValues | None:
        numbers = []
        for i, (low, high) in enumerate(ends):
            bottom, top = (arb(exact_number(end)) for end in (low, high))
            moves = tuple(ONE if i == j and low < high else None for j in range(len(ends)))
            numbers.append(Sloped(Interval(bottom.lower(), top.upper()), moves))
        return _run(self.formula, self.slopes, self.inputs(self.slopes, numbers))
