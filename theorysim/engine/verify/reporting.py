"""From judgements to the report that a user reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import jax
import numpy as np

from theorysim.claims.theorem import ResolvedReading, Theorem
from theorysim.engine.measure.draw import Settings
from theorysim.engine.measure.sample import Sample
from theorysim.engine.verify.points import Judgement
from theorysim.engine.verify.report import ClaimReport, HypothesisReport, ReadingReport, Report
from theorysim.versions import versions


def reported(
    theorem: Theorem,
    readings: tuple[ResolvedReading, ...],
    settings: Settings,
    sample: Sample,
    judged: Mapping[str, Mapping[str, Judgement]],
    seed: int,
) -> Report:
    """The report on all readings."""
    return Report(
        theorem=theorem.id,
        title=theorem.title,
        seed=seed,
        instances=max(len(rows) for rows in sample.rows.values()),
        sizes=settings.sizes,
        versions=versions(),
        readings=tuple(_reading_report(theorem, r, sample, judged[r.name]) for r in readings),
    )


def _reading_report(
    theorem: Theorem, reading: ResolvedReading, sample: Sample, judged: Mapping[str, Judgement]
) -> ReadingReport:
    rows, drawn = sample.rows[reading.name], sample.drawn
    hypotheses = ()
    if drawn is not None:
        hypotheses = tuple(
            HypothesisReport(
                name,
                int((drawn.values[margin] >= 0).sum()),
                len(drawn.values[margin]),
                float(np.min(drawn.values[margin])),
            )
            for name, margin in reading.hypotheses.items()
        )
    return ReadingReport(
        name=reading.name,
        primary=reading.primary,
        note=reading.note,
        hypotheses=hypotheses,
        claims=tuple(_located(theorem, sample, rows, judgement) for judgement in judged.values()),
        demands=_demands(reading, sample),
        satisfying=len(rows) if drawn is None else int(drawn.satisfied(reading).sum()),
        drawn=len(rows) if drawn is None else len(drawn.keys),
    )


def _demands(reading: ResolvedReading, sample: Sample) -> dict[str, tuple[float, float]]:
    """Least and median over the instances that satisfy; over all drawn ones where none does."""
    if sample.drawn is None:
        values = {
            name: np.asarray(jax.vmap(f)(sample.instances)) for name, f in reading.demands.items()
        }
    else:
        met = sample.drawn.satisfied(reading)
        chosen = met if met.any() else ~met
        values = {name: sample.drawn.values[f][chosen] for name, f in reading.demands.items()}
    return {name: (float(np.min(v)), float(np.median(v))) for name, v in values.items()}


def _located(
    theorem: Theorem, sample: Sample, rows: np.ndarray, judgement: Judgement
) -> ClaimReport:
    """The claim's report with the instance that decided it, in a form that can be replayed."""
    if judgement.row is None:
        return judgement.report
    row = rows[judgement.row]
    x = jax.tree.map(lambda leaf: leaf[row], sample.instances)
    data = {"theorem": theorem.id, **theorem.space.to_json(x)}
    data["key"] = sample.keys[row].tolist()
    return replace(judgement.report, worst_instance=data)
