"""The pictures of a review: what is violated, else what is tightest, of the readings attacked."""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping
from dataclasses import replace

from theorysim.claims.verdict import Verdict
from theorysim.engine.verify.report import ClaimReport, ReadingReport, Report
from theorysim.report.plot import figure

# A report that one reads has few and large panels.
CLAIMS = 3
READINGS = 3
# Vector pictures of thousands of points take megabytes.
LARGEST_VECTOR = 200_000
DOTS_PER_INCH = 150


def pictures(report: Report) -> Mapping[str, str]:
    """Addresses of pictures, by reading: of the primary one, then of prints that are violated."""
    chosen = [reading for reading in report.readings if reading.primary]
    chosen += [r for r in report.readings if _refuted_print(r) and not r.primary]
    return {reading.name: _picture(report, reading) for reading in chosen[:READINGS]}


def _refuted_print(reading: ReadingReport) -> bool:
    return reading.source.kind == "printed" and reading.verdict is Verdict.VIOLATED


def _picture(report: Report, reading: ReadingReport) -> str:
    """The address of a picture that holds it: an SVG, or a PNG where that is smaller by far."""
    shown = tuple(sorted(reading.claims, key=_rank)[:CLAIMS])
    drawn = figure(replace(report, readings=(replace(reading, claims=shown),)))
    drawn.suptitle("")  # the page names the statement
    vector, pixels = io.BytesIO(), io.BytesIO()
    drawn.savefig(vector, format="svg", metadata={"Date": None})
    if vector.tell() <= LARGEST_VECTOR:
        return _address("svg+xml", vector)
    drawn.savefig(pixels, format="png", dpi=DOTS_PER_INCH)
    return _address("png", pixels)


def _address(kind: str, content: io.BytesIO) -> str:
    return f"data:image/{kind};base64,{base64.b64encode(content.getvalue()).decode()}"


def _rank(claim: ClaimReport) -> tuple[bool, float]:
    """Violated ones first, then by how near the sides come; those that tell no nearness last."""
    nearness = claim.tightness if claim.tightness == claim.tightness else -1.0
    return claim.verdict is not Verdict.VIOLATED, -nearness
