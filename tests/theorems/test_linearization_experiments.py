"""What the experiments of the linearization paper rest on, against independent truths."""

from itertools import permutations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from closeness import FEW_SINGLE, SOLVED_DOUBLE, STEPS_SINGLE, SUMS_SINGLE
from drawn import thorough
from jax.flatten_util import ravel_pytree
from scipy.special import expit, rel_entr
from scipy.stats import spearmanr

from theorysim.claims.run import Run
from theorysim.data import digits as data
from theorysim.numerics.models import Functional
from theorysim.systems import kernel_ridge, linearized
from theorysim.theorems.linearization import _condition as condition
from theorysim.theorems.linearization import _digits as digits
from theorysim.theorems.linearization import _flow as flow
from theorysim.theorems.linearization import _table as table
from theorysim.theorems.linearization import experiment_added_layers as added
from theorysim.theorems.linearization import experiment_condition_scaled as scaled
from theorysim.theorems.linearization import experiment_gradient_flow as refined
from theorysim.theorems.linearization import experiment_selective as selective
from theorysim.theorems.linearization import experiment_two_phases as phases
from theorysim.theorems.linearization import table_1_order as order
from theorysim.theorems.linearization.table_1 import STRENGTHS

SECOND_ORDER = 1e-2
"""the limit lambda = 0 differs from lambda = 0.01 by its first order"""

SMALL = {"examples": 12, "width": 5, "pretraining": 30}
# Of trainings of some hundred steps in single precision, beside closed forms.
SINGLE_RTOL = 2e-3


@pytest.fixture(autouse=True)
def single_precision():
    with jax.enable_x64(False):
        yield


def instance(space, **sizes):
    return space.sample(jax.random.key(0), space.default_sizes(**SMALL, **sizes))


def run_of(found):
    """What a claim looks at, where the instance is nothing to it."""
    return Run(instance(table.SPACE), (), found)


def drawn(simulate, x):
    """One run."""
    return jax.jit(lambda key: simulate(x, key))(jax.random.key(1))


@pytest.fixture(scope="module")
def x():
    with jax.enable_x64(False):
        return instance(table.SPACE, steps=60)


@pytest.fixture(scope="module")
def task(x):
    with jax.enable_x64(False):
        models = []

        @jax.jit
        def parts():
            model, *others = digits.task(x, jax.random.key(1))
            models.append(model)
            return others

        others = parts()
        return digits.Task(*models, *others)


@pytest.fixture(scope="module")
def rows(x):
    """All weights tuned at every strength, with nothing shuffled."""
    with jax.enable_x64(False):
        return drawn(table.ladder(table.all_weights), x)


def test_images_are_learnt_tuned_and_tested_once(task):
    images = np.asarray(data.small().images, np.float32)
    late = np.concatenate([task.train.inputs, task.test.inputs])
    assert len(late) == len(images) - len(images) // 2
    assert len(np.unique(late, axis=0)) == len(late)
    labels = {image.tobytes(): label for image, label in zip(images, data.small().labels)}
    for image, target in zip(np.asarray(task.test.inputs), np.asarray(task.test.targets)):
        assert target == (1 if labels[image.tobytes()] % 2 == 0 else -1)


def test_pretraining_learns_the_size_of_digits(task):
    found = data.small()
    told = digits.outputs(task.model, task.params, jnp.asarray(found.images, jnp.float32))
    assert np.mean((np.asarray(told) > 0) == (found.labels >= 5)) > 0.7


@pytest.mark.parametrize("tuning", [thorough(table.all_weights), table.adapter])
def test_jacobians_change_by_no_more_than_the_bound(task, tuning):
    (model, start), curvature = tuning(task, jax.random.key(2))
    flat, back = ravel_pytree(start)
    jacobian = jax.jit(
        lambda moved: digits.jacobian(
            lambda p: digits.outputs(model, back(p), task.train.inputs), flat + moved
        )
    )
    radius = 0.5
    ways = np.random.default_rng(3).standard_normal((2, 40, flat.size)).astype(np.float32)
    ways *= radius / np.linalg.norm(ways, axis=2, keepdims=True)
    most = float(curvature(jnp.asarray(radius)))
    for a, b in zip(*ways):
        change = np.linalg.norm(np.subtract(jacobian(a), jacobian(b)), ord=2)
        assert change <= most * np.linalg.norm(a - b)


