"""Verifications as records, and records as reports again: all but instances and arrays is kept."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from theorysim.claims.source import Corrected, Finding, Printed, Source
from theorysim.claims.theorem import Theorem
from theorysim.claims.verdict import Verdict
from theorysim.engine.verify.report import ClaimReport, HypothesisReport, ReadingReport, Report

SOURCES = {source.kind: source for source in (Printed, Corrected, Finding)}
# What a record leaves out: it belongs to the theorem, or to one run.
OF_REPORT = {"title", "verdict"}
OF_CLAIM = {"statement", "error_parts", "worst_instance"}
NUMBERS = ("lhs", "rhs", "slack", "error", "tightness")


def to_record(report: Report, source: str) -> dict[str, Any]:
    """The report as JSON data; `source` is the hash of the code that it is about."""
    data = _without(report.as_json(), OF_REPORT)
    for reading in data["readings"]:
        reading["claims"] = [_without(claim, OF_CLAIM) for claim in reading["claims"]]
    return {"theorem": data.pop("theorem"), "source": source, **data}


def from_record(record: Mapping[str, Any], theorem: Theorem) -> Report:
    """The report of a recorded verification of this theorem."""
    return Report(
        theorem=theorem.id,
        title=theorem.title,
        seed=record["seed"],
        instances=record["instances"],
        sizes=record["sizes"],
        versions=record["versions"],
        readings=tuple(_reading(reading, theorem) for reading in record["readings"]),
        warnings=tuple(record["warnings"]),
    )


def _without(data: dict[str, Any], names: set[str]) -> dict[str, Any]:
    return {name: value for name, value in data.items() if name not in names}


def _reading(data: dict[str, Any], theorem: Theorem) -> ReadingReport:
    claims = {claim.name: claim for claim in theorem.reading(data["name"]).claims}
    return ReadingReport(
        name=data["name"],
        source=_source(data["source"]),
        primary=data["primary"],
        note=data["note"],
        hypotheses=tuple(
            HypothesisReport(**{**h, "worst_margin": _number(h["worst_margin"])})
            for h in data["hypotheses"]
        ),
        claims=tuple(
            ClaimReport(
                claims[claim["name"]],
                Verdict(claim["verdict"]),
                **{name: _number(claim[name]) for name in NUMBERS},
                **{name: claim[name] for name in ("ties", "checked", "resolved", "draws")},
                **{name: claim[name] for name in ("note", "confirmation")},
            )
            for claim in data["claims"]
        ),
        requirements={
            name: (_number(part["least"]), _number(part["median"]))
            for name, part in data["requirements"].items()
        },
        satisfying=data["satisfying"],
        drawn=data["drawn"],
    )


def _source(data: dict[str, Any]) -> Source:
    return SOURCES[data["kind"]](**_without(data, {"kind"}))


def _number(value: float | str | None) -> float:
    """The number that `json_number` wrote."""
    return math.nan if value is None else float(value)
