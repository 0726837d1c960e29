"""From judgements to the report that a user reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace

import jax
import numpy as np

from theorysim.claims.evidence import Judgement
from theorysim.claims.kinds import Claim
from theorysim.claims.margins import is_met
from theorysim.claims.reading import ResolvedReading
from theorysim.claims.theorem import Theorem
from theorysim.engine.measure.sample import Sample
from theorysim.engine.measure.setup import Setup
from theorysim.engine.verify.judge import Judgements
from theorysim.engine.verify.report import ClaimReport, HypothesisReport, ReadingReport, Report
from theorysim.versions import versions


def make_report(
    setup: Setup, sample: Sample, judged: Judgements, warnings: tuple[str, ...] = ()
) -> Report:
    """The report on all readings."""
    theorem = setup.theorem
    return Report(
        theorem=theorem.id,
        title=theorem.title,
        seed=setup.seed,
        instances=max(len(rows) for rows in sample.rows.values()),
        sizes=setup.settings.sizes,
        versions=versions(),
        readings=tuple(_reading_report(theorem, r, sample, judged[r.name]) for r in setup.readings),
        warnings=warnings,
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
                int(is_met(margin, drawn.values[margin]).sum()),
                len(drawn.values[margin]),
                float(np.min(drawn.values[margin])),
            )
            for name, margin in reading.hypotheses.items()
        )
    return ReadingReport(
        name=reading.name,
        source=reading.source,
        primary=reading.primary,
        note=reading.note,
        hypotheses=hypotheses,
        claims=tuple(
            _claim_report(theorem, sample, reading, claim, judged[claim.name])
            for claim in reading.claims
        ),
        requirements=_requirements(reading, sample),
        satisfying=len(rows) if drawn is None else int(drawn.satisfied(reading).sum()),
        drawn=len(rows) if drawn is None else len(drawn.keys),
    )


def _requirements(reading: ResolvedReading, sample: Sample) -> dict[str, tuple[float, float]]:
    """Least and median over the instances that satisfy; over all drawn ones where none does."""
    if sample.drawn is None:
        values = {
            name: np.asarray(jax.vmap(f)(sample.instances))
            for name, f in reading.requirements.items()
        }
    else:
        met = sample.drawn.satisfied(reading)
        chosen = met if met.any() else ~met
        values = {name: sample.drawn.values[f][chosen] for name, f in reading.requirements.items()}
    return {name: (float(np.min(v)), float(np.median(v))) for name, v in values.items()}


def _claim_report(
    theorem: Theorem,
    sample: Sample,
    reading: ResolvedReading,
    claim: Claim,
    judgement: Judgement,
) -> ClaimReport:
    """The claim's report with the instance that decided it, in a form that can be replayed."""
    shared = {f.name for f in fields(ClaimReport)} & {f.name for f in fields(Judgement)}
    rows = sample.rows_of(reading, claim)
    draws = 0 if sample.drawn is None else len(rows)
    report = ClaimReport(claim, **{n: getattr(judgement, n) for n in shared}, draws=draws)
    if judgement.row is None:
        return report
    row = rows[judgement.row]
    x = jax.tree.map(lambda leaf: leaf[row], sample.instances)
    data = {"theorem": theorem.id, **theorem.space.to_json(x)}
    data["key"] = sample.keys[row].tolist()
    return replace(report, worst_instance=data)
