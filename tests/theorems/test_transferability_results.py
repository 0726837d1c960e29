"""What is made of runs on digits: judged claims, tables, nulls, and the starts of runs."""

from itertools import permutations
from types import SimpleNamespace
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from closeness import FEW_SINGLE, LONG_SINGLE, ONE_SINGLE, SUMS_SINGLE
from jaxtyping import Array, Float
from scipy.stats import spearmanr

from theorysim import claims
from theorysim.numerics import kernels
from theorysim.theorems.transferability import _digits as digits
from theorysim.theorems.transferability import _digits_deviation as deviation
from theorysim.theorems.transferability import _digits_section_6 as section_6
from theorysim.theorems.transferability import _digits_sources as sources
from theorysim.theorems.transferability import _digits_starts as starts
from theorysim.theorems.transferability import _table_1 as table
from theorysim.theorems.transferability import (
    figure_2,
    figure_4,
    figure_6,
    figure_9,
    table_1,
    table_1_printed,
)
from theorysim.theorems.transferability._digits_seen import seen

ENDLESS = 1e-2
"""what 100000 steps leave of the slowest mode"""
THREE_DIGITS, ONE_DECIMAL = 5e-4, 0.05
"""as the page of the paper rounds"""
OF_20000 = 0.01
"""three standard errors of shares of 20000 labels"""

KEY = jax.random.key(0)


class Height(NamedTuple):
    """One number of every run."""

    height: Float[Array, ""]


def test_a_null_without_runs_sees_other_results():
    low = claims.on_average("low", lambda r: r.sim.height, lambda r: 0.0)
    (null,) = seen((low,), lambda found: Height(-found.height))
    x = claims.Space().sample(KEY, {})
    run = claims.Run(x, None, Height(jnp.asarray([-1.0, -2.0])), 2)
    assert null.name == low.name
    assert list(np.asarray(null.lhs(run))) == [1, 2]
    assert list(np.asarray(low.lhs(run))) == [-1, -2]


@pytest.mark.thorough
def test_infinite_width_is_that_of_theorem_1_and_wide_networks_are_near_it():
    images = digits.drawn(KEY)
    source = section_6.task(images.images[:30], images.labels[:30] < 5)
    target = section_6.task(images.images[30:50], images.labels[30:50] < 5)
    np.testing.assert_allclose(np.linalg.norm(source.inputs, axis=1), 1, rtol=FEW_SINGLE)
    gram, cross, own = (
        np.asarray(kernels.tangent_gram(a.inputs, b.inputs), float)
        for a, b in ((source, source), (source, target), (target, target))
    )
    transferred = cross.T @ np.linalg.solve(gram, np.asarray(source.labels, float))
    rest = np.asarray(target.labels) - transferred

    def after(width, steps, key=KEY):
        return section_6.pretrained(section_6.untrained(key, width, source), source, steps)

    endless = section_6.mismatches(after(4, 100_000), target).predicted
    assert float(endless) == pytest.approx(np.sum(rest**2) / 20, rel=ENDLESS)
    far = section_6.distances(after(4, 100_000), target, 100_000, 100_000).predicted[-1]
    assert float(far) == pytest.approx(np.sqrt(rest @ np.linalg.solve(own, rest)), rel=ENDLESS)
    untouched = section_6.mismatches(after(4, 0), target)
    assert float(untouched.measured) == pytest.approx(1) == float(untouched.predicted)

    def gaps(width):
        """Root mean squares over networks."""

        def one(key):
            state = after(width, 60, key)
            mismatch = section_6.mismatches(state, target)
            distance = section_6.distances(state, target, 60, 60)
            apart = [both.measured - both.predicted for both in (mismatch, distance)]
            return jnp.stack([apart[0], apart[1][-1]])

        squares = jnp.square(jax.lax.map(one, jax.random.split(KEY, 6)))
        return np.sqrt(np.mean(squares, axis=0))

    assert np.all(gaps(4096) < gaps(64) / 2)  # the root of 64 is 8


def test_sums_of_squares_and_lines_are_those_of_least_squares():
    rng = np.random.default_rng(0)
    given, values = rng.normal(size=(2, 3, 7))
    for found, a, b in zip(table.proportional(given, values), given, values, strict=True):
        np.testing.assert_allclose(found, a * np.linalg.lstsq(a[:, None], b)[0], rtol=SUMS_SINGLE)
    expected = [np.corrcoef(a, b)[0, 1] for a, b in zip(given, values, strict=True)]
    np.testing.assert_allclose(table.correlation(given, values), expected, rtol=SUMS_SINGLE)
    np.testing.assert_allclose(
        section_6.about_the_mean(values), 7 * values.var(1), rtol=SUMS_SINGLE
    )


def test_the_printed_table_has_a_correlation_and_no_constant_ratio():
    """Of the two settings: what docs/papers/transferability.md says of Table 1."""
    errors, moved = (np.array(rows) for rows in (table.ERRORS, table.DEVIATIONS))
    exact = [np.corrcoef(a, b)[0, 1] for a, b in zip(errors, moved, strict=True)]
    np.testing.assert_allclose(table.correlation(errors, moved), exact, rtol=SUMS_SINGLE)
    np.testing.assert_allclose(exact, (0.937, 0.784), atol=THREE_DIGITS)
    ranks = [spearmanr(a, b).statistic for a, b in zip(errors, moved, strict=True)]
    np.testing.assert_allclose(ranks, (0.7, 0.8))
    ratios = moved / errors
    np.testing.assert_allclose(ratios.max(1) / ratios.min(1), (31.3, 18.5), atol=ONE_DECIMAL)
    chances = [table_1_printed._chance(a, b) for a, b in zip(errors, moved, strict=True)]
    as_large = [
        sum(np.corrcoef(a, order)[0, 1] > r - 1e-12 for order in permutations(b))
        for a, b, r in zip(errors, moved, exact, strict=True)
    ]
    assert as_large == [4, 8]
    np.testing.assert_allclose(chances, np.array(as_large) / 120, rtol=ONE_SINGLE)


