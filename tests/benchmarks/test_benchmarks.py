"""Every benchmark runs at small sizes, and its contenders agree. No time is compared."""

import math
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from benchmarks import __main__ as runner
from benchmarks import deep_linear, limits, rank_one, scaling, sweep, two_layer_linear
from benchmarks.laws import laws
from benchmarks.race import Row

# The default run has one benchmark; each compiles a dozen programs.
DEFAULT = "tangent_kernels"
NAMES = [
    pytest.param(name, marks=[] if name == DEFAULT else pytest.mark.thorough)
    for name in map(runner.name, runner.found())
]
# Solvers at a relative tolerance of 1e-8, over some time; single precision where that is the type.
ERRORS = {"float64": 1e-6, "float32": 1e-5}


def rows(name: str) -> list[Row]:
    (module,) = (each for each in runner.found(name) if runner.name(each) == name)
    return list(module.rows(quick=True))


@pytest.mark.parametrize("name", NAMES)
def test_rows_are_whole_and_contenders_agree(name):
    found = rows(name)
    assert found
    for row in found:
        assert 0 < row.ratio_low <= row.ratio_high and row.ratio > 0
        assert all(math.isfinite(x) and x > 0 for x in (row.seconds, row.peer_seconds))
        for error, who in ((row.error, row.name), (row.peer_error, row.peer)):
            # Descent of a hundred steps is no flow; at full size it has four thousand.
            if error is not None and not who.startswith("descent"):
                assert error < ERRORS[row.dtype], (row, who)


@pytest.mark.thorough
def test_every_ladder_gives_a_law():
    found = list(scaling.rows(quick=True))
    fitted = laws([row.as_json() for row in found])
    assert {law.over for law in fitted} == {row.over for row in found}
    assert {law.over for law in fitted} == {
        *("k", "d", "keys", "modes", "width", "instances", "n", "depth")
    }


@pytest.mark.thorough
def test_the_steps_of_a_flow_are_the_fewest_that_all_instances_need(x64):
    several = deep_linear.problems(2, 4, 6)
    steps = limits._steps(3, several)

    def arrives(most: int) -> bool:
        paths = jax.vmap(partial(deep_linear.reduced, 3, max_steps=most))(several)
        return bool(jnp.all(jnp.isfinite(paths)))

    assert arrives(steps) and not arrives(steps - 1)
    alone = [jax.tree.map(lambda part, i=i: part[i : i + 1], several) for i in range(2)]
    assert steps == max(limits._steps(3, one) for one in alone)


def test_the_numpy_logistic_is_the_closed_form(x64):
    features = np.random.default_rng(1).uniform(*two_layer_linear.FEATURES, (1, 50))
    ours = np.asarray(two_layer_linear.closed(jnp.asarray(features)))
    np.testing.assert_allclose(scaling.logistic(features), ours, rtol=ERRORS["float64"])


def test_a_sweep_has_the_precision_that_its_row_says():
    """Axes are in double precision, as a user gives them; the sweep is in JAX's."""
    ready = sweep.prepared(sweep.closed_form, 16)
    types = {variable.name: variable.dtype for variable in ready.executor.plan.variables}
    assert types["closed_form"] == np.float32


@pytest.mark.thorough
def test_the_loops_of_one_run_learn_as_the_chain_does():
    """All three end within the scatter of their runs: the mean over keys has an error beside it."""
    k, d, steps = 4, 64, 400
    chain = np.asarray(rank_one.reduced(k, d, 256, steps).run())
    full = np.asarray(rank_one.full(k, d, 64, steps).run())
    scatter = np.hypot(chain.std() / np.sqrt(chain.size), full.std() / np.sqrt(full.size))
    assert abs(chain.mean() - full.mean()) < 4 * scatter
    assert abs(rank_one.loop(k, d, steps).run() - chain.mean()) < 4 * chain.std()


@pytest.mark.thorough
def test_all_matrices_have_the_reduced_path(x64):
    one = deep_linear.problems(1, 4, 6).first()
    ours, theirs = deep_linear.reduced(3, one), deep_linear.matrices(3, one)
    np.testing.assert_allclose(ours, theirs, atol=ERRORS["float64"])
