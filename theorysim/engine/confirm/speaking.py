"""Of which points a claim speaks: where its condition is met by more than rounding."""

from __future__ import annotations

from typing import NamedTuple

import jax
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
from theorysim.precision import remembers_traces

# Entries that conditions of all instances may take together. So many are asked in any case, and no
# more: each takes some milliseconds.
MOST_WORK, LEAST_ASKED, MOST_ASKED = 1_000_000, 4, 64


class Told(NamedTuple):
    """What many bits tell of the condition of each point of an instance, or of stacked ones.

    `met` or `missed` for certain; `enclosed` where they could tell.
    """

    met: Bool[np.ndarray, "*rows path"]
    missed: Bool[np.ndarray, "*rows path"]
    enclosed: Bool[np.ndarray, "*rows path"]


def nothing_told(shape: tuple[int, ...], enclosed: bool) -> Told:
    """Of points that are not asked for."""
    return Told(np.zeros(shape, bool), np.zeros(shape, bool), np.full(shape, enclosed))


def told_with_bits(case: Case[Claim], x: Instance, key: np.ndarray | Array, points: int) -> Told:
    """What they tell of an instance: of the condition alone, whatever the sides are made of.

    Nothing of one that is too long, and of means and limits, whose errors were measured.
    """
    found, formula = nothing_told((points,), False), _condition(case, size_items(x), points)
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


def told_of_rows(
    case: Case[Claim],
    where: Margin,
    condition: Float[np.ndarray, "rows lanes+1 path"],
    instances: Instance,
    keys: np.ndarray,
) -> Told:
    """The same of stacked instances, as far as lanes leave it open and it is affordable.

    What could be enclosed of some could be so of the others.
    """
    with np.errstate(invalid="ignore"):
        missed = condition.max(axis=1) < -np.ptp(condition, axis=1)
    is_open = ~(missed | is_clearly_met(where, condition, equalities=False)).all(axis=1)
    points = condition.shape[2]
    formula = _condition(case, size_items(instances), points)
    most = MOST_WORK // max(1, work(formula.program)) if formula else 0
    rows = np.flatnonzero(is_open)[: np.clip(most, LEAST_ASKED, MOST_ASKED)]
    asked = []
    for row in rows:
        x, key = jax.tree.map(lambda leaf, row=row: np.asarray(leaf)[row], (instances, keys))
        asked.append(told_with_bits(case, x, key, points))
    found = nothing_told((len(keys), points), any(one.enclosed.any() for one in asked))
    for part, *own in zip(found, *asked, strict=True):
        part[rows] = np.reshape(own, (len(rows), points))
    return found


@remembers_traces
def _condition(case: Case[Claim], sizes: SizeItems, points: int) -> Formula | None:
    return condition_of(case, sizes, points)


def is_spoken_of(
    where: Margin,
    told: Told,
    condition: Float[np.ndarray, "*rows lanes+1 path"],
    origins: bool = False,
) -> Bool[np.ndarray, "*rows path"]:
    """At which points a condition is met: as bits tell, else in all lanes.

    It may hold with equality only where no enclosure could tell. With moved `origins` alone, all
    lanes overflow, or absorb, alike: there neither counts.
    """
    clear = is_clearly_met(where, condition, ~told.enclosed)
    if origins:
        clear &= (np.isfinite(condition) & (condition > 0)).all(axis=-2)
    return told.met | (clear & ~told.missed)