def test_a_relaxation_converges_and_neither_a_line_nor_what_a_logarithm_is_late_does():
    steps = 50.0 * np.arange(deviation.PARTS + 1)
    late = np.log(np.maximum(steps, 1))
    several = jnp.array([1 - np.exp(-steps / 100), steps, late])
    run = SimpleNamespace(sim=SimpleNamespace(deviation=several))
    room = figure_2.CONVERGE.rhs(run) - figure_2.CONVERGE.lhs(run)
    assert room[0] > 0 > room[1]
    assert room[2] == pytest.approx(0, abs=LONG_SINGLE)


def test_the_worst_target_is_chosen_by_the_other_half_of_the_runs():
    errors = jnp.array([[[0.0, 0.9, 0.1]], [[0.0, 0.8, 0.3]], [[0.5, 0.2, 0.3]], [[0.5, 0.1, 0.4]]])
    run = SimpleNamespace(sim=SimpleNamespace(error=errors))
    found = table_1._of_extreme(run, jnp.argmax)
    np.testing.assert_allclose(found[:, 0], (0.0, 0.0, 0.2, 0.1))


def test_distances_among_points_are_means_over_the_others():
    points = jnp.array([[0.0, 0.0], [3.0, 4.0], [0.0, 8.0]])
    np.testing.assert_allclose(figure_4._among(points), (6.5, 5.0, 6.5))
    np.testing.assert_allclose(figure_4._apart(points, points[::-1]), (8, 0, 8))


def test_sources_differ_in_inputs_or_in_labels():
    found = jax.jit(lambda key: sources._sources(digits.part(digits.drawn(key), 0, 40), key))(KEY)
    images, labels = found.task
    for place in (sources.PARITY, sources.BRIGHTNESS, sources.SHUFFLED):
        np.testing.assert_array_equal(images[place], images[sources.SAME])
    for place in (sources.UPSIDE_DOWN, sources.PERMUTED):
        np.testing.assert_array_equal(labels[place], labels[sources.SAME])
        np.testing.assert_array_equal(found.is_positive[place], found.is_positive[sources.SAME])
    np.testing.assert_array_equal(labels[sources.PARITY], labels[sources.SAME] % 2)
    np.testing.assert_array_equal(np.sort(labels[sources.SHUFFLED]), np.sort(labels[sources.SAME]))


def test_checkpoints_are_those_of_the_ladder_and_wrong_labels_as_many_as_said():
    x = figure_9.theorem.space.sample(KEY, figure_9.theorem.space.default_sizes())
    assert list(figure_9.checkpoints(x)) == [0, 10, 30, 100, 300, 1000, 3000]
    labels = jnp.zeros(20_000, int)
    found = np.bincount(figure_9._with_noise(labels, 0.5, KEY), minlength=10) / 20_000
    np.testing.assert_allclose(found, [0.55] + [0.05] * 9, atol=OF_20000)


def test_the_best_checkpoint_is_chosen_by_the_other_half_of_the_runs():
    values = jnp.array([[0.0, 9.0, 1.0], [0.0, 8.0, 3.0], [0.0, 2.0, 3.0], [0.0, 1.0, 4.0]])
    np.testing.assert_array_equal(figure_9._best(values), (2, 2, 1, 1))
    np.testing.assert_array_equal(figure_9._at_best(values), (1, 3, 2, 1))


errors_of = jax.jit(jax.vmap(digits.error, (0, None)))


def drawn_starts(null, steps):
    x = figure_6.theorem.space.sample(KEY, figure_6.theorem.space.default_sizes())
    return starts.drawn(x, KEY, (32, 32), False, null, steps)


def test_starts_share_a_head_that_knows_nothing_and_the_last_keeps_its_own():
    found = drawn_starts(starts.Null(), 200)
    head = found.starts.weights[-1]
    assert np.array_equal(head[0], head[1]) and np.array_equal(head[0], head[2])
    assert not np.array_equal(head[2], head[3])
    np.testing.assert_array_equal(found.starts.weights[0][2], found.starts.weights[0][3])
    errors = errors_of(found.starts, found.test)
    assert np.all(np.asarray(errors[:3]) > 0.4) and errors[3] < 0.15  # by chance: 0.8
    both = np.concatenate([found.task.images, found.test.images])
    assert len(np.unique(both, axis=0)) == len(both)


@pytest.mark.thorough  # starts of which nothing is taken away stay
def test_nulls_of_starts_take_away_what_they_say():
    untrained = drawn_starts(starts.Null(), 0)
    for layer in untrained.starts.weights[:-1]:
        assert np.all(np.asarray(layer) == np.asarray(layer[0]))
    strangers = drawn_starts(starts.Null(is_pretrained=False), 200).starts.weights[0]
    assert np.array_equal(strangers[1], strangers[2])
    assert not np.array_equal(strangers[0], strangers[1])
    wrong = drawn_starts(starts.Null(has_labels=False), 200)
    errors = errors_of(wrong.starts, wrong.test)
    assert errors[3] > 0.6
    kinds = starts.of_both_kinds(
        lambda x, key, flag, null: jnp.asarray(flag), None, KEY, starts.Null(is_normalised=False)
    )
    assert list(np.asarray(kinds)) == [False, False]
