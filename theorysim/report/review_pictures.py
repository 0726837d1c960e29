"""The pictures of a review: what is violated, else what is tightest, of the readings attacked."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import replace

from theorysim.claims.verdict import Verdict
from theorysim.engine.verify.report import ClaimReport, ReadingReport, Report
from theorysim.report.plot import figure

# A report that one reads has few and large panels.
CLAIMS = 3
READINGS = 3


def pictures(report: Report) -> Mapping[str, str]:
    """SVG texts by the name of the reading: the primary one, then prints that are violated."""
    chosen = [reading for reading in report.readings if reading.primary]
    chosen += [r for r in report.readings if _refuted_print(r) and not r.primary]
    return {reading.name: _svg(report, reading) for reading in chosen[:READINGS]}


def _refuted_print(reading: ReadingReport) -> bool:
    return reading.source.kind == "printed" and reading.verdict is Verdict.VIOLATED


def _svg(report: Report, reading: ReadingReport) -> str:
    shown = tuple(sorted(reading.claims, key=_rank)[:CLAIMS])
    picture = figure(replace(report, readings=(replace(reading, claims=shown),)))
    text = io.StringIO()
    picture.savefig(text, format="svg", metadata={"Date": None})
    return text.getvalue()


def _rank(claim: ClaimReport) -> tuple[bool, float]:
    """Violated ones first, then by how near the sides come; those that tell no nearness last."""
    nearness = claim.tightness if claim.tightness == claim.tightness else -1.0
    return claim.verdict is not Verdict.VIOLATED, -nearness
