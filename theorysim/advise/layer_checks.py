"""Whether the theory of layers applies to a model: what it needs, and what was measured."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from theorysim.advise.answer import Check, number
from theorysim.advise.groups import shown
from theorysim.advise.kernels import Kernels
from theorysim.advise.problem import Problem
from theorysim.advise.ranks import Agreement, agreement
from theorysim.advise.scores import SCORES, Score, Window, numerical_rank
from theorysim.advise.tuning import FALLING

STRAIGHT = 0.2
"""the linearisation is called trustworthy where real outputs leave it by less than this share"""


def theory_checks(
    task: Problem,
    grams: Kernels,
    name: str,
    base: tuple[str, ...],
    scored: Mapping[str, Score],
) -> list[Check]:
    """What Theorems 5 to 7 and the linearisation need; `name` is that of the base."""
    windows = {name: one.window for name, one in scored.items() if one.window is not None}
    checks = [
        Check(
            "Theorems 5 to 7 are about the squared loss",
            task.loss == "squared",
            "it is yours"
            if task.loss == "squared"
            else "yours is the cross-entropy; eta and the condition number are of its kernels, "
            "predictions minimise the cross-entropy itself",
        )
    ]
    if windows:
        rows = len(grams.start) * grams.start.shape[1]
        first = next(iter(windows.values()))
        rank = numerical_rank(grams.of(base)[0])
        checks.append(
            Check(
                "K is invertible (Theorem 6)",
                first.invertible,
                f"K of {name} has {rows} rows and rank {rank}"
                + ("" if first.invertible else "; eta is that of K + sigma I"),
            )
        )
        met = [name for name, window in windows.items() if window.met]
        checks.append(
            Check(
                "eta <= 1 (window of Theorem 7)",
                len(met) == len(windows),
                f"for {len(met)} of {len(windows)} candidates"
                + (f" ({shown(met)})" if met else ""),
            )
        )
        checks += _window_check(windows)
    bends = {name: one.bend for name, one in scored.items()}
    straight = [name for name, bend in bends.items() if bend < STRAIGHT]
    checks.append(
        Check(
            f"the linearisation holds as far as its solution (bend < {STRAIGHT})",
            len(straight) == len(bends),
            f"for {len(straight)} of {len(bends)} candidates; the largest bend is "
            f"{number(max(bends.values()))}: beyond, predictions rank, but may be off",
        )
    )
    return checks


def _window_check(windows: Mapping[str, Window]) -> list[Check]:
    """The window that needs no eta, which the record of the theorems found to hold always."""
    loose = [
        name
        for name, w in windows.items()
        if not 1 / (w.condition_before * w.growth) <= w.ratio <= w.condition_before
    ]
    widest = max(w.condition_before for w in windows.values())
    return [
        Check(
            "1/(kappa q) <= (R(K + S)/R(K))^(1/2) <= kappa, for any eta",
            not loose,
            f"for {len(windows) - len(loose)} of {len(windows)}; it tells little where kappa is "
            f"large, here {number(widest)}",
        )
    ]


def drawn_check(scored: Mapping[str, Score], anew: Mapping[str, Score], by: str) -> Check:
    """What other training inputs make of the scores: what leaving inputs out may have changed."""
    sign = SCORES[by][1]
    values = [[sign * one[name].scores[by] for name in scored] for one in (scored, anew)]
    first = [min(one, key=lambda name: sign * one[name].scores[by]) for one in (scored, anew)]
    risks = ", ".join(f"{one[first[0]].scores['linearised']:.3g}" for one in (scored, anew))
    alike = agreement(*values)
    ranked = f"rank correlation of `{by}` " if alike.telling else ""
    return Check(
        "other landmarks put the same first",
        first[0] == first[1],
        f"they put {first[1]} first; {ranked}{alike.told('candidates')}; "
        f"predicted risks of {first[0]}: {risks}",
    )


def measured_check(rows: list[dict[str, Any]]) -> Check:
    """Predicted against measured risks."""
    near = [
        row["tuned beside"]
        for row in rows
        if abs(row["predicted"].value - row["measured"].value)
        <= 2 * float(np.hypot(row["predicted"].error, row["measured"].error))
    ]
    return Check(
        "predicted and measured risks agree within two standard errors",
        len(near) == len(rows),
        f"for {len(near)} of {len(rows)}",
    )


def finished_check(
    unfinished: Mapping[str, int], seeds: int, steps: int, what: str = "tuning"
) -> Check:
    """Whether tuning came to its end; `unfinished` counts the seeds by name where it did not."""
    odd = [f"{name} ({count} of {seeds})" for name, count in unfinished.items() if count]
    told = f"in its last quarter no run improved by more than {FALLING:.0%} of all its gain"
    if odd:
        told = (
            f"not in so many seeds: {', '.join(odd)}; with more steps= (--steps) or larger rates= "
            "they may rank otherwise"
        )
    return Check(f"{what} came to its end in {steps} steps", not odd, told)


def ranked_check(alike: Agreement, found: Mapping[str, float], by: str, what: str) -> Check:
    """How this run ranked.

    Args:
        alike: the score that ranks and what was measured.
        found: rank correlations of all scores.
        by: the score that ranks.
        what: what is ranked.
    """
    others = ", ".join(f"{name} {value:.2f}" for name, value in found.items() if name != by)
    told = alike.told(what)
    if alike.telling:
        told = f"rank correlation of `{by}` in this run {told} ({others})"
    return Check(f"what was measured ranks {what} alike", alike.met, told)
