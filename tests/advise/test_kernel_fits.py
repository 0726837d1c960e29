"""Linearised models tuned to their end, against refits, closed forms and verified kernels."""

import jax.numpy as jnp
import numpy as np
import pytest
from closeness import LONG_SINGLE, STEPS_SINGLE

from theorysim.advise import kernel_fits as fits
from theorysim.advise.answer import Uncertain
from theorysim.advise.kernels import kernels
from theorysim.advise.paths import linear_path, real_path, steps_to
from theorysim.advise.problem import as_inputs, losses_of, problem, rank_correlation, slopes_of
from theorysim.advise.scores import moved, score
from theorysim.advise.subject import subject
from theorysim.systems import kernel_ridge
from theorysim.systems.linearized import train_linearized

RNG = np.random.default_rng(0)
N, K = 12, 3
FEATURES = RNG.normal(size=(N * K, 20))  # fewer than rows: a singular Gram
GRAM = FEATURES @ FEATURES.T
CLASSES = np.eye(K)[RNG.integers(0, K, N)]
START = RNG.normal(size=(N, K))
# Differences of double precision in small, well-scaled systems stay far below.
CLOSE = 1e-6


def without(i, count):
    rows = np.delete(np.arange(count * K).reshape(count, K), i, 0).ravel()
    return np.delete(np.arange(count), i), rows, np.arange(i * K, (i + 1) * K)


# Four landmarks of three outputs span twelve directions of twenty.
MANY = RNG.normal(size=(40 * K, 20))
AMONG = slice(0, 4 * K)
MANY_CLASSES, MANY_START = np.eye(K)[RNG.integers(0, K, 40)], RNG.normal(size=(40, K))


# Features, landmarks, start and targets: all are landmarks, or four examples of forty.
CASES = (
    (FEATURES, slice(0, N * K), START, CLASSES),
    (MANY, AMONG, MANY_START, MANY_CLASSES),
)


def spanned(features, landmarks):
    """Features in a basis of what the landmarks' features span."""
    basis = np.linalg.qr(features[landmarks].T)[0]
    return features @ basis, basis


@pytest.mark.parametrize("case", CASES)
def test_squared_fits_and_what_they_say_of_inputs_left_out(case):
    features, landmarks, start, targets = case
    tall = features @ features[landmarks].T
    inside, basis = spanned(features, landmarks)
    for fit in fits.fits(tall[landmarks], tall, start, targets, "squared"):
        eye = fit.sigma * np.eye(inside.shape[1])

        def ridge(rows, gap, eye=eye):
            return np.linalg.solve(rows.T @ rows + eye, rows.T @ gap.ravel())

        wanted = ridge(inside, targets - start)
        # Coefficients count as far as they move parameters: the Gram is singular.
        moved_by = features[landmarks].T @ fit.coefficients.ravel()
        np.testing.assert_allclose(moved_by, basis @ wanted, rtol=CLOSE, atol=CLOSE)
        change = (inside[landmarks] @ wanted).reshape(-1, K)
        np.testing.assert_allclose(fit.change, change, rtol=CLOSE, atol=CLOSE)
        for i in (0, 5):  # the landmarks stay when what they teach is left out
            kept, rows, own = without(i, len(targets))
            refit = start[i] + inside[own] @ ridge(inside[rows], (targets - start)[kept])
            np.testing.assert_allclose(fit.left_out[i], refit, rtol=STEPS_SINGLE, atol=STEPS_SINGLE)


def newton_step_without(i, features, outputs, targets, sigma, weights):
    """Slope and curvature of the objective without example i, summed example by example."""
    slope, curved = sigma * weights, sigma * np.eye(len(weights))
    for j in range(len(targets)):
        if j != i:
            rows = features[j * K : (j + 1) * K]
            chances = np.exp(outputs[j]) / np.exp(outputs[j]).sum()
            slope = slope + rows.T @ (chances - targets[j])
            curved = curved + rows.T @ (np.diag(chances) - np.outer(chances, chances)) @ rows
    return -np.linalg.solve(curved, slope)


