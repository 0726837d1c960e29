"""Sweeps in memory: cells, keys and labels against plain calls of the function."""

import inspect
import itertools
import json
import math
import subprocess
import sys
import threading

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from drawn import thorough

from tests.sweeps.sweep_child import descent
from theorysim.errors import SizeError, UsageError
from theorysim.progress import silent
from theorysim.sweeps import SweepOptions, sweep
from theorysim.sweeps import run as running
from theorysim.sweeps.compile import whole_vectors
from theorysim.sweeps.grid import grid
from theorysim.sweeps.run import Executor
from theorysim.sweeps.tiles import tiling
from theorysim.threads import side_by_side

LAM = np.linspace(-1.0, 2.0, 5)
GAMMA = np.geomspace(0.1, 10.0, 7)

# A vectorised loop may round a product or sum once more or less than a scalar one does.
ROUNDING = 4 * np.finfo(np.float32).eps


def product(lam, gamma):
    return {"sum": lam + gamma, "path": lam * gamma ** jnp.arange(3)}


def noisy(rate, key):
    return rate + jax.random.normal(key)


def test_every_cell_is_the_function_at_its_coordinates():
    found = sweep(product, {"lam": LAM, "gamma": GAMMA}, dims={"path": ["step"]}, tile=4)
    assert found["path"].dims == ("lam", "gamma", "step")
    for lam, gamma in itertools.product(LAM, GAMMA):
        cell = found.sel(lam=lam, gamma=gamma)
        path = lam * gamma ** np.arange(3)
        np.testing.assert_allclose(cell["sum"], lam + gamma, rtol=8 * ROUNDING)
        np.testing.assert_allclose(cell["path"], path, rtol=8 * ROUNDING)


def test_zipped_axes_vary_together():
    pair = {"lam": [1.0, 2.0, 3.0], "gamma": [10.0, 20.0, 30.0]}
    found = sweep(product, {"pair": pair})
    assert found["sum"].dims == ("pair",)
    np.testing.assert_array_equal(found["sum"], [11.0, 22.0, 33.0])
    np.testing.assert_array_equal(found["gamma"], pair["gamma"])


def test_vectors_along_an_axis_and_a_grid_without_axes():
    found = sweep(lambda v: jnp.sum(v), {"v": np.arange(6.0).reshape(3, 2)})
    np.testing.assert_array_equal(found["value"], [1.0, 5.0, 9.0])
    assert sweep(lambda: jnp.float32(3.0), {})["value"].item() == 3.0


def test_keys_are_those_that_are_documented():
    found = sweep(noisy, {"rate": [1.0, 2.0]}, seeds=4, seed=7)["noisy"]
    apart = sweep(noisy, {"rate": [1.0, 2.0]}, seeds=4, seed=7, independent_keys=True)["noisy"]
    for (r, rate), s in itertools.product(enumerate([1.0, 2.0]), range(4)):
        key = jax.random.key(7)
        np.testing.assert_allclose(
            found[r, s], noisy(rate, jax.random.fold_in(key, s)), rtol=ROUNDING
        )
        own = jax.random.fold_in(jax.random.fold_in(key, 0), r)
        np.testing.assert_allclose(
            apart[r, s], noisy(rate, jax.random.fold_in(own, s)), rtol=ROUNDING
        )


def test_independent_keys_do_not_depend_on_tiles():
    axes = {"rate": np.linspace(0, 1, 5), "gamma": np.arange(3.0)}
    settings = {"seeds": 2, "independent_keys": True}

    def noise(rate, gamma, key):
        return rate + jax.random.normal(key)

    whole = sweep(noise, axes, **settings, tile=30)["noise"]
    for tile in (1, 7):
        np.testing.assert_array_equal(sweep(noise, axes, **settings, tile=tile)["noise"], whole)
    assert len(np.unique(whole)) == 30


