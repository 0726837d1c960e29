"""Sweeps, experiments, verifications, reviews and campaigns on workers, of which one is killed."""

import json
import os
import shutil
import signal
import subprocess
import sys
import warnings
from collections import Counter
from functools import partial
from pathlib import Path

import jax
import jax.numpy as jnp
import lines_there
import numpy as np
import pytest
from distributed import Client, LocalCluster

from theorysim.engine.many.cluster import on_workers
from theorysim.engine.many.review_all import review_all, review_there
from theorysim.engine.many.staff import WorkerLeftOut
from theorysim.engine.many.standing import standing
from theorysim.engine.many.task import NO_CODE
from theorysim.engine.many.verification import Verification
from theorysim.engine.many.verify_all import verify_all
from theorysim.engine.registry.records import lines_of, own_statements
from theorysim.engine.reproduce.reproduce import reproduce
from theorysim.engine.sweep.sweep import sweep
from theorysim.errors import UsageError
from validation import lines

PACKAGE = Path(__file__).parents[2] / "theorysim"

STATEMENT = '''
"""A number is at most its bound."""

from theorysim.claims import Mutant, Real, Space, Theorem, at_most

theorem = Theorem(
    space=Space(a=Real(1, 2)),
    simulate=lambda x, key: x.a,
    claims=(at_most("bound", lambda r: r.sim, lambda r: 2.5),),
    mutants=(Mutant("three times", simulate=lambda x, key: 3 * x.a),),
)
'''.lstrip()

FIGURE = '''
"""Heights rise."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim.claims import Experiment, Mutant, Size, Space, on_average


class Heights(NamedTuple):
    height: Float[Array, "place"]


def grow(x, key, factor=1.0):
    return Heights(factor * (jax.random.normal(key, (3,), jnp.float32) / 8 + jnp.arange(3.0)))


theorem = Experiment(
    space=Space(n=Size(2)),
    simulate=grow,
    claims=(on_average("rises", lambda r: r.sim.height[:, :-1], lambda r: r.sim.height[:, 1:]),),
    mutants=(Mutant("flat", simulate=lambda x, key: grow(x, key, 0.0)),),
)
'''.lstrip()

AXES = {"rate": np.linspace(0.1, 1.0, 12), "angle": np.linspace(0.0, 3.0, 10)}
SETTINGS = {"sizes": {"width": [2, 3]}, "seeds": 2, "independent_keys": True, "tile": 40}
CELLS = 2 * 240


@pytest.fixture(scope="module")
def workers():
    """Two, each a process with one thread, that are started anew when they end."""
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as two:
        yield two


@pytest.fixture
def client(workers):
    with Client(workers) as client:
        client.wait_for_workers(2, timeout=200)
        yield client


class Killer:
    """Kills one worker, once, when it is called with something that is done."""

    def __init__(self, client):
        self.pids = list(client.run(os.getpid).values())
        self.killed = None

    def __call__(self, done, total=0, text=""):
        if done and self.killed is None:
            self.killed = self.pids[0]
            os.kill(self.killed, signal.SIGKILL)


def network():
    """Random numbers, transcendental functions, a loop, vectors; not importable on a worker."""

    def path(rate, angle, width, key):
        start = jax.random.normal(key, (width,))
        end = jax.lax.fori_loop(0, 3, lambda _, x: x - rate * jnp.sin(x + angle), start)
        return {"end": end, "norm": jnp.sqrt(jnp.sum(end**2)), "positive": end[0] > 0}

    return path


def chunks(store: Path) -> dict[str, bytes]:
    """All files of a store but those of its attributes, which name the command."""
    files = [path for path in store.rglob("*") if path.is_file() and path.name != "zarr.json"]
    return {str(path.relative_to(store)): path.read_bytes() for path in files}


