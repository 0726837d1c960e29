"""Stage 7: which planted errors the claims refute; one that refutes none may say nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from theorysim.claims.theorem import Theorem
from theorysim.claims.verdict import Verdict
from theorysim.engine.review.readings import Readings
from theorysim.engine.review.record import Record
from theorysim.engine.verify.mutation import mutation


@dataclass(frozen=True)
class ClaimMutants(Record):
    """The planted errors that touch one claim: those it refutes and those it does not.

    `reason` is why it refutes none, where the theorem says so.
    """

    reading: str
    claim: str
    refutes: tuple[str, ...]
    survives: tuple[str, ...]
    reason: str

    @property
    def unexplained(self) -> bool:
        """Whether nothing shows that the claim can fail."""
        return not self.refutes and not self.reason


@dataclass(frozen=True)
class Mutants(Record):
    """Stage 7."""

    claims: tuple[ClaimMutants, ...]


def plant_errors(theorem: Theorem, readings: Readings, seed: int) -> Mutants:
    """Try the mutants of the primary reading, and of the printed ones that hold."""
    found: list[ClaimMutants] = []
    for reading in readings.examined:
        holds = reading.kind == "printed" and reading.verdict is Verdict.HOLDS
        if not (reading.primary or holds):
            continue
        outcome = mutation(theorem, reading=reading.name, seed=seed)
        for claim, verdicts in outcome.verdicts.items():
            found.append(_claim(reading.name, claim, verdicts, theorem.survivors))
    return Mutants(tuple(found))


def _claim(
    reading: str, claim: str, verdicts: Mapping[str, Verdict], reasons: Mapping[str, str]
) -> ClaimMutants:
    killed = tuple(name for name, verdict in verdicts.items() if verdict is Verdict.VIOLATED)
    alive = tuple(name for name in verdicts if name not in killed)
    return ClaimMutants(reading, claim, killed, alive, reasons.get(claim, ""))