def test_statistics_are_those_of_the_seeds():
    every = sweep(noisy, {"rate": [1.0, 2.0]}, seeds=50)["noisy"].values
    found = sweep(
        noisy,
        {"rate": [1.0, 2.0]},
        seeds=50,
        statistics=("mean", "standard_error"),
        quantiles=(0.1, 0.5),
    )
    near = {"rtol": 50 * ROUNDING}
    np.testing.assert_allclose(found["noisy_mean"], every.mean(1), **near)
    error = every.std(1, ddof=1) / math.sqrt(50)
    np.testing.assert_allclose(found["noisy_standard_error"], error, **near)
    quantiles = np.quantile(every, [0.1, 0.5], axis=1).T
    np.testing.assert_allclose(found["noisy_quantile"], quantiles, **near)
    np.testing.assert_array_equal(found["quantile"], [0.1, 0.5])


def test_sizes_are_static_compiled_once_and_filled_up():
    compiled = []

    def network(rate, width):
        assert isinstance(width, int)
        return rate * jnp.ones(width)

    def report(done, total, text):
        compiled.extend([text] if text.startswith("compiling") else [])

    found = sweep(
        network, {"rate": np.linspace(0, 1, 40)}, sizes={"width": [2, 4]}, tile=8, progress=report
    )
    assert compiled == ["compiling width = 2", "compiling width = 4"]
    assert found["network"].dims == ("width", "rate", "network_0")
    assert np.isnan(found["network"].sel(width=2)[:, 2:]).all()
    assert np.isfinite(found["network"].sel(width=4)).all()
    assert not found["diverged"].any()


def test_diverged_cells_are_marked_and_hinder_no_other():
    def explode(rate):
        return jax.lax.fori_loop(0, 200, lambda _, x: x * rate, jnp.float32(1.0))

    found = sweep(explode, {"rate": [0.5, 2.0, 1.0, np.nan]})
    np.testing.assert_array_equal(found["diverged"], [False, True, False, True])
    assert found["explode"][2] == 1.0
    counted = sweep(
        lambda rate, key: jnp.where(jax.random.bernoulli(key), jnp.nan, rate),
        {"rate": [1.0]},
        seeds=64,
        statistics=["mean"],
    )
    assert 0 < counted["diverged"].item() < 64


@pytest.mark.parametrize("tile", [1, 3, thorough(64), thorough(None)])
def test_tiles_change_results_by_rounding_at_most(tile, x64):
    def smooth(lam, gamma):
        return jnp.exp(jnp.sin(lam) - gamma)

    found = sweep(smooth, {"lam": LAM, "gamma": GAMMA}, tile=tile)["smooth"]
    expected = np.exp(np.sin(LAM)[:, None] - GAMMA)
    # The exponential turns the rounding of its argument, at most ten, into relative error.
    np.testing.assert_allclose(found, expected, rtol=16 * np.finfo(np.float64).eps)


@pytest.mark.parametrize(
    "cells", [15, thorough(1008), thorough(1023), 1024, thorough(1025), 1039, thorough(2047)]
)
def test_cells_beyond_a_vector_are_those_that_are_computed_alone(cells):
    """Tiles of many cells are computed with a few more, which nobody sees."""
    x = np.linspace(0.1, 1, 3 * cells, dtype=np.float32)
    x[cells - 1 :: cells] = np.nan  # the last one of a tile, which is repeated
    found = sweep(descent, {"cell": {"x": x, "y": x[::-1]}}, tile=cells)
    assert found["descent"].shape == x.shape
    np.testing.assert_array_equal(found["descent"], jax.jit(jax.vmap(descent))(x, x[::-1]))
    np.testing.assert_array_equal(found["diverged"], np.isnan(x) | np.isnan(x[::-1]))


def executor(function, axes):
    return Executor(running.plan(function, grid(axes, {}, None), {}), silent)


