"""Whether averages, probabilities and witnesses stand where results are rounded otherwise.

One instance is enough to miss a probability or to be a witness: the one that is told is looked at
first, all of them only where it does not stand.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import jax
import numpy as np

from theorysim.claims.evidence import Evidence, Judgement, Measurement
from theorysim.claims.instance import Instance
from theorysim.claims.kinds import Claim, Existence, OnAverage, Probable
from theorysim.claims.reading import ResolvedReading
from theorysim.claims.verdict import Verdict
from theorysim.engine.confirm.suspect import Case
from theorysim.engine.measure.sample import Sample
from theorysim.engine.measure.setup import Setup


@dataclass(frozen=True)
class _Seen:
    """A judgement, what it was made from, and how often it comes out alike."""

    case: Case
    judgement: Judgement
    evidence: Evidence
    instances: Instance
    keys: np.ndarray

    @property
    def rounding(self) -> np.ndarray:
        """As it was measured, per instance, for all its points."""
        rounding = np.asarray(self.evidence.measurement.rounding).reshape(len(self.keys), -1)
        return np.array(np.broadcast_to(rounding, (len(self.keys), self._columns)))

    @property
    def _columns(self) -> int:
        """How many points an instance has, with all its keys."""
        return int(np.prod(np.shape(self.evidence.measurement.lhs)[1:]))

    def judged(self, measurement: Measurement) -> Judgement:
        """The judgement on another measurement."""
        return self.case.claim.judge(replace(self.evidence, measurement=measurement))

    def with_rounding_of(
        self, look: Callable, rounding: np.ndarray, at: np.ndarray
    ) -> tuple[Judgement, np.ndarray]:
        """The judgement, and all roundings, with those that a look shows at some instances."""
        own, keys = jax.tree.map(lambda leaf: leaf[at], (self.instances, self.keys))
        found = look(self.case, self.evidence.measurement.rows(at), own, keys)
        rounding = np.array(rounding)
        rounding[at] = np.fmax(rounding[at], np.reshape(found.rounding, (len(at), -1)))
        return self.judged(replace(self.evidence.measurement, rounding=rounding)), rounding

    def with_measurement(self, measurement: Measurement) -> _Seen:
        """What is seen of another measurement."""
        evidence = replace(self.evidence, measurement=measurement)
        return replace(self, evidence=evidence, judgement=self.judged(measurement))

    def measured_again(self, row: int, found: Measurement) -> _Seen:
        """With another measurement of one instance, and the judgement on that."""
        own, at = self.evidence.measurement, {"rounding": self.rounding}
        for name in ("lhs", "rhs", "applies"):
            at[name] = np.array(getattr(own, name))
        at["probability"] = np.array(np.broadcast_to(own.probability, len(self.keys)))
        for name, part in at.items():
            part[row] = np.reshape(getattr(found, name), part[row].shape)
        return self.with_measurement(replace(own, **at))

    def alone(self, row: int) -> Judgement:
        """The judgement on one instance, by itself."""
        return self.judged(self.evidence.measurement.rows(np.array([row])))

    def telling(self, row: int) -> Judgement:
        """The judgement with the numbers of another instance."""
        if row == self.judgement.row:
            return self.judgement
        alone = self.alone(row)
        names = ("lhs", "rhs", "slack", "error", "error_parts")
        return replace(self.judgement, row=row, **{name: getattr(alone, name) for name in names})

    def meets_hypotheses(self, row: int) -> bool:
        """Whether an instance meets its hypotheses by more than rounding, or that is not asked."""
        from theorysim.engine.confirm.hypotheses import Met, are_met

        x, key = jax.tree.map(lambda leaf: leaf[row], (self.instances, self.keys))
        return are_met(self.case, x, key) is not Met.NOT

    def is_shown_at(self, row: int) -> bool:
        """Whether an instance is a witness, or misses its probability."""
        if isinstance(self.case.claim, Existence):
            return self.alone(row).verdict is Verdict.HOLDS
        violated = self.judgement.scatter.get("violated")
        return violated is not None and bool(violated[row])

    def is_shown_by(self, judged: Judgement) -> bool:
        """Whether it comes out alike, and the instance that is told shows it by itself."""
        if judged.verdict is not self.judgement.verdict:
            return False
        is_witness = isinstance(self.case.claim, Existence)
        return is_witness or bool(judged.scatter["violated"][judged.row])


def stand_by_roundings(
    setup: Setup,
    sample: Sample,
    reading: ResolvedReading,
    claim: Claim,
    judgement: Judgement,
    evidence: Evidence,
) -> Judgement:
    """A judgement on averages, a probability or an existence, or inconclusive by rounding.

    Averages must come out alike in the least favourable lane of every point: chaos changes runs,
    not what they are on average over keys. A probability that is met is looked at again where that
    is cheap.
    """
    rows = sample.rows_of(reading, claim)
    x, keys = jax.tree.map(lambda leaf: leaf[rows], sample.instances), sample.keys[rows]
    seen = _Seen(Case(setup.theorem, reading, claim), judgement, evidence, x, keys)
    if isinstance(claim, Probable):
        seen = _with_printed_probability(seen)
    holds, violated = (seen.judgement.verdict is v for v in (Verdict.HOLDS, Verdict.VIOLATED))
    if isinstance(claim, OnAverage) and (holds or violated):
        return _alike_in_lanes(seen)
    if isinstance(claim, Probable) and holds:
        return _met_by_more_than_rounding(seen)
    if (isinstance(claim, Existence) and holds) or (isinstance(claim, Probable) and violated):
        return _one_stands(seen)
    if claim.over and (holds or violated) and _none_meets_hypotheses(seen):
        return _outside(seen.judgement)
    return seen.judgement


def _with_printed_probability(seen: _Seen) -> _Seen:
    """With the probability that many bits give a formula for it, where that is another."""
    from theorysim.engine.confirm.measured_again import PRINTED_BITS, printed_with_bits

    own = seen.evidence.measurement
    found = printed_with_bits(seen.case, own, seen.instances, seen.keys)
    if np.array_equal(found.probability, own.probability, equal_nan=True):
        return seen
    again = seen.with_measurement(found)
    note = f"{again.judgement.note}; the printed probability has {PRINTED_BITS} bits"
    return replace(again, judgement=replace(again.judgement, note=note))


def _none_meets_hypotheses(seen: _Seen) -> bool:
    """Whether none of the first instances does, at the sizes before a ladder is climbed."""
    from theorysim.engine.confirm.confirm import TRIED

    return not any(map(seen.meets_hypotheses, range(min(TRIED, len(seen.keys)))))


def _alike_in_lanes(seen: _Seen) -> Judgement:
    """Asked of the instances that meet their hypotheses by more than rounding."""
    from theorysim.engine.confirm.averages import (
        averages_in_lanes,
        is_moved_by_rounding,
        least_favourable,
    )

    verdict, inside = seen.judgement.verdict, _inside(seen)
    if inside.judgement.verdict is not verdict:
        return _outside(seen.judgement)
    seen, own, holds = inside, inside.evidence.measurement, verdict is Verdict.HOLDS
    lanes = averages_in_lanes(seen.case, own, seen.instances, seen.keys)
    if not lanes:
        return seen.judgement
    moved = is_moved_by_rounding(lanes, own)
    if holds and moved.any():
        return _in_doubt(seen.judgement)
    worst = least_favourable([*lanes, replace(own, applies=lanes[0].applies)], holds)
    left = np.reshape(~moved[:, None], (len(moved), 1, *np.shape(own.lhs)[2:]))
    judged = seen.judged(replace(worst, applies=np.asarray(worst.applies) & left))
    return seen.judgement if judged.verdict is verdict else _in_doubt(seen.judgement)


def _inside(seen: _Seen) -> _Seen:
    """Without the instances that meet their hypotheses by rounding only."""
    met = np.array([seen.meets_hypotheses(row) for row in range(len(seen.keys))])
    if met.all():
        return seen
    own = seen.evidence.measurement
    applies = np.asarray(own.applies) & np.reshape(met, (-1, *[1] * (np.ndim(own.applies) - 1)))
    return seen.with_measurement(replace(own, applies=applies))


def _met_by_more_than_rounding(seen: _Seen) -> Judgement:
    from theorysim.engine.confirm.other_roundings import is_costly, with_other_roundings

    if is_costly(seen.case, seen.instances):
        return seen.judgement
    every = np.arange(len(seen.keys))
    judged, _ = seen.with_rounding_of(with_other_roundings, seen.rounding, every)
    return seen.judgement if judged.verdict is Verdict.HOLDS else _in_doubt(seen.judgement)


def _one_stands(seen: _Seen) -> Judgement:
    """The witness, or the missed probability, of an instance that stands; else inconclusive.

    More bits are asked first. What other looks tell must not be refuted by them.
    """
    from theorysim.engine.confirm.measured_again import WITNESS

    first = seen.judgement.verdict
    seen, row, asked = _standing_with_bits(seen)
    if row is not None:
        return _confirmed(seen.telling(row), f"with {WITNESS.precisions[0]} bits")
    if seen.judgement.verdict is not first:
        return _refuted(seen.judgement)
    told = _standing_with_other_roundings(seen)
    if told.verdict is first and told.row is not None and told.row not in asked:
        again, stands = _look_with_bits(seen, told.row)
        if stands is False:
            return _refuted(again.telling(told.row))
    return told


def _standing_with_bits(seen: _Seen) -> tuple[_Seen, int | None, set[int]]:
    """What is seen with many bits, the first instance of those told in turn that stands so, if one
    does, and which were asked for. Those that are refuted are measured anew."""
    from theorysim.engine.confirm.confirm import TRIED

    first, asked = seen.judgement.verdict, set()
    while len(asked) < TRIED and seen.judgement.verdict is first:
        row = seen.judgement.row
        assert row is not None
        asked.add(row)
        seen, stands = _look_with_bits(seen, row)
        if stands:
            return seen, row, asked
        if stands is None:
            break
    return seen, None, asked


def _look_with_bits(seen: _Seen, row: int) -> tuple[_Seen, bool | None]:
    """Whether an instance stands with many bits, and what is seen then; None where that is open."""
    from theorysim.engine.confirm.measured_again import measured_with_bits

    x, keys = jax.tree.map(lambda leaf: leaf[[row]], (seen.instances, seen.keys))
    own = seen.evidence.measurement.rows(np.array([row]))
    found = measured_with_bits(seen.case, own, x, keys)
    if found is None:
        return seen, None
    again = seen.measured_again(row, found)
    if again.is_shown_at(row):
        return again, True
    # What is left open counts for what was told: a probability is missed, and a witness has it.
    left = found.applies & np.isinf(found.rounding)
    sides = {"lhs": 1.0, "rhs": 0.0, "rounding": 0.0}
    most = {name: np.where(left, side, getattr(found, name)) for name, side in sides.items()}
    if seen.measured_again(row, replace(found, **most)).is_shown_at(row):
        return seen, None
    return again, False


def _standing_with_other_roundings(seen: _Seen) -> Judgement:
    """The same by size, where other roundings are costly, and in those."""
    from theorysim.engine.confirm.other_roundings import (
        AGAIN,
        MEANS,
        is_costly,
        with_other_roundings,
    )
    from theorysim.engine.confirm.size import with_rounding_by_size

    verdict, row, every = seen.judgement.verdict, seen.judgement.row, np.arange(len(seen.keys))
    looks = [(with_rounding_by_size, "by its size")] * is_costly(seen.case, seen.instances)
    assert row is not None
    for look, means in [*looks, (with_other_roundings, MEANS)]:
        judged, _ = seen.with_rounding_of(look, seen.rounding, every[[row]])
        if judged.row == row and seen.is_shown_by(judged):
            return _confirmed(judged, means)
    # Of many, one may seem to stand by the luck of its directions: it is looked at in others, too.
    judged, rounding = seen.with_rounding_of(with_other_roundings, seen.rounding, every)
    for turn in range(1, 1 + AGAIN):
        if not seen.is_shown_by(judged):
            break
        assert judged.row is not None
        row, look = judged.row, partial(with_other_roundings, turn=turn)
        judged, rounding = seen.with_rounding_of(look, rounding, every[[row]])
        if judged.row == row and seen.is_shown_by(judged):
            return _confirmed(judged, MEANS)
    if judged.verdict is verdict:
        note = f"{judged.note}, but none of those looked at stands {MEANS}"
        return replace(judged, verdict=Verdict.INCONCLUSIVE, note=note)
    return replace(judged, note=_in_doubt(seen.judgement).note)


def _refuted(judgement: Judgement) -> Judgement:
    note = f"{judgement.note}; those looked at do not stand with many bits: rounding"
    return replace(judgement, verdict=Verdict.INCONCLUSIVE, note=note)


def _in_doubt(judgement: Judgement) -> Judgement:
    note = f"{judgement.note}, but not in Monte Carlo arithmetic: rounding"
    return replace(judgement, verdict=Verdict.INCONCLUSIVE, note=note)


def _outside(judgement: Judgement) -> Judgement:
    note = f"{judgement.note}, but hypotheses must be met by more than rounding"
    return replace(judgement, verdict=Verdict.INCONCLUSIVE, note=note)


def _confirmed(judgement: Judgement, means: str) -> Judgement:
    """With how the instance that is told was confirmed; the others were not looked at again."""
    note = f"{judgement.note}; the one told is confirmed {means}"
    return replace(judgement, note=note, confirmation=means)
