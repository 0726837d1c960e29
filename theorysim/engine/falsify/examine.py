"""Whether points that a search suspects violate claims: measured with their error, then shrunk."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import Any, NamedTuple

import jax
import numpy as np

from theorysim.claims.evidence import Measurement, tabulate
from theorysim.claims.instance import Instance, SizeItems, field_values
from theorysim.claims.kinds import Pointwise
from theorysim.claims.theorem import Theorem
from theorysim.claims.verdict import Verdict
from theorysim.enclosures import Outcome
from theorysim.engine.confirm.confirm import confirm
from theorysim.engine.confirm.fresh_keys import lost_with_other_keys
from theorysim.engine.confirm.suspect import Case
from theorysim.engine.falsify.nearby import AT_BOUNDARY, FAR, NEARBY, Candidate, Nearby
from theorysim.engine.falsify.objective import LEAST
from theorysim.engine.falsify.points import Points, Scored
from theorysim.engine.falsify.resample import of_claim
from theorysim.engine.falsify.shrink import Values, shrink
from theorysim.engine.falsify.ties import outcome_at, with_equal_values
from theorysim.engine.measure.batch import chunk_that_fits, measure_all
from theorysim.engine.measure.draw import feasible
from theorysim.engine.measure.making import made_of
from theorysim.engine.measure.setup import Settings, Setup
from theorysim.engine.verify.report import ClaimReport
from theorysim.engine.verify.verify import verify
from theorysim.kept import Program

# How many instances are measured at once.
BATCH = 16

# Of a generation's suspects so many are measured per claim, and of those that violate so many are
# tried at instances nearby: half the worst, half at random, as rounding crowds the worst.
SUSPECTS = 64
TRIALS = 8
# Where so many did not persist, rounding is to blame for most others, and fewer are tried at once.
MANY, TRIALS_OF_MANY = 64, 2

# Equal sides of a strict inequality that one is to prove, per claim and sizes: at once, in all.
TIES_AT_ONCE, TIES = 4, 16

# A search picks the worst error of thousands of points, while the measured one comes from a few
# perturbations: over all true statements it lay up to 2.3 times below a difference that was found.
# The distance of a path to its limit is read off for two modes; three of them, squared, exceeded it
# twice at the instance that a search chose.
SEARCH_HEADROOM = 10.0

# A simpler counterexample must keep this share of the relative violation.
KEPT_SHARE = 0.1


class _Candidates(NamedTuple):
    """Measurements of candidates by name of claim, and which candidates meet the hypotheses."""

    by_claim: dict[str, Measurement]
    feasible: np.ndarray


class _Outcome(NamedTuple):
    """Of candidates, what a claim makes of them.

    `violated` says whether each violates beyond its error, `relative` by how much of its sides,
    `beyond` by how much it exceeds the error, `log_ratio` the least log lhs/rhs that the error
    leaves, `tied` whether some point has sides that differ by less than their error, `finite` at
    which points both sides are numbers. `averages` says whether the claim takes averages over keys.
    """

    violated: np.ndarray
    relative: np.ndarray
    beyond: np.ndarray
    log_ratio: np.ndarray
    tied: np.ndarray
    finite: np.ndarray
    feasible: np.ndarray
    averages: bool


class Examined(NamedTuple):
    """Points that were scored for one claim, after their suspects were measured.

    `hit` is a counterexample, shrunk; `tried` the least chance of one that violates beyond its
    error to be tried at instances nearby.
    """

    scored: Scored
    hit: Candidate | None
    tried: float


@lru_cache(maxsize=64)
def _decoding_program(theorem: Theorem, sizes: SizeItems) -> Program:
    many = jax.vmap(lambda u: field_values(theorem.space.decode(u, dict(sizes))))
    return Program(many, made_of(theorem, (), sizes, "decode"))


def _uncertain(measurement: Measurement) -> Measurement:
    """A measurement at a point that a search chose."""
    return replace(
        measurement,
        rounding=SEARCH_HEADROOM * measurement.rounding,
        integrator=SEARCH_HEADROOM * measurement.integrator,
        limit=SEARCH_HEADROOM * measurement.limit,
    )


@dataclass(frozen=True)
class Examiner:
    """Measures suspects for claims of one reading at fixed sizes.

    `unconfirmed` counts, for each claim, the violations that did not persist, `ties` the equal
    sides that were to be proved.
    """

    setup: Setup
    unconfirmed: Counter[str] = field(default_factory=Counter)
    ties: Counter[str] = field(default_factory=Counter)
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))
    _replayed: dict[tuple[str, str], ClaimReport] = field(default_factory=dict)

    @property
    def _nearby(self) -> Nearby:
        """Instances nearby that fill a batch."""
        return Nearby(self.setup, BATCH - 1)

    def examine(self, found: Mapping[Pointwise, Scored], every: bool) -> dict[Pointwise, Examined]:
        """Scores of the same points after suspects were measured: all of them, or the chosen ones.

        What rounding explains scores below zero, so that it makes room for others, as do the
        suspects that were not measured.
        """
        chosen = {
            claim: self._choose(scored.scores, scored.scores > 0, None if every else SUSPECTS)
            for claim, scored in found.items()
        }
        rows = np.unique(np.concatenate([*chosen.values(), np.zeros(0, int)]))
        if not len(rows):
            return {claim: Examined(scored, None, 1.0) for claim, scored in found.items()}
        points = next(iter(found.values())).points.rows(rows)
        candidates = self.candidates(points)
        measured = self._measure(candidates)
        return {
            claim: self._examined(
                claim, scored, chosen[claim], dict(zip(rows, candidates)), measured, rows
            )
            for claim, scored in found.items()
        }

    def _choose(self, scores: np.ndarray, suspect: np.ndarray, most: int | None) -> np.ndarray:
        """Rows of suspects: all, or half the worst and half random ones."""
        worst = np.flatnonzero(suspect)[np.argsort(-scores[suspect], kind="stable")]
        if most is None or len(worst) <= most:
            return worst
        others = self.rng.permutation(worst[most // 2 :])
        return np.concatenate([worst[: most // 2], others[: most - most // 2]])

    def _examined(
        self,
        claim: Pointwise,
        scored: Scored,
        chosen: np.ndarray,
        candidates: Mapping[int, Candidate],
        measured: _Candidates,
        rows: np.ndarray,
    ) -> Examined:
        outcome = self._outcome(claim, measured)
        place = np.searchsorted(rows, chosen)
        suspects = np.flatnonzero(scored.scores > 0)
        scores, ratios = scored.scores.copy(), scored.ratios.copy()
        scores[suspects], ratios[suspects] = LEAST, -np.inf
        scores[chosen] = np.maximum(outcome.beyond[place], LEAST)
        ratios[chosen] = outcome.log_ratio[place]
        trials = TRIALS if self.unconfirmed[claim.name] < MANY else TRIALS_OF_MANY
        violating = self._choose(outcome.relative[place], outcome.violated[place], trials)
        hit = None
        for row in violating:
            candidate = candidates[int(chosen[row])]
            if self._persists(claim, candidate):
                simple = self._shrunk(claim, candidate, float(outcome.relative[place[row]]))
                hit = next(filter(partial(self._replays, claim), (simple, candidate)), None)
                if hit is not None:
                    break
            self.unconfirmed[claim.name] += 1
            scores[chosen[row]], ratios[chosen[row]] = LEAST, -np.inf
        if hit is None and claim.strict and self.ties[claim.name] < TIES:
            tied = chosen[self._choose(scores[chosen], outcome.tied[place], TIES_AT_ONCE)]
            hit = next(
                filter(None, (self._proven_tie(claim, candidates[int(row)]) for row in tied)), None
            )
        violated = int(np.sum(outcome.violated[place]))
        tried = 1.0 if violated <= trials else (trials - trials // 2) / (violated - trials // 2)
        return Examined(Scored(scored.points, scores, ratios), hit, tried)

    def candidates(self, points: Points) -> list[Candidate]:
        """Instances at points of the cube, with their keys."""
        decode = _decoding_program(self.setup.theorem, self.setup.settings.size_items)
        found: list[Candidate] = []
        for start in range(0, len(points), BATCH):
            rows = np.arange(start, start + BATCH)
            padded = points.rows(np.minimum(rows, len(points) - 1))  # one compiled length
            stacked = {name: np.asarray(value) for name, value in decode(padded.cube).items()}
            for row, key in zip(rows[: len(points) - start] - start, padded.keys):
                values = {name: np.asarray(value[row]) for name, value in stacked.items()}
                found.append(Candidate({**values, **self.setup.settings.values}, key))
        return found

    def as_json(self, candidate: Candidate) -> dict[str, Any]:
        """The instance in a form that can be replayed."""
        data = self.setup.theorem.space.to_json(
            Instance(dict(candidate.values), self.setup.settings.size_items)
        )
        return {"theorem": self.setup.theorem.id, **data, "key": candidate.key.tolist()}

    def _persists(self, claim: Pointwise, candidate: Candidate) -> bool:
        """Whether all feasible instances about it violate, and it is confirmed as `verify` does.

        An average must miss with fresh keys as well: a search measures thousands of points.
        """
        found = self._violating_about(claim, candidate)
        if found is None:
            return False
        if found.averages and not self._misses_with_other_keys(claim, candidate):
            return False
        return self._is_confirmed(claim, candidate)

    def _replays(self, claim: Pointwise, candidate: Candidate) -> bool:
        """Whether `verify` says violated of this instance alone, as whoever replays it will see."""
        return self.replayed(claim, candidate).verdict is Verdict.VIOLATED

    def replayed(self, claim: Pointwise, candidate: Candidate) -> ClaimReport:
        """What `verify` says of a claim at this instance."""
        (reading,) = self.setup.readings
        instance = self.as_json(candidate)
        place = claim.name, json.dumps(instance)
        if place not in self._replayed:
            only = {"reading": reading.name, "claims": [claim.name]}
            self._replayed[place] = of_claim(
                verify(self.setup.theorem, **only, instance=instance), claim
            )
        return self._replayed[place]

    def _misses_with_other_keys(self, claim: Pointwise, candidate: Candidate) -> bool:
        (reading,) = self.setup.readings
        x = Instance(dict(candidate.values), self.setup.settings.size_items, np.ones(()))
        before = self._measure([candidate]).by_claim[claim.name]
        return not lost_with_other_keys(
            self.setup, reading, claim, x, candidate.key, before, _uncertain
        )

    def _is_confirmed(self, claim: Pointwise, candidate: Candidate) -> bool:
        """Whether the violation survives more bits, or other roundings."""
        (reading,) = self.setup.readings
        stacked = {name: np.asarray(value)[None] for name, value in candidate.values.items()}
        x = Instance(stacked, self.setup.settings.size_items, np.ones(1))
        measured = self._with_errors_about(claim, candidate, self._measure([candidate]))
        case = Case(self.setup.theorem, reading, claim)
        own = measured.by_claim[claim.name]
        return confirm(case, own, x, candidate.key[None]).row is not None

    def _violating_about(self, claim: Pointwise, candidate: Candidate) -> _Outcome | None:
        """What is found about it if all feasible instances violate; nearer ones at a boundary."""
        for radius in (NEARBY, AT_BOUNDARY):
            about = [candidate, *self._nearby.about(candidate, radius)]
            measured = self._measure(about)
            found = self._outcome(claim, self._with_errors_about(claim, candidate, measured))
            if found.violated[found.feasible].all():
                return found
            if found.feasible.all() and not self._nearby.one_sided(candidate.values):
                return None
        return None

    def _with_errors_about(
        self, claim: Pointwise, candidate: Candidate, measured: _Candidates
    ) -> _Candidates:
        """With the largest errors of rounding and integrator that were measured about an instance.

        The estimates of both pass through zero here and there, where a search finds them.
        """
        own, others = measured.by_claim[claim.name], [measured]
        if self.setup.theorem.integrates:
            others.append(self._measure(self._nearby.about(candidate, FAR)))
        largest = {}
        for name in ("rounding", "integrator"):
            errors = [getattr(m.by_claim[claim.name], name)[m.feasible] for m in others]
            worst = np.fmax.reduce(np.concatenate(errors), initial=0.0)
            largest[name] = np.fmax(getattr(own, name), worst)
        return measured._replace(by_claim={claim.name: replace(own, **largest)})

    def _shrunk(self, claim: Pointwise, candidate: Candidate, relative: float) -> Candidate:
        """The simplest instance that keeps a share of a violation, and persists like it."""

        def violates(outcome: _Outcome) -> np.ndarray:
            return outcome.violated & (outcome.relative >= KEPT_SHARE * relative)

        simple = self._simplest(claim, candidate, violates)
        return simple if self._persists(claim, simple) else candidate

    def _proven_tie(self, claim: Pointwise, candidate: Candidate) -> Candidate | None:
        """The instance, or one as good, if its sides are equal beyond doubt where that violates."""
        self.ties[claim.name] += 1
        (reading,) = self.setup.readings

        def outcome(values: Values) -> Outcome:
            instance = self.as_json(candidate._replace(values=values))
            return outcome_at(self.setup.theorem, reading.name, claim, instance)

        outcomes = [(values, outcome(values)) for values in with_equal_values(candidate.values)]
        if {found for _, found in outcomes}.isdisjoint({Outcome.VIOLATED, Outcome.UNDECIDED}):
            return None
        best = next((v for v, found in outcomes if found is Outcome.VIOLATED), None)
        start = candidate._replace(values=outcomes[-1][0] if best is None else best)
        simple = self._simplest(claim, start, lambda found: found.tied & found.feasible)
        if outcome(simple.values) is Outcome.VIOLATED:
            return simple
        return None if best is None else start

    def _simplest(
        self, claim: Pointwise, candidate: Candidate, keeps: Callable[[_Outcome], np.ndarray]
    ) -> Candidate:
        """The simplest instance with the same fixed values of which `keeps` is true.

        Where a run diverges, or a formula has no value, what is left violates still, but cannot be
        checked by hand: no point loses its number.
        """
        fixed = self.setup.settings.values
        numbers = self._outcome(claim, self._measure([candidate])).finite

        def kept(several: Sequence[Values]) -> np.ndarray:
            outcome = self._outcome(
                claim, self._measure([Candidate(v, candidate.key) for v in several])
            )
            same = [all(np.array_equal(v[name], fixed[name]) for name in fixed) for v in several]
            return keeps(outcome) & np.array(same) & np.all(outcome.finite | ~numbers, axis=1)

        space, sizes = self.setup.theorem.space, self.setup.settings.sizes
        return candidate._replace(values=shrink(space, sizes, candidate.values, kept))

    def _measure(self, candidates: Sequence[Candidate]) -> _Candidates:
        """Measured in batches of one length, so that every pass runs the same compiled program."""
        free = self.setup.at(Settings(self.setup.settings.sizes, {}))
        (reading,) = self.setup.readings
        chunk = chunk_that_fits(free, BATCH)
        parts = []
        for start in range(0, len(candidates), chunk):
            several = candidates[start : start + chunk]
            padded = [*several, *[several[-1]] * (chunk - len(several))]
            values = {n: np.stack([one.values[n] for one in padded]) for n in padded[0].values}
            x = Instance(values, self.setup.settings.size_items, np.ones(chunk))
            keys = np.stack([one.key for one in padded])
            found = measure_all(free, x, keys)
            part = _Candidates(found[reading.name], feasible(self.setup.theorem, reading, x))
            kept = len(several)
            parts.append(jax.tree.map(lambda leaf, kept=kept: leaf[:kept], part))
        return jax.tree.map(lambda *leaves: np.concatenate(leaves), *parts)

    @staticmethod
    def _outcome(claim: Pointwise, measured: _Candidates) -> _Outcome:
        m = measured.by_claim[claim.name]
        uncertain = _uncertain(m)
        points = tabulate(uncertain)
        bounded, bound = claim.bounded_and_bound(points.lhs, points.rhs)
        with np.errstate(invalid="ignore", divide="ignore"):
            room = claim.slack(points.lhs, points.rhs)
            known = points.applies & (points.scale > 0) & ~np.isnan(room)
            relative = np.where(known, -room / points.scale, -np.inf)
            beyond = np.where(known, (-room - points.error) / points.scale, -np.inf)
            least = np.log((bounded - points.error) / (bound + points.error))
            tied = points.applies & (np.abs(room) <= points.error)
        return _Outcome(
            violated=claim.violated_rows(uncertain) & measured.feasible,
            relative=np.max(relative, axis=1, initial=-np.inf),
            beyond=np.nan_to_num(np.max(beyond, axis=1, initial=-np.inf), nan=LEAST),
            log_ratio=np.max(
                least, axis=1, where=points.applies & ~np.isnan(least), initial=-np.inf
            ),
            tied=np.any(tied, axis=1),
            finite=np.isfinite(points.lhs) & np.isfinite(points.rhs),
            feasible=measured.feasible,
            averages=bool(np.size(m.extremes)),
        )
