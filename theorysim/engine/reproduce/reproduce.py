"""Reproducing an experiment: its runs are made or read, and its claims judged on them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from theorysim.claims.evidence import Edge, Evidence, Judgement, Measurement
from theorysim.claims.experiment import Experiment
from theorysim.claims.kinds import Claim
from theorysim.claims.kinds.average import LEAST_KEYS
from theorysim.claims.margins import is_met
from theorysim.claims.run import Run
from theorysim.claims.theorem import Theorem
from theorysim.claims.verdict import Verdict
from theorysim.counts import checked_count, checked_seed
from theorysim.engine import registry
from theorysim.engine.measure.sample import Sample
from theorysim.engine.measure.setup import Setup, parse_settings, select_readings
from theorysim.engine.registry.index import Files
from theorysim.engine.reproduce.dataset import RUN, SECONDS
from theorysim.engine.reproduce.own_data import blaming_own_data, check_own_data
from theorysim.engine.reproduce.runs import Elsewhere, Runs
from theorysim.engine.verify.report import Report
from theorysim.engine.verify.reporting import make_report
from theorysim.errors import UsageError
from theorysim.precision import in_precision
from theorysim.progress import Progress, silent

if TYPE_CHECKING:
    import xarray
    from distributed import Client

SCALES = ("small", "paper")

# What a verdict says of a figure.
WORDS = {
    Verdict.HOLDS: "shown",
    Verdict.VIOLATED: "contrary",
    Verdict.INCONCLUSIVE: "not shown",
    Verdict.VACUOUS: "nothing to show",
}
# After the name of a claim that the paper does not make.
OURS = " (ours)"


@dataclass(frozen=True)
class Reproduction:
    """What an experiment gave: the verdicts, and by reading the data of all runs."""

    report: Report
    data: Mapping[str, xarray.Dataset]

    @property
    def shown(self) -> xarray.Dataset:
        """The data of the first reading that was run."""
        return next(self.data[one.name] for one in self.report.readings if one.name in self.data)

    @property
    def seconds(self) -> float:
        """How long the runs took, those that were read included."""
        return float(sum(data[SECONDS].sum() for data in self.data.values()))


def reproduce(
    theorem: Theorem | str,
    *,
    scale: str = "small",
    runs: int | None = None,
    seed: int = 0,
    settings: Mapping[str, Any] | None = None,
    reading: str | None = None,
    claims: str | Collection[str] | None = None,
    kept: Path | None = None,
    together: int | None = None,
    theorems: Files = (),
    client: Client | None = None,
    progress: Progress = silent,
) -> Reproduction:
    """Run an experiment and judge what its figure is said to show.

    Files of `theorysim.data.own.instead` take the place of its data.

    Args:
        theorem: an experiment, or an id such as "overtraining/figure-3".
        scale: "small", the theorem's own sizes, or "paper", those of its paper.
        runs: how many independent runs, at least five; the theorem's own number by default.
        seed: seed of all of them.
        settings: sizes and field values to fix.
        reading: run only the reading of this name, which may be that of a null.
        claims: judge only the claim, or the claims, of this name.
        kept: a folder where finished runs are kept and found again; None keeps nothing.
        together: how many runs are made at once, at most, by one vectorised program, whose results
            may differ from those of single runs as roundings do. None: one on a CPU, elsewhere
            all that fit into the memory of the device.
        theorems: further files of theorems, which all machines of a cluster find at one place.
        client: of a Dask cluster (package `distributed`), whose workers are processes with one
            thread each: they make the runs, one or `together` of them in a task, and this process
            keeps them. Own data must stand at the same place there.
        progress: called with the finished runs, all of them, and what is being done.

    Raises:
        UsageError: for what is no experiment, for too few runs, for files of data that it has
            not, for sizes that its hypotheses exclude, and for an unknown id, name, scale or value,
            with the remedy.
        SizeError: where a run, or the results of all of them, do not fit into memory.
    """
    if isinstance(theorem, str):
        theorem = registry.theorem(theorem, theorems)
    seed = checked_seed(seed)
    if not isinstance(theorem, Experiment):
        raise UsageError(f"{theorem.id} is no experiment: verify it")
    check_own_data(theorem)
    count = theorem.keys if runs is None else runs
    count = checked_count(count, f"{count!r} runs, to tell their spread", LEAST_KEYS)
    if together is not None:
        together = checked_count(together, f"{together!r} runs together")
    readings = select_readings(theorem, reading, claims)
    sizes = {**_sizes_of(theorem, scale), **(settings or {})}
    setup = Setup(theorem, readings, parse_settings(theorem, sizes), seed)
    judged, data = {}, {}
    sizes = dict(setup.settings.sizes)
    elsewhere = _elsewhere(client, theorem, theorems)
    every = [Runs(theorem, one, sizes, seed, kept, together, elsewhere) for one in readings]
    for one in every:
        _check_sizes(one)
    for one in every:
        name = one.reading.name
        with blaming_own_data(theorem):
            data[name] = one.measured(count, progress)
        judged[name] = judge(one, data[name])
    return Reproduction(make_report(setup, _only_sample(setup, every[0]), judged), data)


def _elsewhere(client: Client | None, theorem: Experiment, files: Files) -> Elsewhere | None:
    if client is None:
        return None
    from theorysim.engine.many.every import code_with
    from theorysim.engine.many.runs import on_cluster

    return on_cluster(client, theorem, code_with(files))


def unmet(runs: Runs) -> str | None:
    """The name of a hypothesis that the sizes do not meet; None where they go together."""
    for name, margin in runs.reading.hypotheses.items():
        if not bool(is_met(margin, margin(runs.instance))):
            return name
    return None


def _check_sizes(runs: Runs) -> None:
    """Refuse sizes that do not go together, by the hypotheses of the experiment."""
    name = unmet(runs)
    if name is not None:
        sizes = ", ".join(f"{size} = {value}" for size, value in runs.sizes.items())
        raise UsageError(f"{runs.theorem.id} needs {name}, not {sizes}")


def _sizes_of(theorem: Experiment, scale: str) -> dict[str, int]:
    if scale not in SCALES:
        raise UsageError(f"scale {scale!r}: expected one of {', '.join(SCALES)}")
    if scale == "paper" and not theorem.paper_sizes:
        raise UsageError(f"{theorem.id} has no sizes of its paper; set them one by one")
    return dict(theorem.paper_sizes) if scale == "paper" else {}


def judge(runs: Runs, data: xarray.Dataset) -> dict[str, Judgement]:
    """The judgement on every claim of a reading, from the data of all runs."""
    reading = runs.reading
    with in_precision(double=True):
        x = jax.tree.map(_in_double_precision, runs.instance)
        results = jax.tree.map(_in_double_precision, runs.results(data))
        run = Run(x, reading.predict(x), results, data.sizes[RUN])
        judged = {claim.name: claim.judge(_evidence(claim, run)) for claim in reading.claims}
    return {name: _of_one_run(one) for name, one in judged.items()} if _are_equal(data) else judged


def _are_equal(data: xarray.Dataset) -> bool:
    """Whether all runs gave the same, as those that make nothing of their key."""
    return all(
        bool((data[name] == data[name].isel({RUN: 0})).all()) for name in data if name != SECONDS
    )


def _of_one_run(judgement: Judgement) -> Judgement:
    note = "all runs are equal: the simulation makes nothing of its key"
    return replace(judgement, verdict=Verdict.INCONCLUSIVE, note=note)


def _in_double_precision(leaf: Any) -> jax.Array:
    """Also integers, which would begin anew beyond the ends of small types.

    By NumPy: on a CPU JAX makes 0 of the smallest numbers of single precision.
    """
    array = np.asarray(leaf)
    if jnp.issubdtype(array.dtype, jnp.floating):
        return jnp.asarray(array.astype(np.float64))
    is_integer = jnp.issubdtype(array.dtype, jnp.integer)
    return jnp.asarray(array.astype(np.int64) if is_integer else array)


def _evidence(claim: Claim, run: Run) -> Evidence:
    """Both sides of one instance; beside the spread of runs their roundings are nothing."""
    sides = [np.asarray(side)[None] for side in claim.sides(run)]
    nothing, number = np.zeros(sides[0].shape), np.zeros(1)
    measurement = Measurement(
        lhs=sides[0],
        rhs=sides[1],
        applies=np.asarray(claim.applies(run, sides[0].shape[1:]))[None],
        edge=Edge(np.full(1, np.inf), number, number),
        probability=np.asarray(claim.printed_probability(run))[None],
        rounding=number,
        integrator=number,
        limit=nothing,
        sampling=nothing,
        skewness=nothing,
        bias=nothing,
        extremes=np.zeros((1, 0)),
        by_key=np.ones(1, bool),
    )
    return Evidence(measurement)


def _only_sample(setup: Setup, runs: Runs) -> Sample:
    """The one instance of an experiment, with the key of its seed."""
    x = jax.tree.map(lambda leaf: np.asarray(leaf)[None], runs.instance)
    key = np.asarray(jax.random.key_data(jax.random.key(setup.seed)))[None]
    return Sample(x, key, {r.name: np.zeros(1, int) for r in setup.readings}, 1)
