"""The task of verifying one statement. It imports nothing heavy before it works."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from theorysim.engine.many.task import NO_CODE, Code

if TYPE_CHECKING:
    from theorysim.engine.many.verified import Verified


@dataclass(frozen=True)
class Verification:
    """A statement of the catalogue with these files, and how `verify` is asked for it."""

    theorem: str
    code: Code = NO_CODE
    seed: int = 0
    instances: int | None = None

    def work(self) -> Verified:
        """Its report; what the statement raises is a result, too."""
        from theorysim.engine.many.attempt import attempt
        from theorysim.engine.many.verified import Verified

        return attempt(Verified, self.theorem, self._report)

    def failed(self, error: Exception) -> Verified:
        """The result where the work could not be done."""
        from theorysim.engine.many.attempt import failed
        from theorysim.engine.many.verified import Verified

        return failed(Verified, self.theorem, error)

    def _report(self) -> Mapping[str, Any]:
        from theorysim.engine import registry
        from theorysim.engine.verify.verify import verify

        theorem = registry.theorem(self.theorem, self.code.files)
        return verify(theorem, seed=self.seed, instances=self.instances).as_json()