@pytest.mark.thorough
@pytest.mark.slow
def test_tiles_of_a_killed_worker_are_computed_by_another(client, tmp_path):
    f, killer = network(), Killer(client)
    there = sweep(f, AXES, **SETTINGS, client=client, progress=killer)
    here = sweep(f, AXES, **SETTINGS)
    assert killer.killed is not None
    xarray_identical(there, here)
    told = []
    stored = sweep(
        f,
        AXES,
        **SETTINGS,
        client=client,
        out=tmp_path / "there",
        progress=lambda *s: told.append(s),
    )
    sweep(f, AXES, **SETTINGS, out=tmp_path / "here")
    xarray_identical(stored.load(), here)
    assert chunks(tmp_path / "there") == chunks(tmp_path / "here")
    assert told[-1][:2] == (CELLS, CELLS)


def xarray_identical(one, other):
    assert set(one.variables) == set(other.variables)
    for name in one.variables:
        assert one[name].values.tobytes() == other[name].values.tobytes(), name


@pytest.mark.slow
def test_a_sweep_stopped_on_a_cluster_goes_on_here(client, tmp_path):
    class Stop(Exception):
        pass

    def stop(done, total, text):
        if text == "sweep" and done >= CELLS // 2:
            raise Stop

    f, out = network(), tmp_path / "store"
    with pytest.raises(Stop):
        sweep(f, AXES, **SETTINGS, client=client, out=out, progress=stop)
    told = []
    sweep(f, AXES, **SETTINGS, out=out, progress=lambda *told_now: told.append(told_now))
    # Which tiles came first is up to the workers, and so is how many sizes are compiled here.
    computed = [done for done, _, text in told if text == "sweep"]
    assert computed[-1] == CELLS
    assert len(computed) <= CELLS // 2 // SETTINGS["tile"]
    sweep(f, AXES, **SETTINGS, out=tmp_path / "whole")
    assert chunks(out) == chunks(tmp_path / "whole")


@pytest.mark.slow
def test_claims_of_a_file_are_swept_there(client, tmp_path):
    from theorysim.engine.sweep.theorems import claim_sides

    file = tmp_path / "lemma_1.py"
    file.write_text(STATEMENT)
    f = claim_sides("local/lemma-1", theorems=[file])
    options = {"seeds": 3, "tile": 8}
    there = sweep(f, {"a": np.linspace(1, 2, 16)}, client=client, **options)
    xarray_identical(there, sweep(f, {"a": np.linspace(1, 2, 16)}, **options))
    assert there["bound.slack"].dtype == np.float64


@pytest.mark.thorough
@pytest.mark.slow
def test_runs_of_a_killed_worker_are_made_by_another(client, tmp_path):
    file = tmp_path / "figure_1.py"
    file.write_text(FIGURE)
    killer = Killer(client)
    options = {"theorems": [file], "runs": 12}
    kept = tmp_path / "kept"
    there = reproduce("local/figure-1", **options, client=client, kept=kept, progress=killer)
    here = reproduce("local/figure-1", **options)
    assert killer.killed is not None
    assert there.report.verdict == here.report.verdict == "holds"
    for name, data in here.data.items():
        assert there.data[name]["height"].values.tobytes() == data["height"].values.tobytes()
    assert len(list(kept.glob("*/*.zarr"))) == 12


@pytest.mark.slow
def test_statements_are_verified_there(client, tmp_path):
    files = tmp_path / "lemma_1.py", tmp_path / "lemma_2.py"
    for path, bound in zip(files, ("1.5", "1 / 0")):
        path.write_text(STATEMENT.replace("2.5", bound))
    options = {"instances": 8, "theorems": files}
    there = verify_all("local/", **options, client=client)
    here = verify_all("local/", **options)
    assert here.verdicts == {"violated": 1, "error": 1}
    for one, other in zip(here.statements, there.statements, strict=True):
        assert (one.theorem, one.report) == (other.theorem, other.report)
        assert (one.error, one.internal) == (other.error, other.internal)
    assert here.exit_code == there.exit_code == 2