@pytest.mark.parametrize("case", CASES)
def test_cross_entropy_fits_are_stationary_and_leave_out_nearly(case):
    features, landmarks, start, targets = case
    tall = features @ features[landmarks].T
    inside, basis = spanned(features, landmarks)
    found = fits.fits(tall[landmarks], tall, start, targets, "cross-entropy")
    for fit in found:
        weights = basis.T @ features[landmarks].T @ fit.coefficients.ravel()
        outputs = start + (inside @ weights).reshape(start.shape)
        slopes = slopes_of(outputs, targets, "cross-entropy").ravel()
        # The gradient in the parameters that the landmarks move vanishes.
        rest = inside.T @ slopes + fit.sigma * weights
        assert np.abs(rest).max() < CLOSE * np.abs(tall).max()
        for i in (0, 5):
            step = newton_step_without(i, inside, outputs, targets, fit.sigma, weights)
            told = outputs[i] + inside[i * K : (i + 1) * K] @ step
            np.testing.assert_allclose(fit.left_out[i], told, rtol=CLOSE, atol=CLOSE)
    strong = found[0]
    weights = basis.T @ features[landmarks].T @ strong.coefficients.ravel()
    outputs = start + (inside @ weights).reshape(start.shape)
    for i in (0, 5):
        kept, rows, own = without(i, len(targets))
        some = inside[rows].reshape(len(kept), K, -1)
        zero = np.zeros(inside.shape[1])
        again, _ = fits.cross_entropy(some, start[kept], targets[kept], strong.sigma, zero)
        refit = start[i] + inside[own] @ again
        moved_by = np.abs(strong.left_out[i] - outputs[i]).max()
        assert np.abs(strong.left_out[i] - refit).max() < 0.1 * moved_by


def test_the_pull_is_chosen_by_what_is_left_out():
    found = fits.fits(GRAM, GRAM, START, CLASSES, "squared")
    risks = [losses_of(fit.left_out, CLASSES, "squared").mean() for fit in found]
    assert fits.best(found, CLASSES, "squared") is found[int(np.argmin(risks))]
    assert max(risks) > min(risks)


