"""Runs that are kept are found again, by what they compute, and only while they are whole."""

import os
from functools import partial
from itertools import count
from types import SimpleNamespace
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from drawn import thorough
from jaxtyping import Array, Float

import theorysim.engine.reproduce.runs as runs_module
from theorysim import memory
from theorysim.claims import Experiment, Mutant, Size, Space, Verdict, on_average
from theorysim.data import own
from theorysim.engine import registry
from theorysim.engine.reproduce.dataset import refuse_foreign, write
from theorysim.engine.reproduce.reproduce import reproduce
from theorysim.errors import SizeError, UsageError


class Heights(NamedTuple):
    """Normal numbers with means 0, 1, ..., one for each place."""

    height: Float[Array, "place"]


def grow(x, key, factor=1.0):
    return Heights(factor * (jax.random.normal(key, (3,), jnp.float32) / 8 + jnp.arange(3.0)))


def experiment(simulate=grow, claim="rises", **parts):
    rises = on_average(claim, lambda r: r.sim.height[:, :-1], lambda r: r.sim.height[:, 1:])
    flat = Mutant("flat", simulate=lambda x, key: grow(x, key, 0.0))
    return Experiment(
        space=Space(n=Size(2)),
        simulate=simulate,
        claims=(rises,),
        mutants=(flat,),
        axes=lambda x: {"place": np.arange(3)},
        keys=5,
        id="tests/figure-1",
        **parts,
    )


def verdict(theorem, **options):
    return reproduce(theorem, **options).report.verdict


@pytest.fixture
def made(monkeypatch):
    """The stores that were written."""
    stores = []
    monkeypatch.setattr(runs_module, "write", lambda d, p: (stores.append(p), write(d, p)))
    return stores


def test_finished_runs_are_found_again_and_more_are_added(tmp_path, made):
    first = reproduce(experiment(), kept=tmp_path, runs=6)
    assert len(made) == 6
    again = reproduce(experiment(), kept=tmp_path, runs=6)
    (one,), (other,) = first.data.values(), again.data.values()
    assert len(made) == 6 and one.identical(other)
    reproduce(experiment(claim="grows"), kept=tmp_path, runs=8)  # the same simulation
    assert len(made) == 8
    reproduce(experiment(), kept=tmp_path, runs=6, seed=1)
    assert len(made) == 14


def _shifted(by):
    return lambda x, key: grow(x, key, by)


@pytest.mark.parametrize(
    "pair",
    [
        (_shifted(1.0), _shifted(-1.0)),
        thorough((lambda x, key: grow(x, key), lambda x, key: grow(x, key, -1.0))),
        thorough((partial(grow, factor=1.0), partial(grow, factor=-1.0))),
        thorough((jax.jit(grow), jax.jit(lambda x, key: grow(x, key, -1.0)))),
    ],
    ids=["closures", "lambdas", "partial", "jitted"],
)
def test_simulations_that_compute_something_else_do_not_share_runs(tmp_path, pair):
    found = [verdict(experiment(simulate), kept=tmp_path) for simulate in pair]
    assert found == [Verdict.HOLDS, Verdict.VIOLATED]


FACTOR = 1.0


def with_a_global(x, key):
    return grow(x, key, FACTOR)


def test_a_global_that_was_changed_makes_other_runs(tmp_path, monkeypatch):
    theorem = experiment(with_a_global)
    assert verdict(theorem, kept=tmp_path) is Verdict.HOLDS
    monkeypatch.setitem(globals(), "FACTOR", -1.0)
    assert verdict(theorem, kept=tmp_path) is Verdict.VIOLATED


def of_the_file(x, key):
    """Heights that a user's file multiplies."""
    file = own.file_of("heights")
    return grow(x, key, 1.0 if file is None else float(file.read_text()))


def test_a_users_data_have_runs_of_their_own(tmp_path):
    one = experiment(of_the_file, data=("heights",))
    file = tmp_path / "heights.txt"
    found = [verdict(one, kept=tmp_path)]
    for factor in ("-1", "1"):
        file.write_text(factor)
        with own.instead({"heights": file}):
            found.append(verdict(one, kept=tmp_path))
    assert found == [Verdict.HOLDS, Verdict.VIOLATED, Verdict.HOLDS]


def test_runs_of_other_versions_are_not_taken(tmp_path, made, monkeypatch):
    reproduce(experiment(), kept=tmp_path)
    monkeypatch.setattr(runs_module, "versions", lambda: {"jax": "another one"})
    reproduce(experiment(), kept=tmp_path)
    assert len({store.parent for store in made}) == 2


