"""Before a claim about averages is said to hold: points that lean the other way are taken again.

Few keys leave a large error, within which much may be violated: a mean of 0.3 that is said to be at
most 0 lies by 2.4 standard errors of 64 keys on the other side. Where one point leans further than
chance lets the worst of all, or the points of many instances together do, averages of fresh keys
decide at the instance that leans most.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from jaxtyping import Float

from theorysim.claims.evidence import BIASES, Evidence, Judgement, Measurement, tabulate
from theorysim.claims.kinds import Pointwise
from theorysim.claims.kinds.equality import Equality
from theorysim.claims.run import BATCHES
from theorysim.claims.verdict import Verdict
from theorysim.engine.confirm.fresh_keys import how_many, taken_again
from theorysim.engine.confirm.judged import Judged

# Chance that points of a true claim, all of whose sides are equal, are taken again for nothing.
CHANCE = 0.05
# What is false of averages stays with many keys, but for their errors; with four times as many
# keys a bias is at most a half of what it was.
KEPT = 0.7


def leaning_point(claim: Pointwise, measurement: Measurement) -> tuple[int, int] | None:
    """The instance to be taken again, and its point; None where none leans by more than chance."""
    from theorysim.numerics.statistics import student_quantile

    lean = _lean(claim, measurement)
    known = np.isfinite(lean)
    if not known.any():
        return None
    lean = np.where(known, lean, -np.inf)
    row, column = np.unravel_index(np.argmax(lean), lean.shape)
    if lean[row, column] > student_quantile(1 - CHANCE / known.sum(), BATCHES - 1):
        return int(row), int(column)
    together = np.sum(lean, axis=0, where=known) / np.sqrt(np.maximum(known.sum(0), 1))
    column = int(np.argmax(together))
    if together[column] > student_quantile(1 - CHANCE / lean.shape[1], BATCHES - 1):
        return int(np.argmax(lean[:, column])), column
    return None


def _stays(claim: Pointwise, before: Measurement, now: Measurement) -> bool:
    """Whether a point leans with more keys, too, and by as much.

    What more keys make less of is a bias that the jackknife does not see, as of the largest of
    several equal means: it falls like 1/sqrt(keys), and is as many standard errors as before.
    """
    point = leaning_point(claim, now)
    if point is None:
        return False
    then, later = (_mean_distance(claim, measured, point[1]) for measured in (before, now))
    return later > KEPT * then


def _mean_distance(claim: Pointwise, measurement: Measurement, column: int) -> float:
    """By how much a point lies on the other side, averaged over instances; 0 where none tells."""
    distance = _distance(claim, measurement)
    distance = distance[:, min(column, distance.shape[1] - 1)]
    known = np.isfinite(distance)
    return float(np.mean(distance[known])) if known.any() else 0.0


def _lean(claim: Pointwise, measurement: Measurement) -> Float[np.ndarray, "rows columns"]:
    """The same of each instance, in standard errors."""
    distance = _distance(claim, measurement)
    with np.errstate(invalid="ignore", divide="ignore"):
        return distance / np.reshape(measurement.sampling, distance.shape)


def _distance(claim: Pointwise, measurement: Measurement) -> Float[np.ndarray, "rows columns"]:
    """By how much points lie on the other side, beyond what else they err by than chance.

    NaN where the claim does not speak, or where no average errs by more than rounding. Of two sides
    that are to be equal it is the distance, with the sign that most of them have.
    """
    points = tabulate(measurement)
    sampling, bias = (
        np.reshape(part, points.lhs.shape) for part in (measurement.sampling, measurement.bias)
    )
    with np.errstate(invalid="ignore"):
        room = claim.slack(points.lhs, points.rhs)
        if isinstance(claim, Equality):
            apart = points.lhs - points.rhs
            room = -apart * np.sign(np.sum(np.sign(np.where(points.applies, apart, 0)), axis=0))
        other = sum(points.parts[part] for part in ("rounding", "integrator", "limit"))
        distance = -room - np.sign(-room) * np.minimum(np.abs(room), other + BIASES * bias)
    uncertain = points.applies & ~points.in_doubt & (sampling > BATCHES * points.parts["rounding"])
    return np.where(uncertain, distance, np.nan)


def unless_leaning(judged: Judged) -> Judgement:
    """What holds by averages, unless points lean the other way, with fresh keys, too.

    It is violated where these violate it at the instance that leans most.
    """
    claim, judgement, keys = judged.claim, judged.judgement, judged.setup.theorem.keys
    assert isinstance(claim, Pointwise)
    point = leaning_point(claim, judged.measurement)
    if point is None:
        return judgement
    row, means = point[0], f"with {how_many(keys)}"
    lost, found = taken_again(judged.setup, judged.reading, claim, *judged.at(row))
    if found is None or (lost and not _stays(claim, judged.measurement, found)):
        return judgement
    if lost:
        note = f"within the error of averages it holds, but they lean the other way, also {means}"
        return replace(judgement, verdict=Verdict.INCONCLUSIVE, note=note)
    shown = claim.judge(Evidence(found))
    note = f"within the error of {keys} keys it holds, but it is violated {means}"
    counts = {name: getattr(judgement, name) for name in ("checked", "resolved", "ties", "scatter")}
    return replace(shown, note=note, confirmation=means, row=row, **counts)