def test_an_adapter_starts_as_the_pretrained_network(task):
    (model, start), _ = table.adapter(task, jax.random.key(2))
    np.testing.assert_array_equal(
        digits.outputs(model, start, task.train.inputs),
        digits.outputs(task.model, task.params, task.train.inputs),
    )


def last_layer(task, key):
    """A model that is linear in what is tuned."""

    def model(weight, image):
        return task.model(digits.with_weight(task.params, -1, weight), image)

    return table.Tuning(Functional(model, task.params.layers[-1].weight), lambda radius: 0 * radius)


def test_the_last_layer_is_tuned_as_its_linear_model(x):
    rows = drawn(table.ladder(last_layer), x)
    np.testing.assert_allclose(rows.distance, rows.linear_distance, rtol=SINGLE_RTOL)
    assert np.all(rows.gap < 1e-4) and np.all(rows.linear_gap < 1e-4)
    assert np.all(rows.divergence < 1e-6) and np.all(np.diff(rows.distance) > 0)
    assert np.all(np.minimum(rows.change, rows.shuffled_gap) > 100 * rows.gap)


def test_the_bound_of_theorem_3_holds_and_has_a_limit_without_a_pull(rows):
    assert np.all(rows.gap < rows.gap_bound)
    bounds = jax.jit(
        jax.vmap(
            lambda strength: table._bound(
                table.Modes(jnp.array([2.0, 1.0]), jnp.eye(2), jnp.array([1.0, 1.0])),
                lambda radius: 0.3 + 0 * radius,
                strength,
                jnp.asarray(0.1),
            )
        )
    )(jnp.array([0.0, 1e-2]))
    assert bounds[0] == pytest.approx(float(bounds[1]), rel=SECOND_ORDER)


@pytest.mark.thorough  # the null that shuffles tangents stays
def test_one_null_shuffles_pulls_alone(x, rows):
    pulls = drawn(table.ladder(table.all_weights, table.Null.STRENGTHS), x)
    np.testing.assert_allclose(np.sort(pulls.distance), rows.distance, rtol=SUMS_SINGLE)


def test_one_null_shuffles_tangents_alone(x, rows):
    tangents = drawn(table.ladder(table.all_weights, table.Null.PARAMETERS), x)
    np.testing.assert_allclose(tangents.distance, rows.distance, rtol=SUMS_SINGLE)
    np.testing.assert_allclose(tangents.shuffled_gap, rows.shuffled_gap, rtol=STEPS_SINGLE)
    assert np.all(tangents.gap > rows.gap) and np.all(tangents.gap != tangents.shuffled_gap)


def test_the_divergence_is_that_of_chances():
    a, b = jax.random.normal(jax.random.key(0), (2, 50))
    p, q = (expit(np.asarray(side, float)) for side in (a, b))
    expected = np.mean(rel_entr(p, q) + rel_entr(1 - p, 1 - q))
    assert float(table.divergence(a, b)) == pytest.approx(expected, rel=STEPS_SINGLE)
    assert float(table.divergence(a, a)) == 0


def test_layers_share_out_the_parameters(task):
    masks = np.asarray(digits.layer_masks(task.params))
    sizes = [layer.weight.size + layer.bias.size for layer in task.params.layers]
    np.testing.assert_array_equal(masks.sum(1), sizes)
    np.testing.assert_array_equal(masks.sum(0), 1)


def test_rank_correlations_are_scipys():
    a, b = np.random.default_rng(0).normal(size=(2, 9))
    expected = spearmanr(a, b)[0]
    assert float(condition.rank_correlation(a, b)) == pytest.approx(expected)
    tied = np.round(a)
    expected = spearmanr(tied, b)[0]
    assert len(set(tied)) < len(tied)
    assert float(condition.rank_correlation(tied, b)) == pytest.approx(expected)
    assert float(condition.rank_correlation(0 * a, b)) == 0
    strengths = np.asarray(STRENGTHS)
    row = jnp.asarray(np.random.default_rng(1).normal(size=len(strengths)))
    expected = spearmanr(row, strengths)[0]
    assert float(order._rank_correlation(row)) == pytest.approx(expected, abs=FEW_SINGLE)


