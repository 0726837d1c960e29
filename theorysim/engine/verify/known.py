"""Counterexamples that the ledger knows, tried again where the draws of a seed show none.

A printed claim that is known to be false is not called true by the luck of a seed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from theorysim.claims.theorem import Theorem
from theorysim.claims.verdict import Verdict
from theorysim.engine.measure.instance_files import read_instance
from theorysim.engine.measure.setup import Settings
from theorysim.engine.registry.ledger import errata
from theorysim.engine.verify.report import ClaimReport, ReadingReport
from theorysim.errors import InstanceError


def known_counterexamples(
    theorem: Theorem, reading: ReadingReport, fixed: Settings | None
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The claims of a reading that are not violated though the ledger refutes them, and by what.

    Of `fixed` sizes and values (None where none is asked for) only instances that have them count,
    and of a theorem that was changed only those that its space still holds.
    """
    names = {claim.name for claim in reading.claims if claim.verdict is not Verdict.VIOLATED}
    for line in errata() if names else ():
        here = (line["theorem"], line["reading"]) == (theorem.id, reading.name)
        if here and line["claim"] in names and _belongs(theorem, line["instance"], fixed):
            yield line["claim"], line["instance"]


def _belongs(theorem: Theorem, instance: Mapping[str, Any], fixed: Settings | None) -> bool:
    try:
        read_instance(theorem, instance)
    except InstanceError:
        return False
    if fixed is None:
        return True
    values = instance["values"]
    alike = (np.array_equal(value, values[name]) for name, value in fixed.values.items())
    return instance["sizes"] == dict(fixed.sizes) and all(alike)


def refuted_by(claim: ClaimReport, known: ClaimReport) -> ClaimReport:
    """The report on a claim that draws did not refute, and a known counterexample did."""
    note = f"the draws of this seed do not show it, a known counterexample does: {known.note}"
    return replace(known, draws=claim.draws, note=note)
