"""What an experiment costs at the sizes of its paper, told before it is begun."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from theorysim.claims.experiment import Experiment
from theorysim.claims.theorem import Theorem
from theorysim.engine.measure.setup import parse_settings
from theorysim.engine.reproduce.dataset import SECONDS
from theorysim.engine.reproduce.own_data import blaming_own_data
from theorysim.engine.reproduce.runs import Runs
from theorysim.errors import UsageError
from theorysim.progress import silent


def paper_hours(
    theorem: Theorem, settings: Mapping[str, Any], seed: int, kept: Path | None
) -> tuple[float, float]:
    """Hours that all runs take on this machine, and the work of one in units of a small one.

    The small one is run, where it is not kept.

    Raises:
        UsageError: for what is no experiment, or has no sizes of its paper.
    """
    if not isinstance(theorem, Experiment):
        raise UsageError(f"{theorem.id} is no experiment: verify it")
    if theorem.work is None or not theorem.paper_sizes:
        raise UsageError(f"{theorem.id} has no sizes of its paper; set them one by one")

    def of(sizes: Mapping[str, Any]) -> Runs:
        found = parse_settings(theorem, {**sizes, **settings}).sizes
        return Runs(theorem, theorem.primary(), dict(found), seed, kept)

    small, large = of({}), of(theorem.paper_sizes)
    ratio = theorem.work(large.instance) / theorem.work(small.instance)
    with blaming_own_data(theorem):
        seconds = float(small.measured(1, silent)[SECONDS].sum())
    return theorem.keys * ratio * seconds / 3600, ratio