@pytest.mark.thorough  # the last layer is tuned as its linear model beside
def test_the_output_layer_learns_as_its_linear_model_and_the_others_do_not():
    x = instance(condition.SPACE, epoch=20)
    found = jax.jit(lambda key: condition.tuned(x, key, condition.subsets_of_layers))(
        jax.random.key(1)
    )
    only_last = condition.SUBSETS.index((0, 0, 0, 1))
    linear = found.linear_loss[:, only_last]
    np.testing.assert_allclose(found.loss[:, only_last], linear, rtol=SINGLE_RTOL)
    assert np.all(np.diff(linear, axis=-1) < 0)
    apart = np.abs(np.log(found.loss[..., -1] / found.linear_loss[..., -1]))
    assert np.all(np.delete(apart, only_last, axis=1) > SINGLE_RTOL)


def test_the_loss_of_ridge_regression_is_that_of_its_residual():
    half = np.random.default_rng(0).normal(size=(6, 6))
    gram, gap, sigma = half @ half.T, np.arange(6.0), 0.5
    left = gap - gram @ np.linalg.solve(gram + sigma * np.eye(6), gap)
    with jax.enable_x64(True):
        spectrum = linearized.modes(jnp.asarray(gram), jnp.asarray(gap))
        found = float(condition._ridge_loss(spectrum, jnp.asarray(sigma)))
    assert found == pytest.approx(left @ left, rel=SOLVED_DOUBLE)


def test_rescaled_choices_have_one_largest_eigenvalue():
    """The kernel of 6 parameters for 12 examples is singular: kappa = 1 + lambda_max / sigma."""
    x = instance(condition.SPACE, epoch=1)
    key = jax.random.key(1)
    found = jax.jit(lambda key: condition.tuned(x, key, condition.subsets_of_layers, equal=True))(
        key
    )

    @jax.jit
    def jacobian():
        task = digits.task(x, key, condition.HIDDEN_LAYERS)
        return digits.jacobian(
            lambda p: digits.outputs(task.model, p, task.train.inputs), task.params
        )

    largest = np.linalg.norm(jacobian(), 2) ** 2
    only_last = condition.SUBSETS.index((0, 0, 0, 1))
    sigma = np.asarray(condition.STRENGTHS) / 2
    np.testing.assert_allclose(found.condition[:, only_last], 1 + largest / sigma, rtol=SINGLE_RTOL)
    assert np.all(found.condition <= (1 + largest / sigma)[:, None] * (1 + SINGLE_RTOL))


@pytest.mark.thorough  # one eigenvalue of rescaled choices is told beside
def test_condition_numbers_differ_where_the_largest_eigenvalue_does_not():
    space = scaled.theorem.space
    x = space.sample(jax.random.key(0), space.default_sizes(width=16, pretraining=30, epoch=1))
    found = drawn(scaled.SIMULATE, x).condition
    assert np.all(np.max(found, axis=1) > 1.5 * np.min(found, axis=1))


@pytest.mark.thorough  # an adapter of rank one stays
def test_adapters_tune_as_many_parameters_as_their_rank_asks(x):
    sizes = []

    @jax.jit
    def adapted():
        task = digits.task(x, jax.random.key(1), condition.HIDDEN_LAYERS)
        sizes.extend(sum(layer.weight.shape) for layer in task.params.layers[:-1])
        found = condition.adapters(task, jax.random.key(2))
        told = digits.outputs(found.model, found.start, task.train.inputs)
        return found.masks, told, digits.outputs(task.model, task.params, task.train.inputs)

    masks, told, pretrained = adapted()
    expected = [rank * sizes[layer] for layer, rank in condition.ADAPTERS]
    np.testing.assert_array_equal(np.asarray(masks).sum(1), expected)
    np.testing.assert_allclose(told, pretrained, rtol=FEW_SINGLE)


def test_eta_by_singular_values_is_that_of_kernels():
    with jax.enable_x64(True):
        before, more = jax.random.normal(jax.random.key(0), (2, 5, 5))
        expected = kernel_ridge.relative_size(before @ before.T, more @ more.T)
        found = added._relative_size(before, more)
        assert float(found) == pytest.approx(float(expected), rel=SOLVED_DOUBLE)
        assert float(added._relative_size(before, 3 * before)) == pytest.approx(9)


def test_theorem_2_leaves_the_ball_at_the_printed_time():
    shares = jnp.array([0.25, 0.5, 0.9])
    limits = -jnp.log1p(-shares) / shares
    np.testing.assert_allclose(flow.faded_time(shares, limits), 1, rtol=FEW_SINGLE)


def of_two_phases(simulate):
    space = phases.theorem.space
    return drawn(simulate, space.sample(jax.random.key(0), space.default_sizes(steps=8000)))


