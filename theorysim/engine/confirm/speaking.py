"""Of which points a claim speaks: where its condition is met by more than rounding."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from jaxtyping import Array, Bool, Float

from theorysim.claims.instance import Instance, SizeItems, size_items
from theorysim.claims.kinds import Claim
from theorysim.claims.margins import Margin
from theorysim.enclosures import Formula
from theorysim.engine.confirm.conditions import is_clearly_met
from theorysim.engine.confirm.many_bits import FIRST, MORE, counts, values_with_bits
from theorysim.engine.confirm.suspect import Case
from theorysim.engine.confirm.traced import condition_of
from theorysim.jaxprs.work import work

# Entries that conditions of all instances may take together; so many are asked in any case.
MOST_WORK, LEAST_ASKED = 1_000_000, 4


class Told(NamedTuple):
    """What many bits tell of the condition of each point of an instance.

    `met` or `missed` for certain; `enclosed` where they could tell.
    """

    met: Bool[np.ndarray, " path"]
    missed: Bool[np.ndarray, " path"]
    enclosed: Bool[np.ndarray, " path"]


def nothing_told(points: int, enclosed: bool) -> Told:
    """Of an instance that is not asked for."""
    none = np.zeros(points, bool)
    return Told(none, none, np.full(points, enclosed))


def told_with_bits(case: Case[Claim], x: Instance, key: np.ndarray | Array, points: int) -> Told:
    """What they tell of an instance: of the condition alone, whatever the sides are made of.

    Nothing of one that is too long, and of means and limits, whose errors were measured.
    """
    found, formula = nothing_told(points, False), _condition(case, size_items(x))
    if formula is None or work(formula.program) > FIRST.most_work:
        return found
    for bits in (*FIRST.precisions, *MORE.precisions):
        values = values_with_bits(case, formula, x, key, bits, FIRST.most_work)
        if values is None:
            break
        said = [counts(case, margin, bits) for margin in values.margins]
        met, missed = (np.array([one is answer for one in said], bool) for answer in (True, False))
        enclosed = np.array([bool(margin.is_finite()) for margin in values.margins], bool)
        found = Told(met, missed, enclosed)
        if (met | missed).all():
            break
    return found


def affordable(case: Case[Claim], sizes: SizeItems) -> int:
    """Of how many instances bits may be asked, one after the other; of few in any case."""
    formula = _condition(case, sizes)
    return max(LEAST_ASKED, MOST_WORK // max(1, work(formula.program))) if formula else 0


@lru_cache(maxsize=256)
def _condition(case: Case[Claim], sizes: SizeItems) -> Formula | None:
    return condition_of(case, sizes)


def is_spoken_of(
    where: Margin, told: Told, condition: Float[np.ndarray, "lanes+1 path"], origins: bool = False
) -> Bool[np.ndarray, " path"]:
    """At which points a condition is met: as bits tell, else in all lanes.

    It may hold with equality only where no enclosure could tell. With moved `origins` alone, all
    lanes overflow, or absorb, alike: there neither counts.
    """
    clear = is_clearly_met(where, condition, ~told.enclosed)
    if origins:
        clear &= (np.isfinite(condition) & (condition > 0)).all(axis=0)
    return told.met | (clear & ~told.missed)
