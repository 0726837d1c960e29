"""Which mutants of a theorem its claims refute: a claim that no mutant kills says nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from theorysim.claims.reading import Mutant, ResolvedReading
from theorysim.claims.theorem import Theorem
from theorysim.claims.verdict import Verdict
from theorysim.counts import checked_count, checked_seed
from theorysim.engine import registry
from theorysim.engine.measure.integrators import UNDECLARED, uses_tolerance_scale
from theorysim.engine.measure.sample import draw_sample
from theorysim.engine.measure.setup import Setup, find_reading, parse_settings, refuse_experiment
from theorysim.engine.verify.judge import judge_readings
from theorysim.precision import in_precision
from theorysim.tabular import Tabular


@dataclass(frozen=True)
class Mutation(Tabular):
    """How the claims of one reading fared against its mutants.

    `verdicts` holds, by claim and mutant that touches it, the verdict of the claim on the mutant.
    """

    theorem: str
    reading: str
    verdicts: Mapping[str, Mapping[str, Verdict]]

    def killed_by(self, claim: str) -> tuple[str, ...]:
        """The mutants that a claim refutes."""
        found = self.verdicts[claim]
        return tuple(mutant for mutant, verdict in found.items() if verdict is Verdict.VIOLATED)

    def tried(self, claim: str) -> bool:
        """Whether some instance met the hypotheses of some mutant that touches a claim."""
        return any(verdict is not Verdict.VACUOUS for verdict in self.verdicts[claim].values())

    @property
    def survivors(self) -> tuple[str, ...]:
        """The claims that refute no mutant."""
        return tuple(claim for claim in self.verdicts if not self.killed_by(claim))

    @property
    def caption(self) -> str:
        """The theorem and the reading."""
        return f"{self.theorem}, {self.reading}"

    def rows(self) -> Iterator[Mapping[str, object]]:
        """One row per claim and mutant that touches it."""
        for claim, verdicts in self.verdicts.items():
            for mutant, verdict in verdicts.items():
                yield {"claim": claim, "mutant": mutant, "verdict": str(verdict)}

    def __str__(self) -> str:
        lines = [self.caption]
        for claim in self.verdicts:
            killed = ", ".join(self.killed_by(claim)) or "NONE"
            lines.append(f"  {claim}: refutes {killed}")
        return "\n".join(lines)


def mutation(
    theorem: Theorem | str,
    *,
    reading: str | None = None,
    seed: int = 0,
    instances: int | None = None,
    settings: Mapping[str, object] | None = None,
) -> Mutation:
    """Try every mutant of a reading (the primary one) and say which claims refute it.

    Args:
        theorem: a theorem or its id.
        reading: the name of the reading.
        seed: seed of instances and simulations.
        instances: how many instances each mutant is tried on; the theorem's own number by default.
        settings: sizes and field values to fix.

    Raises:
        UsageError: for an unknown id, name or value.
    """
    if isinstance(theorem, str):
        theorem = registry.theorem(theorem)
    refuse_experiment(theorem, "tried with mutants by this function")
    seed = checked_seed(seed)
    if instances is not None:
        instances = checked_count(instances, f"{instances!r} instances")
    with in_precision(double=True):
        chosen = find_reading(theorem, reading)
        setup = Setup(theorem, (chosen,), parse_settings(theorem, settings or {}), seed)
        return _mutation(setup, chosen, instances or theorem.mutant_instances)


def _mutation(setup: Setup, reading: ResolvedReading, instances: int) -> Mutation:
    variants = {
        mutant: variant.only(_touched(mutant, reading))
        for mutant, variant in setup.theorem.mutants_of(reading).items()
    }
    verdicts: dict[str, dict[str, Verdict]] = {claim.name: {} for claim in reading.claims}
    if variants:
        setup = setup.of(*variants.values())
        judged = judge_readings(setup, draw_sample(setup, instances), instances)
        for mutant, variant in variants.items():
            for claim, judgement in judged[variant.name].items():
                verdicts[claim][mutant.name] = judgement.verdict
    return Mutation(setup.theorem.id, reading.name, verdicts)


def _touched(mutant: Mutant, reading: ResolvedReading) -> list[str]:
    return [claim.name for claim in reading.claims if mutant.touches(reading, claim)]


def warnings_about(setup: Setup) -> tuple[str, ...]:
    """What makes a verdict on a theorem's primary reading worth little.

    The mutants of a statement of a user's own file are tried; those of registered ones are tried
    by campaigns, which record the survivors with their reasons.
    """
    theorem = setup.theorem
    primary = theorem.primary()
    found = []
    if _same_code(primary.predict, primary.simulate):
        found.append("predict and simulate are the same function: no comparison can fail")
    untouched = [
        claim.name
        for claim in primary.claims
        if claim.name not in theorem.survivors
        and not any(mutant.touches(primary, claim) for mutant in theorem.mutants_of(primary))
    ]
    if untouched:
        found.append(f"no mutant changes {_quote(untouched)}: nothing shows that it can fail")
    if theorem.id.startswith(f"{registry.LOCAL}/"):
        if not theorem.integrates and uses_tolerance_scale(theorem):
            found.append(UNDECLARED)
        outcome = _mutation(setup, primary, theorem.mutant_instances)
        explained = (*untouched, *theorem.survivors)
        survived = [c for c in outcome.survivors if c not in explained and outcome.tried(c)]
        if survived:
            found.append(f"no mutant is refuted by {_quote(survived)}")
    return tuple(found)


def _same_code(one: object, other: object) -> bool:
    if one is other:
        return True
    codes = [getattr(function, "__code__", None) for function in (one, other)]
    return codes[0] is not None and codes[0] is codes[1]


def _quote(names: list[str]) -> str:
    return ", ".join(repr(name) for name in names)