@pytest.mark.thorough  # a program of its own; strong pulls stay
def test_without_a_pull_all_go_twice_the_radius():
    free = of_two_phases(phases.without_pull)
    assert np.all(free.distance <= 2.02) and np.all(free.active == 0)
    np.testing.assert_allclose(free.distance, free.distance[:, :, :1].repeat(5, 2), rtol=FEW_SINGLE)


def test_strong_pulls_stay_in_the_ball():
    strong = of_two_phases(phases.strong)
    assert np.all(strong.distance[0] < strong.bound[None])
    np.testing.assert_allclose(strong.active[0], 1, rtol=FEW_SINGLE)
    assert np.all(strong.active[1, :3] < 0.01)


def test_the_order_of_an_error_is_read_from_its_halvings():
    errors = 3.0 * 2.0 ** (-1.5 * np.arange(6))
    x = refined.theorem.space.sample(jax.random.key(0), {"halvings": 6})
    others = [jnp.zeros(6)] * (len(refined.Refined._fields) - 1)
    run = Run(x, (), refined.Refined(jnp.asarray(errors), *others))
    assert float(refined._order(run)) == pytest.approx(1.5, rel=SUMS_SINGLE)


def test_a_pull_that_switches_once_is_no_sliding_one():
    """On for an eighth of the last part, as the sliding flow's pull is an eighth of lambda."""
    nothing = jnp.zeros((1, 1))
    flow = {"sliding_switches": nothing + 1 / 4, "sliding_pull": nothing + 1 / 8}
    others = {"error": nothing, "selective_error": nothing, "pull": nothing + 1 / 8, **flow}
    once, chatters = (
        refined.Refined(switches=nothing + share, **others) for share in (1e-4, 1 / 4)
    )
    (claim,) = (c for c in refined.theorem.claims if "lambda_t" in c.name)
    assert claim.lhs(run_of(once)) < 0 < claim.lhs(run_of(chatters))


def test_roundings_of_losses_are_within_what_is_allowed(task, x):
    def root(kind):
        params, inputs, targets = jax.tree.map(
            lambda leaf: leaf.astype(kind), (task.params, *task.train)
        )
        return jnp.linalg.norm(digits.outputs(task.model, params, inputs) - targets)

    with jax.enable_x64(True):
        off = abs(float(root(jnp.float32)) - float(root(jnp.float64)))
    assert 0 < off < selective._rounding(x, task.train) < 1e-3


def test_runs_that_rounding_may_part_are_equal_and_no_others():
    x = instance(selective.theorem.space, steps=1000)
    may = selective.ROUNDING * x.steps
    free = jnp.full((1, 1, 1), 2.0)
    chosen = 2 * jnp.array([[[1 + may / 2, 1 - may / 2, 1 + 2 * may, 1 - 2 * may]]])
    found = np.asarray(selective._told_apart(x, chosen, free))[0, 0]
    np.testing.assert_array_equal(found, [2, 2, *chosen[0, 0, 2:]])


def test_the_linearised_model_is_pulled_by_the_first_scheme_alone():
    spectrum = table.Modes(jnp.array([2.0, 1.0]), jnp.eye(2), jnp.array([1.0, 1.0]))
    distances = jax.jit(selective._linear_distances, static_argnums=2)
    found = distances(spectrum, jnp.asarray(1e-3), 500)
    free = np.sqrt(np.sum((1 - (1 - 2e-3 * np.array([2.0, 1.0])) ** 500) ** 2 / [2.0, 1.0]))
    np.testing.assert_allclose(found[1:], free, rtol=SINGLE_RTOL)
    assert np.all(np.diff(found[0]) > 0) and found[0, -1] < free


def test_the_chance_of_discordant_pairs_is_that_of_all_orders():
    counts = order._orders_by_inversions()
    assert counts.sum() == 40320
    small = [
        sum(a > b for k, a in enumerate(p) for b in p[k + 1 :]) for p in permutations(range(5))
    ]
    expected = np.ones(1)
    for size in range(2, 6):
        expected = np.convolve(expected, np.ones(size))
    np.testing.assert_array_equal(np.bincount(small), expected)
    values, chance = np.arange(8.0, dtype=np.float32), jax.jit(order._chance)
    assert float(chance(values)) == pytest.approx(1 / 40320)
    assert float(chance(values[::-1])) == pytest.approx(1)
    assert float(jax.jit(order._discordant)(values[[1, 0, *range(2, 8)]])) == 1
