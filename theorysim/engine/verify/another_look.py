"""Another look at what a claim was judged: violations are confirmed, and what holds is doubted."""

from __future__ import annotations

from dataclasses import replace

import jax
import numpy as np

from theorysim.claims.evidence import Evidence, Judgement
from theorysim.claims.instance import Instance
from theorysim.claims.kinds import OnAverage, Pointwise
from theorysim.claims.kinds.inequality import Inequality
from theorysim.claims.reading import ResolvedReading
from theorysim.claims.verdict import Verdict
from theorysim.engine.measure.batch import measurement_cost
from theorysim.engine.measure.sample import Sample
from theorysim.engine.measure.setup import Setup

# A program of so many operations is traced and evaluated once more within some tenths of a second.
SHORT_PROGRAM = 20_000


def looked_at_again(
    setup: Setup,
    sample: Sample,
    reading: ResolvedReading,
    claim: Pointwise,
    judgement: Judgement,
    evidence: Evidence,
) -> Judgement:
    """What violates is confirmed; what holds must not do so by what hides the contrary."""
    rows = sample.rows_of(reading, claim)
    x, keys = jax.tree.map(lambda leaf: leaf[rows], sample.instances), sample.keys[rows]
    if judgement.verdict is Verdict.VIOLATED:
        judgement, evidence = _confirmed(setup, reading, claim, judgement, evidence, x, keys)
    if judgement.verdict is Verdict.HOLDS:
        return _standing(setup, reading, claim, judgement, evidence, x, keys)
    return judgement


def _confirmed(
    setup: Setup,
    reading: ResolvedReading,
    claim: Pointwise,
    judgement: Judgement,
    evidence: Evidence,
    x: Instance,
    keys: np.ndarray,
) -> tuple[Judgement, Evidence]:
    """What becomes of a violation that is looked at again, and the evidence for it.

    Where small numbers beside large ones violate, since they are taken to err by parts of their
    own, and what absorbs them belies that (1 - tanh x is 0 at once, with all that it should be),
    the rounding at all points is the largest along their paths.
    """
    from theorysim.engine.confirm.confirm import confirmed_judgement
    from theorysim.engine.confirm.suspect import Case

    case = Case(setup.theorem, reading, claim)
    confirmed = confirmed_judgement(case, judgement, evidence.measurement, x, keys)
    if confirmed.verdict is Verdict.VIOLATED:
        if np.size(evidence.measurement.extremes):
            confirmed = with_fresh_keys(setup, reading, claim, confirmed, evidence, x, keys)
        return confirmed, evidence
    coarse = replace(evidence, measurement=evidence.measurement.with_rounding_of_path())
    judged = claim.judge(coarse)
    if judged.verdict is Verdict.VIOLATED:
        return confirmed, evidence
    return judged, coarse


def _standing(
    setup: Setup,
    reading: ResolvedReading,
    claim: Pointwise,
    judgement: Judgement,
    evidence: Evidence,
    x: Instance,
    keys: np.ndarray,
) -> Judgement:
    """What holds, unless it does so by overflow, by absorption, or by the luck of few keys.

    Enclosures are loaded only where they are needed.
    """
    if measurement_cost(setup).grows_integers:
        from theorysim.engine.confirm.integers import without_overflow
        from theorysim.engine.confirm.suspect import Case

        case = Case(setup.theorem, reading, claim)
        known = without_overflow(case, evidence.measurement, x, keys)
        if known is not evidence.measurement:
            evidence = replace(evidence, measurement=known)
            judgement = claim.judge(evidence)
        if judgement.verdict is not Verdict.HOLDS:
            return judgement
    if np.size(evidence.measurement.extremes):
        from theorysim.engine.confirm.leaning import unless_leaning

        return unless_leaning(setup, reading, claim, judgement, evidence, x, keys)
    if isinstance(claim, Inequality) and _is_short(setup):
        return _not_hidden(setup, reading, claim, judgement, evidence, x, keys)
    return judgement


def _not_hidden(
    setup: Setup,
    reading: ResolvedReading,
    claim: Pointwise,
    judgement: Judgement,
    evidence: Evidence,
    x: Instance,
    keys: np.ndarray,
) -> Judgement:
    """What holds, unless more bits contradict it at the instance that decided."""
    from theorysim.engine.confirm.hidden import contradiction
    from theorysim.engine.confirm.suspect import Case

    assert judgement.row is not None
    case = Case(setup.theorem, reading, claim)
    means = contradiction(case, evidence.measurement, x, keys, judgement.row)
    if not means:
        return judgement
    note = f"holds in double precision, whose rounding hides that it is violated {means}"
    return replace(judgement, verdict=Verdict.INCONCLUSIVE, note=note)


def _is_short(setup: Setup) -> bool:
    """Whether a second evaluation of what was measured costs next to nothing."""
    return setup.theorem.keys == 1 and measurement_cost(setup).operations <= SHORT_PROGRAM


def with_fresh_keys(
    setup: Setup,
    reading: ResolvedReading,
    claim: Pointwise | OnAverage,
    judgement: Judgement,
    evidence: Evidence,
    x: Instance,
    keys: np.ndarray,
) -> Judgement:
    """A violation by averages, if it comes back at its instance with many fresh keys."""
    from theorysim.engine.confirm.fresh_keys import how_many, lost_with_other_keys

    row = judgement.row
    assert row is not None
    decisive = jax.tree.map(lambda leaf: leaf[row], x)
    before = evidence.measurement.rows(np.array([row]))
    lost = lost_with_other_keys(setup, reading, claim, decisive, keys[row], before)
    if not lost:
        note = f"{judgement.note} and with {how_many(setup.theorem.keys)}"
        return replace(judgement, note=note)
    note = f"{judgement.note}, but not with {lost}"
    return replace(judgement, verdict=Verdict.INCONCLUSIVE, note=note, confirmation="")