def test_vectors_are_filled_where_cells_are_many_and_plain():
    """What calls back would be called more often than there are cells."""
    x = {"x": np.linspace(0.1, 1, 3075)}
    tiles = tiling((3075,), 1025)
    assert tiles.cells == 1025
    assert executor(doubled, x).inputs(tiles).length == 1040
    seen = []

    def telling(x):
        jax.debug.callback(seen.append, x)
        return 2 * x

    assert executor(telling, x).inputs(tiles).length == 1025
    assert whole_vectors(1023) == 1023 and whole_vectors(1024) == 1024


def doubled(x):
    return 2 * x


def eigenvalues(x):
    return jnp.linalg.eigvalsh(x * jnp.ones((3, 3)))


def called_back(x):
    return jax.pure_callback(lambda x: x, jax.ShapeDtypeStruct((), x.dtype), x)


def test_calls_run_side_by_side_as_far_as_libraries_users_and_memory_let_them(monkeypatch):
    x, tiles = {"x": np.linspace(0.1, 1, 8)}, tiling((8,), 4)
    monkeypatch.setattr(running, "threads_for", lambda library: 2 if library else 5)

    def at_once(function):
        return executor(function, x).calls_at_once(0, tiles)

    assert [at_once(f) for f in (doubled, eigenvalues, called_back)] == [5, 2, 1]
    with jax.debug_nans(True):
        assert at_once(doubled) == 1
    monkeypatch.setattr(running, "programs_that_fit", lambda needed: 3 if needed else 0)
    assert [at_once(f) for f in (doubled, eigenvalues)] == [3, 2]


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("double", [thorough(False), True])
def test_tiles_that_take_long_are_computed_by_threads_with_the_same_bits(
    threads, double, monkeypatch
):
    """A thread has settings of JAX of its own: it must take the caller's precision."""
    axes = {"x": np.linspace(0.1, 1, 40), "y": np.linspace(0.1, 1, 30)}
    settings = {"seeds": 2, "tile": 100}

    def noise(x, y, key):
        return descent(x, y) + jax.random.normal(key)

    names = set()

    def watched(function, items, many):
        names.add(many)
        return side_by_side(function, items, many)

    monkeypatch.setattr(running, "side_by_side", watched)
    with jax.enable_x64(double):
        monkeypatch.setattr(running, "LONG", np.inf)
        whole = sweep(noise, axes, **settings)["noise"]
        monkeypatch.setattr(running, "threads_for", lambda _: threads)
        monkeypatch.setattr(running, "LONG", 0.0)
        found = sweep(noise, axes, **settings)["noise"]
    assert found.dtype == (np.float64 if double else np.float32)
    assert names == ({3} if threads == 3 else set())
    np.testing.assert_array_equal(found, whole)


def test_no_thread_is_left_where_results_cannot_be_kept(monkeypatch):
    """However long the error, which holds all frames, is held itself."""
    monkeypatch.setattr(running, "threads_for", lambda _: 2)
    monkeypatch.setattr(running, "LONG", 0.0)
    before = threading.active_count()

    def told(done, total, what):
        if done >= 12:
            raise OSError("full")

    with pytest.raises(OSError, match="full") as held:
        sweep(descent, {"x": np.linspace(0.1, 1, 60), "y": [1.0]}, tile=4, progress=told)
    assert held.value.__traceback__ is not None
    assert threading.active_count() == before


def test_a_worker_of_a_cluster_computes_one_tile_at_a_time(monkeypatch):
    """There are as many of them as processors."""
    monkeypatch.setattr(running, "threads_for", lambda _: 3)
    monkeypatch.setattr(running, "LONG", 0.0)
    monkeypatch.setattr(running, "side_by_side", None)
    tiles = tiling((8,), 2)
    found = dict(running.computed(executor(doubled, {"x": np.arange(8.0)}), 0, tiles, range(4), 1))
    np.testing.assert_array_equal(
        [found[i]["doubled"] for i in range(4)], 2 * np.arange(8).reshape(4, 2)
    )


