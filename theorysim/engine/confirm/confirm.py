"""Before a claim is called violated: whether a violation survives more bits, or other roundings.

The measured error of rounding misses what errs alike in every perturbed run. So the worst
violations are looked at again: with many more bits where every operation has an enclosure; where
not, in Monte Carlo arithmetic, unless that is costly and they are too large for rounding. One that
is confirmed counts where its hypotheses are met by more than rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain, islice, zip_longest

import jax
import numpy as np

from theorysim.claims.evidence import Judgement, Measurement, Points, tabulate
from theorysim.claims.instance import Instance, size_items
from theorysim.claims.kinds import Pointwise
from theorysim.claims.verdict import Verdict
from theorysim.engine.confirm import hypotheses, many_bits
from theorysim.engine.confirm.hypotheses import Met
from theorysim.engine.confirm.other_roundings import is_costly, look_with_other_roundings
from theorysim.engine.confirm.size import look_at_size
from theorysim.engine.confirm.suspect import Answer, Case, Finding, Suspect
from theorysim.engine.confirm.traced import traced

# How many violations are looked at again: the worst by their part of both sides, where absorption
# ranks first, and the largest as numbers, where it ranks last, in turn.
TRIED = 4
# So many violations are looked at with many bits, where all other looks at the worst ones compile a
# long program first: one that is confirmed is enough. Many are refused before anything is computed;
# the others may together compute as many entries as the worst ones.
CHEAPLY_TRIED = 32
MOST_WORK = TRIED * many_bits.FIRST.most_work

OUTSIDE = "where hypotheses must be met by more than rounding"
UNASKED = ", its hypotheses in double precision"


@dataclass(frozen=True)
class Confirmation:
    """What became of the violations of a claim that were looked at again.

    `row` and `column` are those of the confirmed one, None where none was; `means` says how it was
    confirmed, or why not.
    """

    row: int | None
    column: int
    means: str
    tried: int


def confirm(
    case: Case, measurement: Measurement, instances: Instance, keys: np.ndarray
) -> Confirmation:
    """Look again at the worst violations of a claim until one is confirmed.

    `measurement`, `instances` (stacked) and `keys` (their data) go together row by row. Where no
    row violates by itself, as where an average of its own has heavy tails, nothing is confirmed.
    """
    suspects = _suspects(case.claim, tabulate(measurement), instances, keys)
    if not suspects:
        return Confirmation(None, 0, "vanish where an instance is judged by itself", 0)
    worst, others = suspects[:TRIED], suspects[TRIED:]
    confirmation, found = _first_confirmed(case, worst, others)
    if confirmation is None and all(one.means == OUTSIDE for one in found):
        inside = (one for one in others if _met(case, one) is not Met.NOT)
        further = list(islice(inside, TRIED))
        if further:
            confirmation, found = _first_confirmed(case, further, [])
    return confirmation or Confirmation(None, 0, _why(case, worst[0], found), len(worst))


def _first_confirmed(
    case: Case, worst: list[Suspect], others: list[Suspect]
) -> tuple[Confirmation | None, list[Finding]]:
    """The first violation that is confirmed and counts, and what was found of each of the worst."""
    found: dict[int, Finding] = {}
    for suspect, finding in _looks(case, worst, others, found):
        if finding.answer is Answer.VIOLATED:
            met = _met(case, suspect)
            if met is not Met.NOT:
                means = finding.means + (UNASKED if met is Met.NOT_ASKED else "")
                return Confirmation(suspect.row, finding.column, means, len(worst)), []
            finding = Finding(Answer.VANISHED, OUTSIDE)
        found[suspect.row] = finding
    return None, list(found.values())


def _met(case: Case, suspect: Suspect) -> Met:
    return hypotheses.are_met(case, suspect.instance, suspect.key)


def _looks(
    case: Case, worst: list[Suspect], others: list[Suspect], found: Mapping[int, Finding]
) -> Iterator[tuple[Suspect, Finding]]:
    """Findings about the worst suspects, cheap looks before dear ones.

    The caller keeps in `found`, by row, what it is told: whom the next look is for. Of the others
    only a violation is told: one is enough.
    """
    look = many_bits.look_with_many_bits
    yield from ((suspect, look(case, suspect, many_bits.FIRST)) for suspect in worst)
    if (left := _unknown(worst, found)) and is_costly(case, left[0].instance):
        computed = 0
        for suspect in others:
            finding = look(case, suspect, many_bits.FIRST)
            if finding.answer is Answer.VIOLATED:
                yield suspect, finding
            computed += finding.work
            if computed > MOST_WORK:
                break
        finding = look(case, left[0], many_bits.MORE)
        if finding.answer is not Answer.UNKNOWN:
            yield left[0], finding
        for suspect in _unknown(worst, found):
            if finding := look_at_size(case, suspect):
                yield suspect, finding
    left = _unknown(worst, found)
    yield from ((suspect, look_with_other_roundings(case, suspect)) for suspect in left)
    # What other roundings can explain need not be rounding: more bits tell, though at a price.
    for suspect in left:
        finding = look(case, suspect, many_bits.LAST)
        if finding.answer is not Answer.UNKNOWN:
            yield suspect, finding


def _unknown(suspects: list[Suspect], found: Mapping[int, Finding]) -> list[Suspect]:
    return [one for one in suspects if found[one.row].answer is Answer.UNKNOWN]


def _why(case: Case, suspect: Suspect, found: list[Finding]) -> str:
    """Why none of the suspects is called a violation."""
    unknown = [finding.means for finding in found if finding.answer is Answer.UNKNOWN]
    if unknown:
        return f"are not confirmed: {unknown[0]}"
    means = " and ".join(dict.fromkeys(finding.means for finding in found))
    narrow = traced(case, size_items(suspect.instance)).narrow
    return f"vanish {means}: " + (f"rounding of {narrow}" if narrow else "rounding")


def _suspects(
    claim: Pointwise, points: Points, instances: Instance, keys: np.ndarray
) -> list[Suspect]:
    """The worst violations, in the order in which they are looked at."""
    violated = claim.states(points)[1]
    with np.errstate(invalid="ignore", divide="ignore"):
        room = np.where(violated, claim.slack(points.lhs, points.rhs), np.inf)
        part = np.where(points.scale > 0, room / points.scale, room)
    rows = int(np.sum(np.any(violated, axis=1)))
    orders = (_worst_first(np.min(size, axis=1))[:rows] for size in (part, room))
    worst = np.where(violated, claim.relative_room(points), np.inf)
    different: dict[tuple[bytes, ...], int] = {}
    for row in dict.fromkeys(chain.from_iterable(zip_longest(*orders))):
        if row is None or np.isinf(worst[row]).all():
            continue
        parts = points.lhs[row], points.rhs[row], *jax.tree.leaves(_instance_at(instances, row))
        different.setdefault(tuple(np.asarray(part).tobytes() for part in parts), int(row))
        if len(different) == CHEAPLY_TRIED:
            break
    return [suspect_at(row, points, worst, instances, keys) for row in different.values()]


def _worst_first(room: np.ndarray) -> np.ndarray:
    """Rows by their room, so many of the same: where fields have few values, most draws are."""
    order = np.argsort(room, kind="stable")
    places = np.arange(len(order))
    begins = np.append(True, room[order][1:] != room[order][:-1])
    since = places - np.maximum.accumulate(np.where(begins, places, 0))
    return order[since < TRIED]


def _instance_at(instances: Instance, row: int) -> Instance:
    """One of the stacked instances."""
    return jax.tree.map(lambda leaf: np.asarray(leaf)[row], instances)


def suspect_at(
    row: int, points: Points, room: np.ndarray, instances: Instance, keys: np.ndarray
) -> Suspect:
    """One row of what was measured; `room` is the relative room of all points."""
    pick: Callable = lambda array: np.asarray(array)[row : row + 1]  # noqa: E731
    own = Points(
        lhs=pick(points.lhs),
        rhs=pick(points.rhs),
        applies=pick(points.applies),
        error=pick(points.error),
        non_rounding_error=pick(points.non_rounding_error),
    )
    return Suspect(row, _instance_at(instances, row), keys[row], own, room[row])


def confirmed_judgement(
    case: Case,
    judgement: Judgement,
    measurement: Measurement,
    instances: Instance,
    keys: np.ndarray,
) -> Judgement:
    """A judgement that violates with how it was confirmed, or why it is inconclusive."""
    found = confirm(case, measurement, instances, keys)
    if found.row is not None:
        note = f"{judgement.note}; confirmed {found.means}"
        decided = replace(judgement, note=note, confirmation=found.means)
        return _decided_by(decided, case.claim, measurement, found.row, found.column)
    bad = int(np.sum(case.claim.violated_rows(measurement)))
    which = str(bad) if bad <= found.tried else f"the worst {found.tried} of {bad}"
    return replace(
        judgement,
        verdict=Verdict.INCONCLUSIVE,
        note=f"{which} violations {found.means}",
        resolved=judgement.resolved - bad,
        undersampled=False,
    )


def _decided_by(
    judgement: Judgement, claim: Pointwise, measurement: Measurement, row: int, column: int
) -> Judgement:
    """The judgement with the numbers of another point."""
    points = tabulate(measurement)
    lhs, rhs = points.lhs[row, column], points.rhs[row, column]
    sides = {"lhs": measurement.lhs, "rhs": measurement.rhs, "applies": measurement.applies}
    return replace(
        judgement,
        lhs=float(lhs),
        rhs=float(rhs),
        slack=float(claim.slack(lhs, rhs)),
        error=float(points.error[row, column]),
        error_parts={name: float(part[row, column]) for name, part in points.parts.items()},
        path={name: np.asarray(np.asarray(side)[row]) for name, side in sides.items()},
        row=row,
    )
