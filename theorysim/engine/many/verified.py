"""What `verify_all` finds of every statement."""

from __future__ import annotations

from dataclasses import dataclass

from theorysim.claims.verdict import Verdict
from theorysim.engine.many.outcome import Outcome, Outcomes


@dataclass(frozen=True)
class Verified(Outcome):
    """One statement: what `Report.as_json` gives and the seconds it took, or its error."""

    @property
    def hides_a_misprint(self) -> bool:
        """Whether a printed reading is violated although the verdict, of a correction, is not."""
        if self.report is None or self.verdict == Verdict.VIOLATED:
            return False
        readings = self.report["readings"]
        violated = [one for one in readings if one["verdict"] == Verdict.VIOLATED]
        return any(one["source"]["kind"] == "printed" for one in violated)


@dataclass(frozen=True)
class Verifications(Outcomes[Verified]):
    """The outcome of `verify_all`, in the order of the catalogue."""

    statements: tuple[Verified, ...]

    @property
    def caption(self) -> str:
        """How many there are of each verdict, and how many more are violated in print."""
        more = sum(one.hides_a_misprint for one in self.statements)
        told = f"; in print {more} more {'is' if more == 1 else 'are'} violated" if more else ""
        return super().caption + told
