"""What holds of the scores of sources, once sources were measured."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from theorysim.advise.answer import Check
from theorysim.advise.layer_checks import finished_check, ranked_check
from theorysim.advise.layer_words import standard_error
from theorysim.advise.paths import MOST_STEPS
from theorysim.advise.problem import rank_correlation
from theorysim.advise.ranks import agreement
from theorysim.advise.source_words import SCRATCH, Source, unfinished
from theorysim.advise.tuning import Tuned

SCORES: dict[str, tuple[str, int]] = {
    "linearised": ("held-out risk of the linearised model after source and target", 1),
    "left_out": ("its leave-one-out risk on the target", 1),
    "start": ("loss with which fine-tuning starts", 1),
    "movement": ("distance that fine-tuning moves the linearised parameters", 1),
    "size": ("trivial: most source examples first", -1),
}
"""Names, what they are, and 1 where the smallest value is promising, -1 where the largest is"""
TRIVIAL = ("size",)
FACTOR = 2
"""numbers of steps are called alike within it"""


class Measured(NamedTuple):
    """By source: what tuning from it gives, and steps of descent until half of the loss is left."""

    tuned: dict[str, Tuned]
    steps: dict[str, int | None]
    pretraining: dict[str, int]
    """1 where pretraining on a task did not come to its end, else 0; checkpoints have none"""


def sign_rule(scored: Mapping[str, Source], risks: Mapping[str, float]) -> tuple[int, int]:
    """In how many of how many sources a start loss below the untrained one's means a gain."""
    names = [name for name in scored if name != SCRATCH]
    right = [
        (scored[n].scores["start"] < scored[SCRATCH].scores["start"]) == (risks[n] < risks[SCRATCH])
        for n in names
    ]
    return sum(right), len(right)


def correlations(scored: Mapping[str, Source], risks: Mapping[str, float]) -> dict[str, float]:
    """Of every score with what was measured, over sources (none among them)."""
    names = [name for name in scored if name != SCRATCH]
    return {
        by: rank_correlation(
            [sign * scored[n].scores[by] for n in names], [risks[n] for n in names]
        )
        for by, (_, sign) in SCORES.items()
    }


def steps_apart(
    scored: Mapping[str, Source], measured: Mapping[str, int | None]
) -> tuple[int, float]:
    """For how many sources predicted and measured steps are within `FACTOR`, and how they rank."""
    predicted, real = _steps(scored, measured)
    return _near(predicted, real), rank_correlation(predicted, real)


def _steps(
    scored: Mapping[str, Source], measured: Mapping[str, int | None]
) -> tuple[list[int], list[int]]:
    """Predicted and measured ones; what is too large to count is one more than the largest."""
    sides = ([one.steps for one in scored.values()], [measured[name] for name in scored])
    predicted, real = ([MOST_STEPS + 1 if n is None else n for n in side] for side in sides)
    return predicted, real


def _near(predicted: list[int], real: list[int]) -> int:
    return sum(max(pair) <= FACTOR * min(pair) for pair in zip(predicted, real))


def _steps_check(scored: Mapping[str, Source], measured: Mapping[str, int | None]) -> Check:
    predicted, real = _steps(scored, measured)
    near, alike = _near(predicted, real), agreement(predicted, real)
    ranked = "their rank correlation is " if alike.telling else ""
    return Check(
        f"predicted and measured steps agree within a factor of {FACTOR}",
        near == len(scored),
        f"for {near} of {len(scored)}; {ranked}{alike.told('starts')}",
    )


def checks_of(scored: Mapping[str, Source], run: Measured | None, by: str) -> list[Check]:
    """The sign rule and, where sources were measured, how far what was predicted agrees."""
    measured = None if run is None else run.tuned
    start = scored[SCRATCH].scores["start"]
    below = [n for n, one in scored.items() if n != SCRATCH and one.scores["start"] < start]
    checks = [
        Check(
            "sign rule: a source pays if fine-tuning starts at a lower loss than without it",
            None if measured is None else True,
            f"it says so of {', '.join(below) or 'none'}",
        )
    ]
    if run is None or measured is None:
        return checks
    risks = {name: run.risk(0)[0] for name, run in measured.items()}
    right, count = sign_rule(scored, risks)
    checks = [
        Check(checks[0].what, right == count, f"right for {right} of {count} sources"),
    ]
    near = [
        abs(scored[n].scores["linearised"] - risks[n])
        <= 2 * float(np.hypot(standard_error(scored[n].held_out), measured[n].risk(0)[1]))
        for n in scored
    ]
    checks.append(
        Check(
            "predicted and measured risks agree within two standard errors",
            all(near),
            f"for {sum(near)} of {len(near)}: the linearisation leaves out that features change",
        )
    )
    checks.append(_steps_check(scored, run.steps))
    one = next(iter(measured.values()))
    checks.append(finished_check(unfinished(measured), one.losses.shape[1], one.longest))
    if run.pretraining:
        checks.append(finished_check(run.pretraining, 1, one.longest, "pretraining"))
    names, sign = [name for name in scored if name != SCRATCH], SCORES[by][1]
    alike = agreement([sign * scored[n].scores[by] for n in names], [risks[n] for n in names])
    return [*checks, ranked_check(alike, correlations(scored, risks), by, "sources")]
