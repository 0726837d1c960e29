"""Whether a missed probability, or a witness, stands where results are rounded otherwise.

One instance is enough for either: the one that is told is looked at first, all of them only where
it does not stand.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import jax
import numpy as np

from theorysim.claims.evidence import Evidence, Judgement
from theorysim.claims.kinds import Claim, Existence, OnAverage, Probable
from theorysim.claims.reading import ResolvedReading
from theorysim.claims.verdict import Verdict
from theorysim.engine.measure.sample import Sample
from theorysim.engine.measure.setup import Setup


def stand_by_roundings(
    setup: Setup,
    sample: Sample,
    reading: ResolvedReading,
    claim: Claim,
    judgement: Judgement,
    evidence: Evidence,
) -> Judgement:
    """A judgement, confirmed or inconclusive if it misses a probability or tells a witness.

    Where other roundings are costly, the size of what is seen is asked first. A probability that is
    met is looked at again where that is cheap. Averages must come out alike in every lane: chaos
    changes runs, not what they are on average.
    """
    witness = isinstance(claim, Existence) and judgement.verdict is Verdict.HOLDS
    missed = isinstance(claim, Probable) and judgement.verdict is Verdict.VIOLATED
    met = isinstance(claim, Probable) and judgement.verdict is Verdict.HOLDS
    decided = judgement.verdict in (Verdict.HOLDS, Verdict.VIOLATED)
    average = isinstance(claim, OnAverage) and decided
    if not (witness or missed or met or average):
        return judgement
    from theorysim.engine.confirm.other_roundings import (
        AGAIN,
        MEANS,
        is_costly,
        judged_in_lanes,
        with_other_roundings,
    )
    from theorysim.engine.confirm.size import with_rounding_by_size
    from theorysim.engine.confirm.suspect import Case

    rows = sample.rows_of(reading, claim)
    x, keys = jax.tree.map(lambda leaf: leaf[rows], sample.instances), sample.keys[rows]
    case = Case(setup.theorem, reading, claim)
    judged, row, every = judgement, judgement.row, np.arange(len(keys))
    assert row is not None

    def looked(
        look: Callable, rounding: np.ndarray, at: np.ndarray
    ) -> tuple[Judgement, np.ndarray]:
        own, its_keys = jax.tree.map(lambda leaf: leaf[at], (x, keys))
        found = look(case, evidence.measurement.rows(at), own, its_keys)
        rounding = np.array(rounding)
        rounding[at] = np.fmax(rounding[at], found.rounding)
        measurement = replace(evidence.measurement, rounding=rounding)
        return claim.judge(replace(evidence, measurement=measurement)), rounding

    def stands(judged: Judgement, row: int | None) -> bool:
        return judged.row == row and judged.verdict is judgement.verdict and _shows(judged, claim)

    measured = np.asarray(evidence.measurement.rounding)
    if average:
        others = {one.verdict for one in judged_in_lanes(case, evidence, x, keys)}
        return judgement if others <= {judgement.verdict} else _in_doubt(judgement)
    if met:
        found = (
            judgement if is_costly(case, x) else looked(with_other_roundings, measured, every)[0]
        )
        return judgement if found.verdict is Verdict.HOLDS else _in_doubt(judgement)
    looks = [(with_rounding_by_size, "by its size")] if is_costly(case, x) else []
    for look, means in [*looks, (with_other_roundings, MEANS)]:
        judged, _ = looked(look, measured, every[[row]])
        if stands(judged, row):
            return _confirmed(judged, means)
    # Of many, one may seem to stand by the luck of its directions: it is looked at in others, too.
    judged, rounding = looked(with_other_roundings, measured, every)
    for turn in range(1, 1 + AGAIN):
        if judged.verdict is not judgement.verdict or not _shows(judged, claim):
            break
        assert judged.row is not None
        row = judged.row
        judged, rounding = looked(partial(with_other_roundings, turn=turn), rounding, every[[row]])
        if stands(judged, row):
            return _confirmed(judged, MEANS)
    if judged.verdict is judgement.verdict:
        note = f"{judged.note}, but none of those looked at stands {MEANS}"
        return replace(judged, verdict=Verdict.INCONCLUSIVE, note=note)
    return judged


def _in_doubt(judgement: Judgement) -> Judgement:
    note = f"{judgement.note}, but not in Monte Carlo arithmetic: rounding"
    return replace(judgement, verdict=Verdict.INCONCLUSIVE, note=note)


def _confirmed(judgement: Judgement, means: str) -> Judgement:
    """With how the instance that is told was confirmed; the others were not looked at again."""
    note = f"{judgement.note}; the one told is confirmed {means}"
    return replace(judgement, note=note, confirmation=means)


def _shows(judgement: Judgement, claim: Claim) -> bool:
    """Whether the instance that is told is a witness, or misses its probability by itself."""
    if isinstance(claim, Existence):
        return judgement.verdict is Verdict.HOLDS
    return bool(judgement.scatter["violated"][judgement.row])
