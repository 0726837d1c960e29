"""Searching for violations of several claims of a reading together, sizes after sizes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import jax
import numpy as np

from theorysim.claims.kinds import Claim, Pointwise
from theorysim.engine.falsify.draws import Draws
from theorysim.engine.falsify.examine import Examiner
from theorysim.engine.falsify.moves import Coordinates
from theorysim.engine.falsify.objective import INFEASIBLE, Objective
from theorysim.engine.falsify.points import Points, Scored
from theorysim.engine.falsify.report import Attack, decisive_numbers
from theorysim.engine.falsify.search import Search
from theorysim.engine.falsify.sizes import (
    Sizes,
    large_sizes,
    small_sizes,
)
from theorysim.engine.measure.setup import Settings, Setup
from theorysim.engine.verify.report import ClaimReport, excluded_share
from theorysim.errors import UsageError

EQUAL = "the sides are equal where the claim is strict, as enclosures prove"


@dataclass(eq=False)
class ClaimSearch:
    """The search for a violation of one claim, after it was `resampled` where that decides it.

    `evaluations` are those of the search at earlier sizes, `unconfirmed` the violations that did
    not persist, `draws` the plain ones at the theorem's own sizes that were examined; `ratio` is
    the largest log lhs/rhs so far and `ratio_instance` where, `sizes` are those at which some point
    met the hypotheses.
    """

    setup: Setup
    claim: Claim
    resampled: Attack | None = None
    evaluations: int = 0
    unconfirmed: int = 0
    draws: float = 0.0
    sizes: list[Mapping[str, int]] = field(default_factory=list)
    feasible: bool = False
    ratio: float = -math.inf
    ratio_instance: dict[str, Any] | None = None
    refuted: Attack | None = None

    @property
    def _reading(self) -> str:
        (reading,) = self.setup.readings
        return reading.name

    def visit(self, found: Scored, sizes: Mapping[str, int]) -> None:
        """Remember sizes at which some point meets the hypotheses."""
        if np.max(found.scores) > INFEASIBLE / 2:
            self.feasible = True
            if sizes not in self.sizes:
                self.sizes.append(dict(sizes))

    def follow(self, found: Scored, examiner: Examiner) -> None:
        """Remember the largest ratio."""
        row = int(np.argmax(found.ratios))
        tells = np.isfinite(found.ratios[row]) and not math.isnan(self.claim.ratio_limit)
        if tells and found.ratios[row] > self.ratio:
            (candidate,) = examiner.candidates(found.points.rows(slice(row, row + 1)))
            self.ratio = float(found.ratios[row])
            self.ratio_instance = examiner.as_json(candidate)

    def hit(self, instance: dict[str, Any], found: ClaimReport, evaluations: int) -> None:
        """Remember a confirmed counterexample and its replay, which ends the search."""
        self.refuted = self._attack(
            self.evaluations + evaluations,
            refuted=True,
            **decisive_numbers(found),
            instance=instance,
            note="" if found.slack < -found.error else EQUAL,
        )

    def outcome(self) -> Attack:
        """The counterexample, or the largest ratio that was reached."""
        if self.refuted is not None:
            return self.refuted
        known = self.ratio_instance is not None
        return self._attack(
            self.evaluations,
            refuted=False,
            ratio=float(np.exp(self.ratio)) if known else math.nan,
            ratio_instance=self.ratio_instance,
            draws=int(self.draws),
            excluded_share=excluded_share(int(self.draws)) if self._decides_alone else math.nan,
            note=self._note() if self.feasible else "no feasible point was found",
        )

    @property
    def _decides_alone(self) -> bool:
        """Whether one instance can violate the claim."""
        return isinstance(self.claim, Pointwise)

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
            strict=self.claim.strict,
            ratio_limit=self.claim.ratio_limit,
            sizes=tuple(self.sizes),
            **outcome,
        )


def search_claims(
    setup: Setup, searches: Sequence[ClaimSearch], given: Mapping[str, Any], budget: int
) -> None:
    """Search for the claims of one reading until each is refuted or the budget is spent.

    First at the smallest sizes, then at the theorem's own, then at larger ones; only at its own
    where sizes change nothing that is computed.
    """
    if not searches:
        return
    small, large = _other_sizes(setup, [search.claim for search in searches], given, budget)
    left = budget - sum(points for _, points in (*small, *large))
    for sizes, points in (*small, (dict(setup.settings.sizes), left), *large):
        running = [search for search in searches if search.refuted is None]
        if running:
            at = setup.at(Settings(sizes, setup.settings.values))
            _search_at(at, running, points, own=sizes == setup.settings.sizes)


def _other_sizes(
    setup: Setup, claims: Sequence[Claim], given: Mapping[str, Any], budget: int
) -> tuple[list[tuple[Sizes, int]], list[tuple[Sizes, int]]]:
    """Smaller and larger sizes at which something else is computed, with points for each."""
    known = {Objective(setup, claims, budget).computation}

    def differs(sizes: Sizes) -> bool:
        at = setup.at(Settings(sizes, setup.settings.values))
        try:
            computation = Objective(at, claims, budget).computation
        except (TypeError, ValueError):  # shapes that do not go together at these sizes
            return False
        new = computation not in known
        known.add(computation)
        return new

    small, large = (find(setup, given, budget) for find in (small_sizes, large_sizes))
    return [r for r in small if differs(r[0])], [r for r in large if differs(r[0])]


def _search_at(setup: Setup, searches: Sequence[ClaimSearch], budget: int, own: bool) -> None:
    """One search at fixed sizes; whatever it suspects is measured at once."""
    objective = Objective(setup, [search.claim for search in searches], budget)
    if not objective.dimension:
        if own:
            raise UsageError("the space has no field to search over")
        return  # at a size of one a field may have one value only
    examiner = Examiner(setup)

    def running() -> list[int]:
        return [row for row, one in enumerate(searches) if one.refuted is None]

    def examine(points: Points, plain: bool) -> list[Scored]:
        scored = objective.score(points)
        suspected = {
            one.claim: scored[row]
            for row in running()
            if isinstance((one := searches[row]).claim, Pointwise)
        }
        examined = examiner.examine(suspected, every=plain)
        for row in running():
            one = searches[row]
            one.visit(scored[row], setup.settings.sizes)
            if isinstance(one.claim, Pointwise):
                scored[row], hit, tried = examined[one.claim]
                one.draws += tried * np.sum(scored[row].scores > INFEASIBLE / 2) * (plain and own)
                if hit is not None:
                    found = examiner.replayed(one.claim, hit)
                    one.hit(examiner.as_json(hit), found, objective.evaluations)
            one.follow(scored[row], examiner)
        return scored

    draws = Draws(setup, objective.dimension, verified=own)
    known = Coordinates.of(setup.theorem.space, setup.settings.sizes)
    key = np.asarray(jax.random.key_data(jax.random.key(setup.seed)))
    Search(objective, examine, draws, known, budget, setup.seed).run(key, running)
    for one in searches:
        one.evaluations += objective.evaluations
        one.unconfirmed += examiner.unconfirmed[one.claim.name]
