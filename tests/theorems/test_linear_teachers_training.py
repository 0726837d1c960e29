"""What the statements on deep linear and wide ReLU networks train, against independent truths."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from drawn import thorough

from theorysim.claims import Real, Size, Space, UsageError
from theorysim.systems import deep_linear_network as network
from theorysim.theorems.linear_teachers import _deep as deep
from theorysim.theorems.linear_teachers import _depth as any_depth
from theorysim.theorems.linear_teachers import _kernel_regime as regime
from theorysim.theorems.linear_teachers import _problem as problem
from theorysim.theorems.linear_teachers import assumption_3_3 as assumption
from theorysim.theorems.linear_teachers import theorem_4_2_spiked as spiked
from theorysim.theorems.linear_teachers import theorem_5_5 as frozen
from validation.oracles import deep_linear as oracle

pytestmark = pytest.mark.usefixtures("x64")

DEPTHS = (thorough(1), 3)
DECAYED = 10 * np.exp(-16)
"""what is left of the slowest mode, of vectors not longer than 10"""
ROUNDING = 1e-12
SPREAD = Space(
    d=Size(6), n=Size(3), n_source=Size(4), unseen=Size(5), spread=Real(0.1, 10, log=True)
)


def end_of(path):
    """The product of the matrices, in NumPy, where a path of them ends."""
    return np.linalg.multi_dot([*(np.asarray(layer)[-1] for layer in path), np.ones(1)])


trained = jax.jit(any_depth.trained)
inputs, pretrained, fine_tuning, fine_tuned = map(
    jax.jit, (regime.inputs, regime.pretrained, regime.fine_tuning, regime.fine_tuned)
)


@pytest.fixture(scope="module")
def x():
    with jax.enable_x64(True):
        space = problem.problem_space()
        return space.sample(jax.random.key(2), space.default_sizes())


@pytest.fixture(scope="module")
def flow(x):
    """The flow of networks of some depth, in NumPy's precision."""

    @partial(jax.jit, static_argnums=0)
    def layers(depth):
        source = problem.source(x)
        start = {depth: deep.balanced(x, jax.random.key(3), depth, source)}
        return deep.flows(start, problem.data(x), problem.data(x) @ problem.target(x), 1.0)[depth]

    return layers


@pytest.mark.parametrize("depth", DEPTHS)
def test_the_clock_by_size_leads_to_the_many_digit_limit(flow, x, depth):
    samples, source, target = (
        np.asarray(part) for part in (problem.data(x), problem.source(x), problem.target(x))
    )
    inside = samples.T @ np.linalg.inv(samples @ samples.T) @ samples
    kept = source - inside @ source
    lengths = [np.linalg.norm(part) for part in (inside @ source, kept, inside @ target)]
    ratio = float(oracle.log_norm_ratio(*lengths, depth))
    expected = np.exp((1 - 1 / depth) * ratio) * kept + inside @ target
    end = end_of(flow(depth))
    # The slowest mode has decayed by exp(-16).
    np.testing.assert_allclose(end, expected, rtol=0, atol=1e-6 * np.linalg.norm(expected))


@pytest.mark.parametrize("depth", DEPTHS)
def test_the_first_layer_alone_comes_where_all_matrices_come(flow, x, depth):
    alone = trained(x, problem.target(x), float(depth))
    end = end_of(flow(depth))
    assert float(alone.vanished) > 0
    np.testing.assert_allclose(alone.weights, end, rtol=0, atol=DECAYED)


def test_the_risk_with_a_large_eigenvalue_is_that_of_rows_drawn_with_it(monkeypatch):
    rng, n, d, level, angle = np.random.default_rng(0), 4, 9, 0.1, 0.7
    rows = rng.standard_normal((n, d))

    def outside(rows):
        return np.eye(d) - rows.T @ np.linalg.solve(rows @ rows.T, rows)

    equal = outside(rows)[:2, :2]
    drawn = spiked.gaussian.Compression(jnp.asarray(np.eye(2) - equal), jnp.asarray(equal))
    monkeypatch.setattr(spiked.gaussian, "from_wishart", lambda *_: drawn)
    eigenvalues = np.where(np.arange(d) == 0, 1, level)
    difference = np.zeros(d)
    difference[:2] = np.cos(angle), np.sin(angle)
    left = outside(rows * np.sqrt(eigenvalues)) @ difference
    space = spiked.theorem.space
    fields = space.sample(jax.random.key(0), space.default_sizes())
    x = fields.replace(level=jnp.asarray(level), angle=jnp.asarray(angle))
    risk = spiked.simulate(x, jax.random.key(1))
    np.testing.assert_allclose(risk, np.sum(eigenvalues * left**2), rtol=ROUNDING)


def test_a_settling_path_ends_where_it_ends_and_never_turns_back(flow):
    path = jax.vmap(network.end_to_end)(flow(3))
    settling = np.asarray(jax.jit(deep.settling)(path))
    np.testing.assert_array_equal(settling[:, -1], path[-1])
    late = np.diff(settling[:, 2:], axis=1)
    assert np.all(late < 0)


def _inputs(spread: float, **sizes):
    x = SPREAD.sample(jax.random.key(0), SPREAD.default_sizes(**sizes))
    return x.replace(spread=jnp.asarray(spread)), jax.random.key(1)


def test_inputs_are_distinct_unit_vectors_of_the_population():
    data = inputs(*_inputs(0.5))
    np.testing.assert_allclose(np.linalg.norm(data.drawn, axis=1), 1, rtol=1e-14)
    both = np.concatenate([data.source, data.target])
    nearest = np.min(np.linalg.norm(both[:, None] - data.drawn[None], axis=2), axis=1)
    assert np.all(nearest == 0) and len(np.unique(both, axis=0)) == len(both)


