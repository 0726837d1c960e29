"""Another look at what a claim was judged: violations are confirmed, and what holds is doubted.

Enclosures are loaded only where they are needed.
"""

from __future__ import annotations

from dataclasses import replace

from theorysim.claims.evidence import Judgement
from theorysim.claims.kinds.inequality import Inequality
from theorysim.claims.verdict import Verdict
from theorysim.engine.confirm.judged import Judged
from theorysim.engine.measure.batch import measurement_cost

# A program of so many operations is traced and evaluated once more within some tenths of a second.
SHORT_PROGRAM = 20_000


def looked_at_again(judged: Judged) -> Judgement:
    """What violates is confirmed; what holds must not do so by what hides the contrary."""
    if judged.judgement.verdict is Verdict.VIOLATED:
        judged = _confirmed(judged)
    if judged.judgement.verdict is Verdict.HOLDS:
        return _standing(judged)
    return judged.judgement


def _confirmed(judged: Judged) -> Judged:
    """What becomes of a violation that is looked at again.

    Where small numbers beside large ones violate, since they are taken to err by parts of their
    own, and what absorbs them belies that (1 - tanh x is 0 at once, with all that it should be),
    the rounding at all points is the largest along their paths.
    """
    from theorysim.engine.confirm.confirm import confirmed_judgement

    case, found = judged.case, judged.measurement
    confirmed = confirmed_judgement(case, judged.judgement, found, judged.instances, judged.keys)
    if confirmed.verdict is Verdict.VIOLATED:
        judged = replace(judged, judgement=confirmed)
        return replace(judged, judgement=with_fresh_keys(judged)) if judged.averages else judged
    coarse = judged.but_for(found.with_rounding_of_path())
    if coarse.judgement.verdict is Verdict.VIOLATED:
        return replace(judged, judgement=confirmed)
    return coarse


def _standing(judged: Judged) -> Judgement:
    """What holds, unless it does so by overflow, by absorption, or by the luck of few keys."""
    if measurement_cost(judged.setup).grows_integers:
        judged = _without_overflow(judged)
        if judged.judgement.verdict is not Verdict.HOLDS:
            return judged.judgement
    if judged.averages:
        from theorysim.engine.confirm.leaning import unless_leaning

        return unless_leaning(judged)
    if isinstance(judged.claim, Inequality) and _is_short(judged):
        return _not_hidden(judged)
    return judged.judgement


def _without_overflow(judged: Judged) -> Judged:
    """The same, judged by what has no error where integers overflow."""
    from theorysim.engine.confirm.integers import without_overflow

    found = judged.measurement
    known = without_overflow(judged.case, found, judged.instances, judged.keys)
    return judged if known is found else judged.but_for(known)


def _not_hidden(judged: Judged) -> Judgement:
    """What holds, unless more bits contradict it at the instance that decided."""
    from theorysim.engine.confirm.hidden import contradiction

    row, found = judged.judgement.row, judged.measurement
    assert row is not None
    means = contradiction(judged.case, found, judged.instances, judged.keys, row)
    if not means:
        return judged.judgement
    note = f"holds in double precision, whose rounding hides that it is violated {means}"
    return replace(judged.judgement, verdict=Verdict.INCONCLUSIVE, note=note)


def _is_short(judged: Judged) -> bool:
    """Whether a second evaluation of what was measured costs next to nothing."""
    setup = judged.setup
    return setup.theorem.keys == 1 and measurement_cost(setup).operations <= SHORT_PROGRAM


def with_fresh_keys(judged: Judged) -> Judgement:
    """A violation by averages, if it comes back at its instance with many fresh keys."""
    from theorysim.engine.confirm.fresh_keys import how_many, lost_with_other_keys

    judgement, setup = judged.judgement, judged.setup
    assert judgement.row is not None
    place = judged.at(judgement.row)
    lost = lost_with_other_keys(setup, judged.reading, judged.claim, *place)
    if not lost:
        note = f"{judgement.note} and with {how_many(setup.theorem.keys)}"
        return replace(judgement, note=note)
    note = f"{judgement.note}, but not with {lost}"
    return replace(judgement, verdict=Verdict.INCONCLUSIVE, note=note, confirmation="")
