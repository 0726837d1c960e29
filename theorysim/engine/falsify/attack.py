"""Searching for violations of several claims of a reading together, sizes after sizes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from theorysim.claims.claim import Claim, Kind
from theorysim.claims.theorem import ResolvedReading, Theorem
from theorysim.engine.falsify.confirm import Confirmation
from theorysim.engine.falsify.objective import INFEASIBLE, Scored, Target
from theorysim.engine.falsify.report import Attack, decisive_numbers
from theorysim.engine.falsify.resample import of_claim
from theorysim.engine.falsify.search import search
from theorysim.engine.measure.draw import Settings
from theorysim.engine.verify.verify import verify

# Share of the budget for the smallest sizes, before the theorem's own.
SMALL_SHARE = 0.5


@dataclass(eq=False)
class Pursuit:
    """The search for a violation of one claim, after it was `drawn` anew where it has a ladder.

    `evaluations` are those of the search at earlier sizes, `fleeting` the violations that did not
    persist; `best` holds the points of the largest ratio so far.
    """

    theorem: Theorem
    reading: ResolvedReading
    claim: Claim
    drawn: Attack | None = None
    evaluations: int = 0
    fleeting: int = 0
    best: tuple[Scored, Confirmation] | None = None
    refuted: Attack | None = None

    @property
    def confirmable(self) -> bool:
        """Whether one instance can violate the claim; a constant is only made large."""
        return self.claim.kind is not Kind.EXISTS_CONSTANT

    def follow(self, found: Scored, confirmation: Confirmation) -> None:
        """Remember the largest ratio."""
        if self.best is None or np.max(found.ratios) > np.max(self.best[0].ratios):
            self.best = found, confirmation

    def hit(self, instance: dict[str, Any], evaluations: int) -> None:
        """Replay a confirmed counterexample, which ends the pursuit."""
        only = {"reading": self.reading.name, "claims": [self.claim.name]}
        replay = verify(self.theorem, **only, instance=instance)
        found = of_claim(replay, self.claim)
        self.refuted = self._attack(
            self.evaluations + evaluations,
            refuted=True,
            **decisive_numbers(found),
            instance=instance,
        )

    def outcome(self) -> Attack:
        """The counterexample, or the largest ratio that was reached."""
        if self.refuted is not None:
            return self.refuted
        assert self.best is not None
        found, confirmation = self.best
        row = int(np.argmax(found.ratios))
        (values,) = confirmation.instances(found.points[row : row + 1])
        feasible = np.max(found.scores) > INFEASIBLE / 2
        ratio = float(np.exp(found.ratios[row])) if np.isfinite(found.ratios[row]) else math.nan
        return self._attack(
            self.evaluations,
            refuted=False,
            ratio=ratio,
            ratio_instance=confirmation.as_json(values) if math.isfinite(ratio) else None,
            note=self._note() if feasible else "no feasible point was found",
        )

    def _note(self) -> str:
        if not self.fleeting:
            return ""
        where = "a little beside, in noisy arithmetic or with fresh keys"
        return f"dropped {self.fleeting} violations that vanish {where}"

    def _attack(self, searched: int, **outcome: Any) -> Attack:
        drawn = (self.drawn.evaluations, self.drawn.runs) if self.drawn else (0, 0)
        return Attack(
            self.reading.name,
            self.claim.name,
            str(self.claim.kind),
            evaluations=drawn[0] + searched,
            runs=drawn[1] + searched * self.theorem.keys,
            **outcome,
        )


def pursue(
    pursuits: Sequence[Pursuit],
    settings: Settings,
    given: Mapping[str, Any],
    budget: int,
    seed: int,
) -> None:
    """Attack the claims of one reading until each is refuted or the budget is spent."""
    if not pursuits:
        return
    theorem, reading = pursuits[0].theorem, pursuits[0].reading
    for sizes, share in _size_ladder(theorem, settings, given):
        at = Settings(sizes, settings.values)
        running = [pursuit for pursuit in pursuits if pursuit.refuted is None]
        if not running:
            return
        target = Target(theorem, reading, [pursuit.claim for pursuit in running], at, seed)
        confirmation = Confirmation(theorem, reading, at, seed)
        _pursue_at(target, confirmation, running, max(1, int(budget * share)), seed)


def _pursue_at(
    target: Target,
    confirmation: Confirmation,
    pursuits: Sequence[Pursuit],
    budget: int,
    seed: int,
) -> None:
    """One search at fixed sizes; whatever it finds is measured at once."""

    def running() -> list[int]:
        return [row for row, pursuit in enumerate(pursuits) if pursuit.refuted is None]

    for found in search(target, budget, seed, running):
        elites = {pursuits[row]: found[row] for row in running()}
        suspects = {p.claim: elite for p, elite in elites.items() if p.confirmable}
        hits = confirmation.confirmed(suspects)
        for pursuit, elite in elites.items():
            pursuit.follow(elite, confirmation)
            if pursuit.claim in hits:
                pursuit.hit(confirmation.as_json(hits[pursuit.claim]), target.evaluations)
    for pursuit in pursuits:
        pursuit.evaluations += target.evaluations
        pursuit.fleeting += confirmation.fleeting[pursuit.claim]


def _size_ladder(
    theorem: Theorem, settings: Settings, given: Mapping[str, Any]
) -> Iterator[tuple[dict[str, int], float]]:
    """Sizes to search with their share of the budget: the smallest first, then the own ones."""
    own = dict(settings.sizes)
    small = {
        name: own[name] if name in given else min(own[name], max(size.low, 2))
        for name, size in theorem.space.sizes.items()
    }
    if small != own:
        yield small, SMALL_SHARE
        yield own, 1 - SMALL_SHARE
    else:
        yield own, 1.0
