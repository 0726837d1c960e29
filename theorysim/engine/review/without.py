"""The statement without one of its hypotheses, tried only where that one fails."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from theorysim.claims.hypotheses import least
from theorysim.claims.instance import Instance
from theorysim.claims.margins import Margin, is_strict, strict
from theorysim.claims.reading import Reading, ResolvedReading
from theorysim.claims.source import Finding
from theorysim.claims.theorem import Theorem


def without_each(theorem: Theorem, reading: ResolvedReading) -> Theorem:
    """The theorem whose readings each have one hypothesis negated, in their order."""
    readings = [
        Reading(
            f"without hypothesis {place}",
            Finding(f"what becomes of the statement without: {name}"),
            hypotheses=_negated(reading.hypotheses, name),
        )
        for place, name in enumerate(reading.hypotheses, 1)
    ]
    own, *others = readings
    return Theorem(
        space=theorem.space,
        simulate=reading.simulate,
        predict=reading.predict,
        claims=reading.claims,
        hypotheses=own.hypotheses or {},
        source=own.source,
        printed=own.name,
        readings=tuple(others),
        keys=theorem.keys,
        instances=theorem.instances,
        integrates=theorem.integrates,
        id=theorem.id,
        title=theorem.title,
    )


def _negated(hypotheses: Mapping[str, Margin], dropped: str) -> dict[str, Margin]:
    """All hypotheses with one negated: strictly, unless it is strict itself."""
    margin = hypotheses[dropped]

    def fails(x: Instance) -> Any:
        return -least(margin, x)

    negated = fails if is_strict(margin) else strict(fails)
    others = {name: other for name, other in hypotheses.items() if name != dropped}
    return {**others, f"not: {dropped}": negated}