@pytest.mark.slow
def test_reviews_are_made_there(client, tmp_path):
    file = tmp_path / "lemma_1.py"
    file.write_text(STATEMENT)
    kept = tmp_path / "kept"
    options = {"seconds": 0.1, "theorems": [file]}
    every = review_all("local/", **options, client=client, kept=kept)
    assert every.verdicts == {"holds": 1}
    (one,) = every.statements
    assert one.review.theorem == "local/lemma-1" and one.decision
    assert len(list((kept / "reviews").iterdir())) == 1
    assert review_all("local/", **options, kept=kept).statements[0].kept
    again = review_there("local/lemma-1", client, **options, kept=kept)
    assert json.dumps(again.as_json()) == json.dumps(one.review.as_json())


@pytest.mark.slow
def test_every_line_of_a_campaign_is_written_once(client, tmp_path, monkeypatch):
    record, written = tmp_path / "record.jsonl", Counter()
    entries = list(own_statements())[:8]
    bad = entries[3].id
    killer, replace = Killer(client), lines.replace

    def noted(record, line, ids):
        written[line["theorem"]] += 1
        replace(record, line, ids)

    monkeypatch.setattr(lines, "replace", noted)
    measure = partial(lines_there.measure, wait=0.3, bad=bad)
    measured = lines.measure_anew(record, entries, measure, lambda line: True, client)
    with pytest.raises(ExceptionGroup, match="1 of 8 lines not measured") as raised:
        for _ in measured:
            killer(True)
    (error,) = raised.value.exceptions
    assert isinstance(error, ArithmeticError) and f"while {bad} was measured" in error.__notes__
    found = lines_of(record)
    assert written == Counter(entry.id for entry in entries if entry.id != bad)
    assert {one["pid"] for one in found.values()}.isdisjoint({os.getpid()})
    assert killer.killed is not None
    again = lines.measure_anew(record, entries, partial(measure, bad=""), lambda line: True, client)
    assert [line["theorem"] for line, _ in again] == [bad]
    assert list(lines_of(record)) == [entry.id for entry in entries]


def worker(address: str, folder: Path) -> subprocess.Popen:
    """A worker whose theorysim stands in this folder."""
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    words = ["dask", "worker", address, "--nthreads", "1", "--no-dashboard", "--no-nanny"]
    command = [str(Path(sys.executable).with_name(words[0])), *words[1:]]
    return subprocess.Popen(command, env=environment, cwd=folder, stderr=subprocess.DEVNULL)


@pytest.fixture
def misfits(tmp_path):
    """Folders of a theorysim with other code, and of one that cannot be imported."""
    other, broken = tmp_path / "other", tmp_path / "broken"
    shutil.copytree(PACKAGE, other / "theorysim", ignore=shutil.ignore_patterns("__pycache__"))
    with (other / "theorysim" / "citation.py").open("a") as file:
        file.write("# changed\n")
    (broken / "theorysim").mkdir(parents=True)
    (broken / "theorysim" / "__init__.py").write_text("")
    return other, broken


@pytest.mark.thorough
@pytest.mark.slow
def test_misfits_are_left_out_and_the_others_go_on(misfits):
    tasks = [Verification(f"no/statement-{number}") for number in range(4)]
    here = standing(NO_CODE)
    with (
        LocalCluster(n_workers=0, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        started = [worker(cluster.scheduler_address, folder) for folder in misfits]
        try:
            client.wait_for_workers(2, timeout=200)
            with pytest.raises(UsageError, match="cannot take part") as none_fit:
                list(on_workers(tasks, client, here))
            assert len(str(none_fit.value).splitlines()) == 1
            cluster.scale(1)
            client.wait_for_workers(3, timeout=200)
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always", WorkerLeftOut)
                found = [one for _, one in on_workers(tasks, client, here)]
        finally:
            for process in started:
                process.kill()
                process.wait()
    assert ["no/statement" in one.error for one in found] == [True] * 4
    texts = sorted(str(one.message) for one in told if one.category is WorkerLeftOut)
    assert len(texts) == 2
    assert any("other code of theorysim" in text for text in texts)
    assert any("ModuleNotFoundError" in text for text in texts)
