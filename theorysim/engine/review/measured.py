"""Stage 5: what was measured beside what is printed, for claims that climb ladders or average."""

from __future__ import annotations

import math
from dataclasses import dataclass

from theorysim.claims.kinds import BoundedConstant, Claim, Limit, PowerLaw, Probable
from theorysim.claims.theorem import Theorem
from theorysim.engine.review.readings import ClaimVerdict, Readings
from theorysim.engine.review.record import Record
from theorysim.engine.review.words import number


@dataclass(frozen=True)
class Measured(Record):
    """A measured number beside the printed one.

    `low` and `high` end the measured interval; all three are NaN where there is none. `printed` is
    NaN where nothing is printed.
    """

    reading: str
    claim: str
    what: str
    printed: float
    low: float
    high: float
    sentence: str


@dataclass(frozen=True)
class Measurements(Record):
    """Stage 5."""

    found: tuple[Measured, ...]


def measured_numbers(theorem: Theorem, readings: Readings) -> Measurements:
    """The measured exponents, limits, constants and frequencies of primary and printed readings."""
    found = [
        _measured(reading.name, claim, verdict)
        for reading in readings.examined
        for claim, verdict in zip(theorem.reading(reading.name).claims, reading.claims, strict=True)
    ]
    return Measurements(tuple(each for each in found if each is not None))


def _measured(reading: str, claim: Claim, verdict: ClaimVerdict) -> Measured | None:
    low, high = verdict.lhs - verdict.error, verdict.lhs + verdict.error
    between = f"{number(low)} to {number(high)}"
    if isinstance(claim, PowerLaw):
        (variable,) = claim.over
        relations = {"equal": "", "at_most": "at most ", "at_least": "at least "}
        printed = f"{variable}^{number(claim.exponent)}"
        sentence = f"printed {relations[claim.power_relation]}{printed}, "
        sentence += f"measured exponent {between}" if math.isfinite(low) else "nothing measured"
        what = f"exponent of {variable}"
        return Measured(reading, claim.name, what, claim.exponent, low, high, sentence)
    if isinstance(claim, Probable):
        sentence = f"printed probability {number(verdict.rhs)}, "
        sentence += f"measured frequency {number(verdict.lhs)} at the worst instance"
        what = "probability"
        return Measured(reading, claim.name, what, verdict.rhs, low, high, sentence)
    if isinstance(claim, Limit | BoundedConstant):
        what = "limit" if isinstance(claim, Limit) else "constant"
        nothing = math.nan
        return Measured(reading, claim.name, what, nothing, nothing, nothing, verdict.note)
    return None
