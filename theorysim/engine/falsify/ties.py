"""Equal sides of a strict inequality: proved with enclosures, as rounding makes sides equal too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import permutations
from typing import Any

import numpy as np

from theorysim.claims.kinds import Claim
from theorysim.claims.theorem import Theorem
from theorysim.enclosures import Outcome
from theorysim.engine.certify.certify import certify
from theorysim.engine.falsify.shrink import Values
from theorysim.errors import UsageError

# Numbers that differ by less, relative to the larger, may be meant to be equal.
ALMOST_EQUAL = 1e-9


def outcome_at(
    theorem: Theorem, reading: str, claim: Claim, instance: Mapping[str, Any]
) -> Outcome:
    """What enclosures make of a claim at an instance; unsupported where they do not reach."""
    try:
        report = certify(theorem, reading=reading, claim=claim.name, instance=instance)
    except UsageError:
        return Outcome.UNSUPPORTED
    return report.certificates[0].outcome


def with_equal_values(values: Values) -> Iterator[Values]:
    """The instance, then it with one of two scalars that are almost equal put in place of both."""
    yield values
    scalars = [name for name, v in values.items() if not v.ndim and v.dtype.kind == "f"]
    for one, other in permutations(scalars, 2):
        distance = abs(values[one] - values[other])
        if 0 < distance <= ALMOST_EQUAL * abs(values[one]):
            yield {**values, other: np.asarray(values[one])}