def linear_problem(loss_targets, n=10):
    """Two groups of features; the model is linear in both."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(n + 6, 9))

    def model(params, row):
        return row[:4] @ params["a"]["w"] + row[4:] @ params["b"]["w"]

    params = {"a": {"w": jnp.zeros((4, 2))}, "b": {"w": jnp.ones((5, 2))}}
    inputs = as_inputs(x)
    found = subject(model, inputs, params)
    y = loss_targets(x)
    return problem(found, inputs[:n], y[:n], (x[n:], y[n:]))


def test_scores_are_those_of_the_verified_kernels(x64):
    # Six inputs with two outputs each: both groups together, but neither alone, fit everything.
    task = linear_problem(lambda x: np.stack([x[:, 0], x[:, 5]], 1), n=8)
    grams = kernels(task)
    one = score(task, grams, ("b",), ("a",))
    gap = jnp.asarray((task.train.targets - grams.start).ravel())
    before, added = (jnp.asarray(grams.own[group]) for group in ("b", "a"))
    sigma = one.window.sigma
    shifted = before + sigma * jnp.eye(len(before))
    expected = {
        "eta": kernel_ridge.relative_size(shifted, added),
        "condition": kernel_ridge.condition_number(before + added, sigma),
        "bound": kernel_ridge.risk_bounds(before + added, gap, sigma).upper,
        "fit": kernel_ridge.risk(before + added, gap, sigma) / jnp.sum(gap**2),
    }
    for name, value in expected.items():
        assert one.scores[name] == pytest.approx(float(value), rel=1e-5), name
    ratio = kernel_ridge.risk_ratio(before, added, gap, sigma)
    assert one.window.ratio == pytest.approx(float(ratio) ** 0.5, rel=1e-5)
    assert not one.window.invertible and np.isnan(one.window.exact_eta)


def test_a_linear_model_does_not_bend():
    task = linear_problem(lambda x: np.stack([x[:, 0], x[:, 5]], 1))
    found = moved(task, {"a": score(task, kernels(task), ("b",), ("a",))})
    assert found["a"].bend < 1e-3
    assert np.isfinite(found["a"].scores["one_step"])


@pytest.mark.parametrize("loss", ["squared", "cross-entropy"])
def test_a_linear_model_follows_its_predicted_path(loss):
    def targets(x):
        both = np.stack([x[:, 0], x[:, 5]], 1)
        return both if loss == "squared" else both.argmax(1)

    task = linear_problem(targets)
    pulls, rate, steps = [0.0, 0.5], 0.05, (1, 7, 40)
    predicted = linear_path(task, kernels(task), pulls, rate, steps).path
    real = real_path(task, pulls, rate, steps)
    for told, ran in zip(predicted[1:], real[1:]):
        np.testing.assert_allclose(told, ran, rtol=2 * LONG_SINGLE, atol=2 * LONG_SINGLE)
    if loss == "squared":  # R summed and half the strength there: n times the pull, 1/n the rate
        n = len(task.train)
        params, model = task.subject.params, task.subject.apply
        closed = train_linearized(
            model, params, task.train.inputs, jnp.asarray(task.train.targets, jnp.float32),
            steps, strength=n * pulls[1], learning_rate=rate / n,
        )  # fmt: skip
        np.testing.assert_allclose(predicted.training[1], closed.loss / n, rtol=LONG_SINGLE)
        np.testing.assert_allclose(predicted.distance[1], closed.distance, rtol=LONG_SINGLE)


def test_steps_until_a_level():
    # Two inputs, eigenvalues 1 and 1/4: the rate makes the second shrink by 3/4 a step.
    gram, start, targets = np.diag([1.0, 0.25]), np.zeros((2, 1)), np.array([[1.0], [1.0]])
    # After s steps the mean squared error is (3/4)^(2 s) / 2.
    assert steps_to(gram, start, targets, "squared", 1.0) == 0
    assert steps_to(gram, start, targets, "squared", 0.5) == 1
    assert steps_to(gram, start, targets, "squared", 0.75**8 / 2 * 1.001) == 4
    assert steps_to(gram, start, targets, "squared", 0.75**8 / 2 * 0.999) == 5
    flat = np.diag([1.0, 0.0])
    assert steps_to(flat, start, targets, "squared", 0.4) is None


def test_rank_correlations():
    assert rank_correlation([1, 2, 3], [10, 20, 30]) == 1
    assert rank_correlation([1, 2, 3], [3, 2, 1]) == -1
    assert rank_correlation([1, 1, 1], [3, 2, 1]) == 0
    # scipy.stats.spearmanr([1, 2, 2, 4], [1, 3, 2, 4]) by hand: ranks 1, 2.5, 2.5, 4.
    assert rank_correlation([1, 2, 2, 4], [1, 3, 2, 4]) == pytest.approx(0.9486832980505138)


def test_numbers_show_the_digits_that_their_error_leaves():
    assert str(Uncertain(0.12345, 0.0234)) == "0.123 ± 0.023"
    assert str(Uncertain(12.345, 2.2)) == "12.3 ± 2.2"
    assert str(Uncertain(0.5, 0.0)) == "0.5"


@pytest.mark.parametrize("parameters", [1, 3, 7])
def test_what_single_precision_makes_of_a_singular_gram_moves_nothing(parameters):
    """Against ridge regression in the parameters themselves, far fewer than the outputs."""
    rng = np.random.default_rng(parameters)
    rows, targets = rng.normal(size=(200, parameters)), 10 * rng.normal(size=(200, 1))
    gram = (rows @ rows.T).astype(np.float32).astype(float)
    for fit in fits.fits(gram, gram, np.zeros((200, 1)), targets, "squared"):
        shifted = rows.T @ rows + fit.sigma * np.eye(parameters)
        hat = rows @ np.linalg.solve(shifted, rows.T)
        moved, change = rows.T @ fit.coefficients, hat @ targets
        np.testing.assert_allclose(
            moved, np.linalg.solve(shifted, rows.T @ targets), rtol=STEPS_SINGLE
        )
        np.testing.assert_allclose(fit.change, change, atol=STEPS_SINGLE * np.abs(change).max())
        left = targets - (targets - change) / (1 - np.diag(hat)[:, None])
        np.testing.assert_allclose(fit.left_out, left, atol=STEPS_SINGLE * np.abs(targets).max())
