"""What attacks on a theorem's claims found."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from theorysim.engine.verify.report import CONFIDENCE, ClaimReport
from theorysim.tabular import Tabular, json_number


@dataclass(frozen=True)
class Attack:
    """The outcome of attacking one claim, of which equality is a violation where it is `strict`.

    `evaluations` counts instances that meet the hypotheses (on each rung, where a claim climbs a
    ladder), `runs` their simulations: several per instance where a claim averages over keys.
    `lhs`, `rhs`, `slack`, `error` belong to `instance`, the (shrunk, confirmed) counterexample;
    without one they are NaN. `ratio` is the largest lhs/rhs (rhs/lhs for lower bounds) reached,
    at `ratio_instance`: the tightness over the space, no proof. It is NaN for claims that no ratio
    tells of, and a violation above `ratio_limit`.
    `draws` of the evaluations were plain draws at the theorem's own sizes, of which none is a
    counterexample: a violating share of `excluded_share` (about 3/draws) would have been found with
    95 %. It is NaN for claims that no single instance violates. `sizes` are those at which some
    point met the hypotheses.
    """

    reading: str
    claim: str
    kind: str
    evaluations: int
    runs: int
    refuted: bool
    strict: bool = False
    lhs: float = math.nan
    rhs: float = math.nan
    slack: float = math.nan
    error: float = math.nan
    instance: Mapping[str, Any] | None = None
    ratio: float = math.nan
    ratio_limit: float = math.nan
    ratio_instance: Mapping[str, Any] | None = None
    draws: int = 0
    excluded_share: float = math.nan
    sizes: tuple[Mapping[str, int], ...] = ()
    note: str = ""

    def as_json(self) -> dict[str, Any]:
        """The attack as JSON data; NaN becomes null, infinities "inf" and "-inf"."""
        data = {
            name: json_number(value) if isinstance(value, float) else value
            for name, value in vars(self).items()
        }
        return {**data, "sizes": [dict(sizes) for sizes in self.sizes]}

    @property
    def excluded(self) -> str:
        """What the plain draws exclude, in words; empty where they exclude nothing."""
        if self.refuted or not self.draws or math.isnan(self.excluded_share):
            return ""
        return (
            f"{self.draws:,} of them plain draws: violations by a share of at least "
            f"{self.excluded_share:.2g} would have been found with {100 * CONFIDENCE:.0f} %"
        )


def decisive_numbers(found: ClaimReport) -> dict[str, float]:
    """Sides, slack and error of the instance that refuted a claim."""
    return {name: getattr(found, name) for name in ("lhs", "rhs", "slack", "error")}


@dataclass(frozen=True)
class FalsifyReport(Tabular):
    """All attacks on a theorem."""

    theorem: str
    title: str
    seed: int
    budget: int
    attacks: tuple[Attack, ...]
    primary: str

    @property
    def exit_code(self) -> int:
        """Of the primary reading (or the only one): 3 refuted, 4 nothing evaluated, else 0."""
        names = {attack.reading for attack in self.attacks}
        decisive = {self.primary} & names or names
        attacks = [attack for attack in self.attacks if attack.reading in decisive]
        if any(attack.refuted for attack in attacks):
            return 3
        return 0 if any(attack.evaluations for attack in attacks) else 4

    def counterexample(self) -> Attack | None:
        """The first refuted claim that has an instance, the primary reading's before others."""
        hits = [attack for attack in self.attacks if attack.instance is not None]
        hits.sort(key=lambda attack: attack.reading != self.primary)
        return hits[0] if hits else None

    @property
    def caption(self) -> str:
        """The theorem and the budget."""
        return f"{self.theorem}: {self.budget} points per reading"

    def rows(self) -> Iterator[Mapping[str, Any]]:
        """One row per attacked claim."""
        shown = ("reading", "claim", "kind", "refuted", "lhs", "rhs", "slack", "error", "ratio")
        for attack in self.attacks:
            yield {
                name: getattr(attack, name)
                for name in (*shown, "evaluations", "runs", "draws", "excluded_share", "note")
            }

    def as_json(self) -> dict[str, Any]:
        """The report as JSON data; NaN becomes null, infinities "inf" and "-inf"."""
        return {
            "theorem": self.theorem,
            "title": self.title,
            "seed": self.seed,
            "budget": self.budget,
            "primary": self.primary,
            "attacks": [attack.as_json() for attack in self.attacks],
        }

    def __str__(self) -> str:
        lines = [self.caption]
        for a in self.attacks:
            outcome = "refuted" if a.refuted else f"not refuted, largest ratio {a.ratio:.4g}"
            lines.append(f"  {a.reading}, {a.claim}: {outcome}")
            lines += [f"    {a.excluded}"] * bool(a.excluded)
        return "\n".join(lines)
