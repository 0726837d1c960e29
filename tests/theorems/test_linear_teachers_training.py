"""What the statements on deep linear and wide ReLU networks train, against independent truths."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from theorysim.claims import Real, Size, Space, UsageError
from theorysim.systems import deep_linear_network as network
from theorysim.theorems.linear_teachers import _deep as deep
from theorysim.theorems.linear_teachers import _kernel_regime as regime
from theorysim.theorems.linear_teachers import _problem as problem
from theorysim.theorems.linear_teachers import assumption_3_3 as assumption
from validation.oracles import deep_linear as oracle

pytestmark = pytest.mark.usefixtures("x64")

DEPTHS = (1, 3)
SPREAD = Space(
    d=Size(6), n=Size(3), n_source=Size(4), unseen=Size(5), spread=Real(0.1, 10, log=True)
)


@pytest.fixture(scope="module")
def flow():
    """An instance and the flow of its networks, in NumPy's precision."""
    with jax.enable_x64(True):
        space = problem.problem_space()
        x = space.sample(jax.random.key(2), space.default_sizes())
        start = {L: deep.balanced(x, jax.random.key(3), L, problem.source(x)) for L in DEPTHS}
        labels = problem.data(x) @ problem.target(x)
        return x, jax.jit(lambda: deep.flows(start, problem.data(x), labels, 1.0))()


@pytest.mark.parametrize("depth", DEPTHS)
def test_the_clock_by_size_leads_to_the_many_digit_limit(flow, depth):
    x, layers = flow
    samples, source, target = (
        np.asarray(part) for part in (problem.data(x), problem.source(x), problem.target(x))
    )
    inside = samples.T @ np.linalg.inv(samples @ samples.T) @ samples
    kept = source - inside @ source
    lengths = [np.linalg.norm(part) for part in (inside @ source, kept, inside @ target)]
    ratio = float(oracle.log_norm_ratio(*lengths, depth))
    expected = np.exp((1 - 1 / depth) * ratio) * kept + inside @ target
    end = network.end_to_end(jax.tree.map(lambda leaf: leaf[-1], layers[depth]))
    # The slowest mode has decayed by exp(-16).
    np.testing.assert_allclose(end, expected, rtol=0, atol=1e-6 * np.linalg.norm(expected))


def test_a_settling_path_ends_where_it_ends_and_never_turns_back(flow):
    _, layers = flow
    path = jax.vmap(network.end_to_end)(layers[3])
    settling = np.asarray(deep.settling(path))
    np.testing.assert_array_equal(settling[:, -1], path[-1])
    late = np.diff(settling[:, 2:], axis=1)
    assert np.all(late < 0)


def _inputs(spread: float, **sizes):
    x = SPREAD.sample(jax.random.key(0), SPREAD.default_sizes(**sizes))
    return x.replace(spread=jnp.asarray(spread)), jax.random.key(1)


def test_inputs_are_distinct_unit_vectors_of_the_population():
    data = regime.inputs(*_inputs(0.5))
    np.testing.assert_allclose(np.linalg.norm(data.population, axis=1), 1, rtol=1e-14)
    both = np.concatenate([data.source, data.target])
    nearest = np.min(np.linalg.norm(both[:, None] - data.population[None], axis=2), axis=1)
    assert np.all(nearest == 0) and len(np.unique(both, axis=0)) == len(both)


def test_more_samples_than_dimensions_are_refused():
    with pytest.raises(UsageError, match="n = 7 samples in dimension d = 6"):
        regime.inputs(*_inputs(0.5, n=7))


def _gram(left, right):
    """The tangent kernel by arccos, on inputs far from parallel ones."""
    cosine = np.clip(left @ right.T, -1, 1)
    return cosine * (np.pi - np.arccos(cosine)) / (2 * np.pi)


def test_both_stages_are_kernel_regression_in_the_end():
    data = regime.inputs(*_inputs(3.0))
    first, second = np.array([0.3, -1.0, 0.7, 0.1]), np.array([1.0, 0.2, -0.5])
    before = regime.pretrained(data, jnp.asarray(first))
    start = regime.fine_tuning(jnp.asarray(second) - before[-3:], data.target)
    after = regime.fine_tuned(data, before, start, jnp.inf)
    population, source, target = (np.asarray(part) for part in data)
    expected = _gram(population, source) @ np.linalg.solve(_gram(source, source), first)
    # arccos loses half of the digits on the diagonal.
    np.testing.assert_allclose(before, expected, rtol=0, atol=1e-6)
    left = second - expected[-3:]
    expected += _gram(population, target) @ np.linalg.solve(_gram(target, target), left)
    np.testing.assert_allclose(after, expected, rtol=0, atol=1e-6)
    form = left @ np.linalg.solve(_gram(target, target), left)
    np.testing.assert_allclose(start.complexity, np.sqrt(form / 3), rtol=1e-6)


def test_without_steps_nothing_is_learned():
    data = regime.inputs(*_inputs(1.0))
    before = regime.pretrained(data, jnp.ones(4))
    start = regime.fine_tuning(jnp.ones(3), data.target)
    np.testing.assert_array_equal(regime.fine_tuned(data, before, start, 0.0), before)


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