def _in_json(store, text):
    (store / "zarr.json").write_text(text)


def _without(store, name):
    for path in sorted((store / name).rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    (store / name).rmdir()


def _first_chunk(store):
    files = (path for path in (store / "height").rglob("*") if path.is_file())
    return next(path for path in files if path.name != "zarr.json")


def _scaled(store):
    path = store / "height" / "zarr.json"
    text = path.read_text()
    path.write_text(text.replace('"attributes": {', '"attributes": {"scale_factor": -1.0, ', 1))
    assert path.read_text() != text


@pytest.mark.parametrize(
    "damage",
    [
        lambda store: _in_json(store, "{"),
        thorough(lambda store: _in_json(store, "5")),
        thorough(lambda store: _without(store, "height")),
        thorough(lambda store: _first_chunk(store).unlink()),
        thorough(lambda store: _first_chunk(store).write_bytes(b"")),
        lambda store: _first_chunk(store).write_bytes(b"damaged"),
        _scaled,
    ],
    ids=["torn", "number", "no field", "no chunk", "empty", "flipped", "scaled"],
)
def test_a_damaged_run_is_made_again(tmp_path, made, damage):
    whole = reproduce(experiment(), kept=tmp_path)
    damage(made[2])
    again = reproduce(experiment(), kept=tmp_path)
    (one,), (other,) = whole.data.values(), again.data.values()
    np.testing.assert_array_equal(one.height, other.height)
    assert made[-1] == made[2] or damage is _scaled


@pytest.mark.parametrize(
    "other",
    [
        lambda one: one.rename(place="spot"),
        thorough(lambda one: one.isel(place=slice(2))),
        thorough(lambda one: one.astype(float)),
    ],
    ids=["axis", "length", "type"],
)
def test_a_run_of_another_form_is_made_again(tmp_path, made, other):
    """As if its own store had been written by something else."""
    whole = reproduce(experiment(), kept=tmp_path)
    (data,) = whole.data.values()
    one = data.isel(run=2, drop=True).drop_vars("place")
    write(other(one), made[2])
    (again,) = reproduce(experiment(), kept=tmp_path).data.values()
    np.testing.assert_array_equal(again.height, data.height)
    assert made[5:] == [made[2]]


def test_axes_are_those_of_the_experiment_as_it_is(tmp_path):
    first = experiment()
    reproduce(first, kept=tmp_path)
    object.__setattr__(first, "axes", lambda x: {"place": np.arange(3) * 10})
    (data,) = reproduce(first, kept=tmp_path, runs=6).data.values()
    np.testing.assert_array_equal(data.place, [0, 10, 20])


def test_another_process_that_writes_the_same_run_is_no_fault(tmp_path, monkeypatch):
    (data,) = reproduce(experiment()).data.values()
    one = data.isel(run=0, drop=True).drop_vars("place")
    target = tmp_path / "0.zarr"
    whole = type(target).exists

    def late(path, **options):  # it is not there yet when this one looks
        if path == target:
            monkeypatch.setattr(type(target), "exists", whole)
            write(one, target)
            return False
        return whole(path, **options)

    monkeypatch.setattr(type(target), "exists", late)
    write(one, target)
    assert target.is_dir()


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_what_is_no_store_of_ours_is_left_alone(tmp_path, kind):
    path = tmp_path / "mine.zarr"
    note = path if kind == "file" else path / "mine.txt"
    note.parent.mkdir(exist_ok=True)
    note.write_text("years of work")
    with pytest.raises(UsageError, match="no store of ours"):
        refuse_foreign(path)
    assert note.read_text() == "years of work"


FILE = """\"\"\"Numbers of a user.\"\"\"
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims


class Found(NamedTuple):
    number: Float[Array, ""]


def simulate(x, key):
    return Found(jax.random.normal(key) + {shift})


theorem = claims.Experiment(
    space=claims.Space(n=claims.Size(2)),
    simulate=simulate,
    claims=(claims.on_average("positive", lambda r: 0 * r.sim.number, lambda r: r.sim.number),),
    mutants=(claims.Mutant("zero", simulate=lambda x, key: Found(jnp.zeros(()))),),
)
"""


def test_a_users_file_that_has_changed_is_run_anew(tmp_path):
    file, kept = tmp_path / "figure_1.py", tmp_path / "kept"
    found = []
    for shift in ("9.0", "-9.0"):
        file.write_text(FILE.replace("{shift}", shift))
        os.utime(file, ns=(1, int(float(shift) + 10) * 10**9))
        found.append(verdict(registry.theorem(str(file)), kept=kept))
    assert found == [Verdict.HOLDS, Verdict.VIOLATED]


@pytest.mark.thorough
@pytest.mark.parametrize("together", [2, 4, 100])
def test_runs_that_are_made_together_are_those_that_are_made_alone(tmp_path, made, together):
    (alone,) = reproduce(experiment(), runs=7).data.values()
    calls = []
    (found,) = reproduce(
        experiment(), runs=7, kept=tmp_path, together=together, progress=lambda *p: calls.append(p)
    ).data.values()
    np.testing.assert_allclose(found.height, alone.height, rtol=1e-6)
    assert len(made) == 7
    assert [done for done, _, _ in calls] == list(range(8))
    (again,) = reproduce(experiment(), runs=7, kept=tmp_path).data.values()
    assert again.identical(found) and len(made) == 7


def test_only_what_is_missing_is_made_together(tmp_path, made):
    (six,) = reproduce(experiment(), runs=6, kept=tmp_path).data.values()
    made[2].rename(tmp_path / "elsewhere")
    (nine,) = reproduce(experiment(), runs=9, kept=tmp_path, together=3).data.values()
    assert [int(store.stem) for store in made] == [0, 1, 2, 3, 4, 5, 2, 6, 7, 8]
    np.testing.assert_allclose(nine.height[:6], six.height, rtol=1e-6)


def test_a_run_that_does_not_fit_into_memory_is_refused(monkeypatch):
    monkeypatch.setattr(memory, "device_bytes", lambda: 4)
    with pytest.raises(SizeError, match=r"run of tests/figure-1 needs .* choose smaller sizes"):
        reproduce(experiment(), runs=8)


def test_more_results_than_memory_holds_are_refused_before_any_run(monkeypatch):
    """Eight of twelve bytes each, one by one and put together."""
    monkeypatch.setattr(memory, "device_bytes", lambda: 2**30)
    monkeypatch.setattr(memory, "machine_bytes", lambda: 2 * 8 * 12)
    reproduce(experiment(), runs=8)
    monkeypatch.setattr(runs_module.Runs, "made", None)
    with pytest.raises(SizeError, match=r"9 runs of tests/figure-1 .* ask for fewer"):
        reproduce(experiment(), runs=9)


def test_no_more_runs_are_made_together_than_fit_into_memory(monkeypatch):
    """Of results of twelve bytes each, and a memory of which 40 bytes may be taken."""
    monkeypatch.setattr(memory, "device_bytes", lambda: 320)
    monkeypatch.setattr(memory, "program_bytes", lambda c: c.memory_analysis().output_size_in_bytes)
    monkeypatch.setattr(runs_module, "time", SimpleNamespace(perf_counter=count().__next__))
    assert reproduce(experiment(), runs=7, together=7).seconds == pytest.approx(3)


def test_none_together_is_refused():
    with pytest.raises(UsageError, match="0 runs together"):
        reproduce(experiment(), together=0)


@pytest.mark.parametrize(
    ("device", "together", "programs"),
    [
        ("cpu", 4, 2),
        ("gpu", None, 1),
        *(thorough(*case) for case in (("cpu", None, 7), ("cpu", 100, 1), ("gpu", 1, 7))),
    ],
)
def test_programs_are_as_many_as_said_and_their_runs_share_the_time(
    monkeypatch, device, together, programs
):
    """By a clock on which every program takes a second."""
    monkeypatch.setattr(jax, "default_backend", lambda: device)
    monkeypatch.setattr(runs_module, "time", SimpleNamespace(perf_counter=count().__next__))
    found = reproduce(experiment(), runs=7, together=together)
    assert found.seconds == pytest.approx(programs)


class Pair(NamedTuple):
    """A height, and one above it."""

    low: Float[Array, ""]
    high: Float[Array, ""]


class Reversed(NamedTuple):
    """The same, with its fields in the other order."""

    high: Float[Array, ""]
    low: Float[Array, ""]


def test_results_whose_fields_have_changed_places_do_not_share_runs(tmp_path):
    """The same program: its first result is the low one, then the high one."""

    def of(kind):
        above = on_average("above", lambda r: r.sim.low, lambda r: r.sim.high)

        def simulate(x, key):
            return kind(*grow(x, key).height[:2])

        return Experiment(space=Space(n=Size(2)), simulate=simulate, claims=(above,), id="tests/a")

    found = [verdict(of(kind), kept=tmp_path) for kind in (Pair, Reversed)]
    assert found == [Verdict.HOLDS, Verdict.VIOLATED]
