"""Counterexamples that are draws, where the simplest one is degenerate.

The falsifier's counterexamples are as simple as they can be. Where simple means that points
coincide, that a network is dead, or that what is wrong with the print can no longer be seen, the
ledger takes the draw that violates most instead, with few digits.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

import numpy as np

from theorysim.claims import Theorem, Verdict
from theorysim.claims.fields.arrays import round_to
from theorysim.engine.falsify.report import Attack
from theorysim.engine.measure.instance_files import read_instance
from theorysim.engine.verify.report import ClaimReport
from theorysim.engine.verify.verify import verify
from theorysim.errors import InstanceError

DIGITS = (2, 4)

# Readings whose simplest counterexample is degenerate, and how.
DEGENERATE: dict[tuple[str, str], str] = {
    ("linear-teachers/theorem-5.5", "still equal to the source task"): "aligned teachers",
    ("low-rank/claim-4", "proof of Claim 4"): "an activation without all but one coefficient",
    ("low-rank/sample-gradient", "of the loss (A.2)"): "the true gradient is 0",
    ("low-rank/sample-gradient", "of the student (proof of Proposition 5)"): "it is 0",
    ("overtraining/lemma-a.6-proof", "proof displays"): "states beyond those of any flow",
    ("overtraining/lemma-a.18", "steps down the gradient"): "the batch is the population",
    ("overtraining/lemma-a.18", "Eq. 11 as printed"): "the batch is the population",
    ("overtraining/lemma-a.28", "Section A.6"): "no pull-back",
    ("overtraining/lemma-a.28-proof", "proof displays"): "no pull-back",
    ("transferability/eq-12", "as printed"): "the target is the source in another order",
    ("transferability/eq-18-23", "second line of Eq. 22"): "the target's inputs are the source's",
    ("transferability/eq-20", "with R inserted"): "a singular Gram matrix of the target",
    ("transferability/eq-24", "as printed"): "source and target are the same point",
    ("transferability/eq-37-41", "as printed"): "dead networks",
    ("transferability/eq-45-47", "as printed"): "orthogonal inputs",
    ("transferability/lemma-4-steps", "displays as printed"): "source and target are one point",
    ("transferability/remark-scratch-bound", "as printed"): "a singular Gram matrix of the source",
}

# What is fixed for all draws: sizes, where the theorem's own are beyond what enclosures can hold,
# and strengths of the pull-back that are neither none nor one, at which a swap is not seen.
FIXED = {
    "overtraining/lemma-a.28": {"lam": 3},
    "overtraining/lemma-a.28-proof": {"lam": 3},
    "transferability/eq-20": {"width": 64, "q": 2},
}


def drawn_attacks(theorem: Theorem, reading: str, claims: Collection[str]) -> list[Attack]:
    """The draws of `verify` that violate these claims most, those that do, with few digits."""
    fixed = FIXED.get(theorem.id)
    report = verify(theorem, reading=reading, claims=claims, settings=fixed)
    return [
        _attack(reading, found, _with_few_digits(theorem, reading, found))
        for found in report.reading(reading).claims
        if found.verdict is Verdict.VIOLATED
    ]


def _with_few_digits(theorem: Theorem, reading: str, found: ClaimReport) -> ClaimReport:
    """The claim on the draw with the fewest digits that violate it still; else on the draw."""
    for instance in _rounded(theorem, found.worst_instance or {}):
        only = verify(theorem, reading=reading, claims=found.name, instance=instance)
        (again,) = only.reading(reading).claims
        if again.verdict is Verdict.VIOLATED:
            return again
    return found


def _rounded(theorem: Theorem, instance: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The instance with few digits in every field that admits them."""
    x, _ = read_instance(theorem, instance)
    for digits in DIGITS:
        values = dict(instance["values"])
        for name, field in theorem.space.fields.items():
            old = np.asarray(getattr(x, name))
            if old.dtype.kind == "f":
                try:
                    field.check(name, round_to(old, digits), instance["sizes"])
                except InstanceError:
                    continue
                values[name] = round_to(old, digits).tolist()
        yield {**instance, "values": values}


def _attack(reading: str, drawn: ClaimReport, told: ClaimReport) -> Attack:
    return Attack(
        reading,
        told.name,
        told.kind,
        evaluations=drawn.draws,
        runs=drawn.draws,
        refuted=True,
        strict=told.claim.strict,
        lhs=told.lhs,
        rhs=told.rhs,
        slack=told.slack,
        error=told.error,
        instance=told.worst_instance,
        note="",
    )
