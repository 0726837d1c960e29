"""Which layers, blocks or adapters to tune: ranked by theory, and really tuned beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from theorysim.advise import record
from theorysim.advise.answer import Advice, Check, Uncertain
from theorysim.advise.given import checked
from theorysim.advise.groups import Grouping
from theorysim.advise.kernels import (
    PAIRS,
    Kernels,
    drawn_anew,
    few_landmarks,
    fitting,
    kernels,
)
from theorysim.advise.layer_candidates import Candidates, Groups, base_of, candidates_of
from theorysim.advise.layer_checks import (
    drawn_check,
    finished_check,
    measured_check,
    ranked_check,
    theory_checks,
)
from theorysim.advise.layer_words import (
    ALL,
    BASE_ALONE,
    Ranked,
    meanings,
    name_of,
    panel,
    sentence,
    standard_error,
    unfinished,
)
from theorysim.advise.problem import Loss, Problem, as_inputs, problem, rank_correlation
from theorysim.advise.ranks import agreement
from theorysim.advise.scores import (
    NEEDS_BASE,
    SCORES,
    Score,
    moved,
    score,
)
from theorysim.advise.subject import subject
from theorysim.advise.tuning import RATES, Tuned, tune
from theorysim.errors import UsageError
from theorysim.progress import Progress, silent


@checked
def layers(
    model: Any,
    inputs: Any,
    targets: Any,
    *,
    params: Any = None,
    test: tuple[Any, Any] | None = None,
    groups: Grouping = None,
    base: str | Sequence[str] | None = None,
    candidates: Candidates | None = None,
    together: int = 1,
    by: str | None = None,
    loss: Loss | None = None,
    batched: bool | None = None,
    pairs: int = PAIRS,
    measure: bool = False,
    seeds: int = 3,
    steps: int = 300,
    rates: Sequence[float] = RATES,
    seed: int = 0,
    progress: Progress = silent,
) -> Advice:
    """Which groups of parameters to tune for a task.

        print(advise.layers(model, inputs, targets, test=(test_inputs, test_targets), measure=True))

    Args:
        model, params, groups, batched: the model, see `theorysim.advise.subject.subject`.
        inputs, targets, test, loss: the task, see `theorysim.advise.problem.problem`.
        base: groups that are tuned anyway; unless given the one that is used last, () for none.
        candidates: what may be tuned beside, as groups by name or tuples of groups; every group
            alone unless given.
        together: also all combinations of up to so many groups.
        by: the score that ranks (`scores.SCORES`); unless given the one with the best record.
        pairs: rows of the Gram, inputs times outputs; more are slower. Where there are more, other
            landmarks are scored, too, and compared.
        measure: tune every candidate, too, and measure its risk on the held-out inputs.
        seeds, steps, rates: of what is measured: splits, steps of Adam, learning rates tried.
        seed: of all draws.
        progress: told what is being done.

    Raises:
        UsageError: for what does not fit together, in one line.
    """
    given = as_inputs(inputs)
    found = subject(model, given, params, groups, batched)
    task = problem(found, given, targets, test, loss, seed)
    tuned_anyway = base_of(base, found)
    added = candidates_of(candidates, together, tuned_anyway, found)
    by = _score_name(by, tuned_anyway)
    small, notes = fitting(task, seed, pairs)
    progress(0, len(added) + 1, "kernels")
    grams = kernels(small)
    notes += _not_seen(grams, tuned_anyway)
    scored = _scored(small, grams, tuned_anyway, added, progress)
    anew = _scored_anew(task, small, tuned_anyway, added, seed)
    budget = (seeds, steps, rates, seed)
    measured = _tuned(task, tuned_anyway, added, budget, progress) if measure else None
    told = _advice(task, grams, tuned_anyway, (scored, anew), by, measured, notes)
    return told.warned(few_landmarks(task, pairs))


def _tuned(
    task: Problem,
    base: Groups,
    added: dict[str, Groups],
    budget: tuple[int, int, Sequence[float], int],
    progress: Progress,
) -> Tuned:
    """Every candidate; `budget` has seeds, steps, rates and the seed."""
    progress(len(added), len(added) + 1, "tuning every candidate")
    return tune(task, [(*base, *extra) for extra in added.values()], *budget)


def _scored_anew(
    task: Problem, fitted: Problem, base: Groups, added: dict[str, Groups], seed: int
) -> dict[str, Score] | None:
    """On training inputs that `fitted` left out; None where it left out none."""
    other = drawn_anew(task, fitted, seed)
    return other and _scored(other, kernels(other), base, added, silent)


def _not_seen(grams: Kernels, base: Groups) -> list[str]:
    """Of which groups the linearisation knows nothing; of all of `base` it must not be.

    Raises:
        UsageError: where it is.
    """
    unseen = [group for group, gram in grams.own.items() if not np.any(gram)]
    if base and set(base) <= set(unseen):
        raise UsageError(
            f"base={', '.join(base)}: to first order the outputs do not depend on it, as behind a "
            "weight of zeros; start from other parameters, or leave base= out"
        )
    return [
        f"to first order the outputs do not depend on {group} (its kernel is 0, as behind a weight "
        "of zeros): what tuning it does is not predicted"
        for group in unseen
    ]


def _scored(
    task: Problem, grams: Kernels, base: Groups, added: dict[str, Groups], progress: Progress
) -> dict[str, Score]:
    found = {}
    for place, (name, extra) in enumerate(added.items()):
        progress(place + 1, len(added) + 1, f"score {name}")
        found[name] = score(task, grams, base, extra)
    return moved(task, found)


def _score_name(by: str | None, base: Groups) -> str:
    known = [name for name in SCORES if base or name not in NEEDS_BASE]
    if by is None:
        return record.winner("layers", known)
    if by not in known:
        needs = " (eta needs a base)" if by in NEEDS_BASE else ""
        raise UsageError(f"by={by!r}{needs}: expected one of {', '.join(known)}")
    return by


def ranking(scored: Mapping[str, Score], by: str) -> list[str]:
    """Names, the most promising first; last are those to which the score does not apply."""
    sign = SCORES[by][1]
    own = {name: sign * one.scores[by] for name, one in scored.items()}
    return sorted(own, key=lambda name: (bool(np.isnan(own[name])), own[name]))


def _single(scored: Mapping[str, Score], risks: Mapping[str, float]) -> list[str]:
    """Candidates that add a single group, of those that were measured."""
    return [n for n in scored if n in risks and n not in (ALL, BASE_ALONE) and " + " not in n]


def correlations(scored: Mapping[str, Score], risks: Mapping[str, float]) -> dict[str, float]:
    """Of every score with what was measured, over candidates that are single groups.

    Positive where a score puts what is good first.
    """
    single = _single(scored, risks)
    return {
        by: rank_correlation(
            [sign * scored[n].scores[by] for n in single], [risks[n] for n in single]
        )
        for by, (_, sign) in SCORES.items()
        if all(np.isfinite(scored[n].scores[by]) for n in single)
    }


def _ranked(scored: Mapping[str, Score], risks: Mapping[str, float], by: str) -> Check:
    """How the score that ranks fared in this run."""
    single, sign = _single(scored, risks), SCORES[by][1]
    alike = agreement([sign * scored[n].scores[by] for n in single], [risks[n] for n in single])
    return ranked_check(alike, correlations(scored, risks), by, "single groups")


def _advice(
    task: Problem,
    grams: Kernels,
    base: Groups,
    draws: tuple[Mapping[str, Score], Mapping[str, Score] | None],
    by: str,
    measured: Tuned | None,
    notes: list[str],
) -> Advice:
    """`draws` has the scores on the inputs that were drawn, and on others where some were not."""
    scored, anew = draws
    places = {name: place for place, name in enumerate(scored)}
    order, promised = ranking(scored, by), ranking(scored, by)[0]
    if measured is not None:
        order.sort(key=lambda name: measured.risk(places[name])[0])
    rows = []
    for name in order:
        risk = None if measured is None else Uncertain(*measured.risk(places[name]))
        wrong = None if measured is None else Uncertain(*measured.error(places[name]))
        row = _row(name, scored[name], task, risk, wrong)
        if measured is not None:
            row["unfinished"] = measured.unfinished_seeds(places[name])
        rows.append(row)
    checks = theory_checks(task, grams, name_of(base), base, scored)
    checks += [] if anew is None else [drawn_check(scored, anew, by)]
    if measured is not None:
        risks = {name: measured.risk(places[name])[0] for name in scored}
        checks.append(measured_check(rows))
        seeds = measured.losses.shape[1]
        checks.append(finished_check(unfinished(scored, measured), seeds, measured.longest))
        checks.append(_ranked(scored, risks, by))
    columns = ["tuned beside", "parameters", "left out", "predicted", "eta", "bend"]
    columns += [] if measured is None else ["measured"]
    return Advice(
        "layers",
        order[0],
        sentence(Ranked(tuple(order), promised, by), base, scored, rows, measured, task),
        tuple(rows),
        tuple(columns),
        tuple(checks),
        (
            record.told("layers", by),
            *meanings(task, base, columns, measured),
            *notes,
            *task.notes,
            *task.subject.notes,
        ),
        (panel(rows, task),),
    )


def _row(
    name: str,
    one: Score,
    task: Problem,
    risk: Uncertain | None,
    wrong: Uncertain | None,
) -> dict[str, Any]:
    window = one.window
    row: dict[str, Any] = {
        "tuned beside": name,
        "parameters": int(one.scores["parameters"]),
        "predicted": Uncertain(one.scores["linearised"], standard_error(one.held_out)),
        "predicted error": one.wrong,
        "left out": one.scores["left_out"],
        "eta": one.scores["eta"],
        "bend": one.bend,
        "measured": risk,
        "measured error": wrong if task.loss == "cross-entropy" else None,
        "windows met": None if window is None else window.met,
        "window from": float("nan") if window is None else window.lower,
        "window to": float("nan") if window is None else window.upper,
        "training ratio": None if window is None else window.ratio,
    }
    others = {k: v for k, v in one.scores.items() if k not in ("parameters", "left_out", "eta")}
    return row | others | {"optimiser bytes": 8 * int(one.scores["parameters"])}