def test_the_population_mean_is_over_what_neither_stage_has_seen():
    x, key = _inputs(0.5)
    data = inputs(x, key)
    seen = np.concatenate([data.source, data.target])
    unseen = [not (seen == row).all(axis=1).any() for row in np.asarray(data.drawn)]
    assert float(regime.population_mean(x, jnp.asarray(unseen, float))) == 1
    assert sum(unseen) == x.unseen


def test_more_samples_than_dimensions_are_refused():
    with pytest.raises(UsageError, match="n = 7 samples in dimension d = 6"):
        regime.inputs(*_inputs(0.5, n=7))


def _gram(left, right):
    """The tangent kernel by arccos, on inputs far from parallel ones."""
    cosine = np.clip(left @ right.T, -1, 1)
    return cosine * (np.pi - np.arccos(cosine)) / (2 * np.pi)


def test_both_stages_are_kernel_regression_in_the_end():
    data = inputs(*_inputs(3.0))
    first, second = np.array([0.3, -1.0, 0.7, 0.1]), np.array([1.0, 0.2, -0.5])
    before = pretrained(data, jnp.asarray(first))
    start = fine_tuning(jnp.asarray(second) - before[-3:], data.target)
    after = fine_tuned(data, before, start, jnp.inf)
    drawn, source, target = (np.asarray(part) for part in data)
    expected = _gram(drawn, source) @ np.linalg.solve(_gram(source, source), first)
    # arccos loses half of the digits on the diagonal.
    np.testing.assert_allclose(before, expected, rtol=0, atol=1e-6)
    left = second - expected[-3:]
    expected += _gram(drawn, target) @ np.linalg.solve(_gram(target, target), left)
    np.testing.assert_allclose(after, expected, rtol=0, atol=1e-6)
    form = left @ np.linalg.solve(_gram(target, target), left)
    np.testing.assert_allclose(start.complexity, np.sqrt(form / 3), rtol=1e-6)


def test_without_steps_nothing_is_learned():
    data = inputs(*_inputs(1.0))
    before = pretrained(data, jnp.ones(4))
    start = fine_tuning(jnp.ones(3), data.target)
    np.testing.assert_array_equal(fine_tuned(data, before, start, 0.0), before)


def test_frozen_layers_fit_multiples_of_the_source_alone():
    space = problem.problem_space()
    x = space.sample(jax.random.key(4), space.default_sizes())
    aligned = x.replace(target_direction=x.source_direction)
    opposed = x.replace(target_direction=-x.source_direction)
    np.testing.assert_allclose(assumption.least_frozen_share(aligned), 0, atol=1e-30)
    np.testing.assert_allclose(assumption.least_frozen_share(opposed), 1, rtol=1e-14)
    fitted, wanted = (np.asarray(problem.data(x) @ v(x)) for v in (problem.source, problem.target))
    scales = np.linspace(0, 20, 20001)[:, None]
    shares = np.sum((scales * fitted - wanted) ** 2, axis=1) / np.sum(wanted**2)
    np.testing.assert_allclose(assumption.least_frozen_share(x), shares.min(), rtol=1e-4)


@pytest.mark.parametrize("flat", [thorough(0.0), 1.0])
def test_the_risk_is_the_mean_over_inputs_that_span_the_samples(flat):
    space = problem.problem_space(**problem.distribution_fields())
    x = space.sample(jax.random.key(5), space.default_sizes()).replace(
        flat=jnp.asarray(flat), off_centre=jnp.ones(())
    )
    corners = np.array(np.meshgrid(*[[-1, 1]] * x.d)).reshape(x.d, -1)
    inputs = np.asarray(x.mean) + (np.asarray(x.axes * jnp.sqrt(x.eigenvalues)) @ corners).T
    last = np.asarray(x.frame[:, -1])
    inputs = inputs - flat * np.outer(inputs @ last, last)
    assert np.linalg.matrix_rank(inputs) == x.d - flat
    assert np.linalg.matrix_rank(np.vstack([inputs, problem.data(x)])) == x.d - flat
    left = problem.target(x) - problem.source(x)
    squares = np.mean((inputs @ np.asarray(left)) ** 2)
    risk = problem.risk(x, problem.source(x), problem.target(x))
    np.testing.assert_allclose(risk, squares, rtol=ROUNDING)
    np.testing.assert_allclose(problem.moment_form(x, left), squares, rtol=ROUNDING)
    variance = np.var(inputs @ np.asarray(left))
    np.testing.assert_allclose(problem.covariance_form(x, left), variance, rtol=ROUNDING)


def test_targets_that_frozen_layers_fit_are_multiples_of_the_source_on_the_samples():
    space = frozen.theorem.space
    x = space.sample(jax.random.key(6), space.default_sizes()).replace(fitted=jnp.ones(()))
    (margin,) = frozen.theorem.assumes[0].hypotheses.values()
    assert float(margin(x)) > 0 > float(margin(x.replace(fitted=jnp.zeros(()))))
    samples, source = np.asarray(problem.data(x)), np.asarray(problem.source(x))
    wanted = samples @ np.asarray(frozen._target(x))
    np.testing.assert_allclose(wanted, x.alpha * samples @ source, rtol=0, atol=ROUNDING)
    assert np.linalg.norm(frozen._target(x) - x.alpha * source) > 0.1