def test_a_budget_of_memory_makes_tiles_smaller():
    def path(rate):
        return jnp.cumsum(rate * jnp.ones(1000))[-1]

    axes = {"rate": np.linspace(0, 1, 4000)}
    large = sweep(path, axes, memory=2**30)
    small = sweep(path, axes, memory=2**18)
    assert json.loads(small.attrs["tile"])[0] < json.loads(large.attrs["tile"])[0]
    with pytest.raises(SizeError, match="one cell needs"):
        sweep(lambda rate: jnp.sort(rate * jnp.arange(2.0**12)), axes, memory=2**10)


def test_attributes_tell_the_origin():
    found = sweep(
        noisy, {"rate": [1.0]}, seeds=2, seed=5, units={"rate": "1/s"}, attributes={"note": "x"}
    )
    assert found.attrs["function"].endswith("noisy")
    assert (found.attrs["seeds"], found.attrs["seed"], found.attrs["note"]) == (2, 5, "x")
    assert "jax" in found.attrs["versions"] and found.attrs["command"]
    assert found["rate"].attrs["units"] == "1/s"


@pytest.mark.parametrize(
    ("axes", "settings", "message"),
    [
        ({"lam": []}, {}, "list of 1"),
        ({"lam": 1.0}, {}, "list of 1"),
        ({"lam": ["a"]}, {}, "expected numbers"),
        ({"p": {"lam": [1.0], "gamma": [1.0, 2.0]}}, {}, "different lengths"),
        ({"lam": [1.0], "p": {"lam": [1.0], "gamma": [1.0]}}, {}, "given twice"),
        ({"lam": [1.0], "gamma": [1.0]}, {"sizes": {"width": [1.5]}}, "expected integers"),
        ({"lam": [1.0], "gamma": [1.0]}, {"seeds": 2**40}, "expected 1 to"),
        ({"lam": [1.0], "gamma": [1.0]}, {"statistics": ["mean"]}, "seeds"),
        ({"lam": [1.0], "gamma": [1.0]}, {"dims": {"path": ["a", "b"]}}, "one name for each"),
        ({"lam": [1.0], "gamma": [1.0]}, {"dims": {"path": ["lam"]}}, "clashes"),
        ({"lam": [1.0], "gamma": [1.0]}, {"dims": {"other": ["a"]}}, "names 'other'"),
        ({"lam": [1.0], "gamma": [1.0]}, {"coords": {"path_0": [1.0]}}, "expected 3 values"),
        ({"lam": [1.0], "gamma": [1.0]}, {"units": {"nothing": "s"}}, "not there"),
        ({"lam": [1.0], "gamma": [1.0]}, {"tile": 0}, "at least 1"),
    ],
)
def test_bad_requests_are_refused_in_words(axes, settings, message):
    with pytest.raises(UsageError, match=message):
        sweep(product, axes, **settings)


def test_the_options_of_functions_that_hand_them_on_are_all_there():
    parameters = inspect.signature(sweep).parameters.values()
    keywords = {p.name: p.annotation for p in parameters if p.kind is p.KEYWORD_ONLY}
    options = {name: of.__forward_arg__ for name, of in SweepOptions.__annotations__.items()}
    assert options == keywords


ON_THREE_DEVICES = """
import os
os.environ["XLA_FLAGS"] += " --xla_force_host_platform_device_count=3"
import jax, numpy as np
from tests.sweeps.sweep_child import descent
from theorysim.sweeps import sweep
assert jax.device_count() == 3
x = np.linspace(0.1, 1, 4 * 1025, dtype=np.float32)
found = sweep(descent, {"cell": {"x": x, "y": x[::-1]}}, tile=1025)["descent"]
np.testing.assert_array_equal(found, jax.jit(jax.vmap(descent))(x, x[::-1]))
"""


def test_what_fills_vectors_is_cut_off_on_every_device():
    """Tiles of several devices stand one after another in what a call returns."""
    subprocess.run([sys.executable, "-c", ON_THREE_DEVICES], check=True, timeout=300)
