"""Searching for violations of several claims of a reading together, sizes after sizes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from theorysim.claims.kinds import Claim, Pointwise
from theorysim.engine.falsify.confirm import Confirmation
from theorysim.engine.falsify.objective import INFEASIBLE, Objective, Scored
from theorysim.engine.falsify.report import Attack, decisive_numbers
from theorysim.engine.falsify.resample import of_claim
from theorysim.engine.falsify.search import search
from theorysim.engine.measure.setup import Settings, Setup
from theorysim.engine.verify.verify import verify

# Share of the budget for the smallest sizes, before the theorem's own.
SMALL_SHARE = 0.5


@dataclass(eq=False)
class ClaimSearch:
    """The search for a violation of one claim, after it was `resampled` where that decides it.

    `evaluations` are those of the search at earlier sizes, `unconfirmed` the violations that did
    not persist; `best` holds the points of the largest ratio so far.
    """

    setup: Setup
    claim: Claim
    resampled: Attack | None = None
    evaluations: int = 0
    unconfirmed: int = 0
    best: tuple[Scored, Confirmation] | None = None
    refuted: Attack | None = None

    @property
    def _reading(self) -> str:
        (reading,) = self.setup.readings
        return reading.name

    def follow(self, found: Scored, confirmation: Confirmation) -> None:
        """Remember the largest ratio."""
        if self.best is None or np.max(found.ratios) > np.max(self.best[0].ratios):
            self.best = found, confirmation

    def hit(self, instance: dict[str, Any], evaluations: int) -> None:
        """Replay a confirmed counterexample, which ends the search."""
        only = {"reading": self._reading, "claims": [self.claim.name]}
        replay = verify(self.setup.theorem, **only, instance=instance)
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
        tells = np.isfinite(found.ratios[row]) and not math.isnan(self.claim.ratio_limit)
        ratio = float(np.exp(found.ratios[row])) if tells else math.nan
        return self._attack(
            self.evaluations,
            refuted=False,
            ratio=ratio,
            ratio_instance=confirmation.as_json(values) if math.isfinite(ratio) else None,
            note=self._note() if feasible else "no feasible point was found",
        )

    def _note(self) -> str:
        if not self.unconfirmed:
            return ""
        where = "nearby, in Monte Carlo arithmetic or with fresh keys"
        return f"dropped {self.unconfirmed} violations that vanish {where}"

    def _attack(self, searched: int, **outcome: Any) -> Attack:
        before = self.resampled
        return Attack(
            self._reading,
            self.claim.name,
            self.claim.kind,
            evaluations=(before.evaluations if before else 0) + searched,
            runs=(before.runs if before else 0) + searched * self.setup.theorem.keys,
            ratio_limit=self.claim.ratio_limit,
            **outcome,
        )


def search_claims(
    setup: Setup, searches: Sequence[ClaimSearch], given: Mapping[str, Any], budget: int
) -> None:
    """Search for the claims of one reading until each is refuted or the budget is spent."""
    if not searches:
        return
    for sizes, share in _size_ladder(setup, given):
        at = setup.at(Settings(sizes, setup.settings.values))
        running = [search for search in searches if search.refuted is None]
        if not running:
            return
        objective = Objective(at, [search.claim for search in running])
        confirmation = Confirmation(at)
        _search_at(objective, confirmation, running, max(1, int(budget * share)), setup.seed)


def _search_at(
    objective: Objective,
    confirmation: Confirmation,
    searches: Sequence[ClaimSearch],
    budget: int,
    seed: int,
) -> None:
    """One search at fixed sizes; whatever it finds is measured at once."""

    def running() -> list[int]:
        return [row for row, one in enumerate(searches) if one.refuted is None]

    for found in search(objective, budget, seed, running):
        elites = {searches[row]: found[row] for row in running()}
        suspects = {
            one.claim: elite for one, elite in elites.items() if isinstance(one.claim, Pointwise)
        }
        hits = {claim.name: hit for claim, hit in confirmation.confirm(suspects).items()}
        for one, elite in elites.items():
            one.follow(elite, confirmation)
            if one.claim.name in hits:
                one.hit(confirmation.as_json(hits[one.claim.name]), objective.evaluations)
    for one in searches:
        one.evaluations += objective.evaluations
        one.unconfirmed += confirmation.unconfirmed[one.claim.name]


def _size_ladder(setup: Setup, given: Mapping[str, Any]) -> Iterator[tuple[dict[str, int], float]]:
    """Sizes to search with their share of the budget: the smallest first, then the own ones."""
    own = dict(setup.settings.sizes)
    small = {
        name: own[name] if name in given else min(own[name], max(size.low, 2))
        for name, size in setup.theorem.space.sizes.items()
    }
    if small != own:
        yield small, SMALL_SHARE
        yield own, 1 - SMALL_SHARE
    else:
        yield own, 1.0
