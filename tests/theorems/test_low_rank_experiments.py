"""The figures' online SGD, its chain and what is read off them, against independent truths."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from closeness import FEW_DOUBLE, FEW_SINGLE, SOLVED_DOUBLE, SUMS_DOUBLE
from drawn import thorough
from scipy import stats
from scipy.optimize import minimize

from theorysim.claims.run import Run
from theorysim.numerics.gaussian import relu
from theorysim.systems import rank_one
from theorysim.systems.rank_one_overlap import population_loss
from theorysim.theorems.low_rank import _curves as curves
from theorysim.theorems.low_rank import _online as online
from theorysim.theorems.low_rank import _orthogonal as orthogonal
from theorysim.theorems.low_rank import _relu_losses as relu_losses
from theorysim.theorems.low_rank import _span_chain as chain
from theorysim.theorems.low_rank import theorem_8_from_scratch as scratch

SAMPLED = 0.02
"""three standard errors of the sampled quadratic form"""

RELU = relu().value
K, D = 4, 9


@pytest.fixture(autouse=True)
def _in_double_precision():
    with jax.enable_x64(True):
        yield


@pytest.fixture
def task(_in_double_precision):
    return online.draw_task(K, D, 1.5, jax.random.key(0))


def start_of(task, orthogonal):
    return online.draw_student(task, jax.random.key(1), orthogonal=orthogonal)


def inside(task):
    """The task with a u of which half lies in the span of the features."""
    within, beyond = online.directions(task.features, jax.random.key(5))
    return task._replace(truth=0.5 * within + 0.75**0.5 * beyond)


def test_directions_are_in_the_span_and_outside(task):
    within, beyond = online.directions(task.features, jax.random.key(5))
    np.testing.assert_allclose(task.features @ beyond, 0, atol=FEW_DOUBLE)
    np.testing.assert_allclose(rank_one.outside(task.features, within), 0, atol=FEW_DOUBLE)
    np.testing.assert_allclose(task.features @ task.truth, 0, atol=FEW_DOUBLE)
    for vector in (within, beyond, task.teacher, *task.features):
        assert jnp.linalg.norm(vector) == pytest.approx(1)


@pytest.mark.parametrize("is_orthogonal", [True, thorough(False)])
def test_steps_are_those_of_the_loss_in_all_dimensions(task, is_orthogonal, monkeypatch):
    """Against the gradient of the catalogue's loss of one sample, three samples in a row."""
    monkeypatch.setattr(online, "BLOCK", 3)
    monkeypatch.setattr(online, "RECORDS", 1)
    student, rates = start_of(task, is_orthogonal), online.Rates(jnp.full(1, 0.1), jnp.full(1, 0.3))
    key = jax.random.key(2)
    found = online.train(
        task, RELU, student, rates, 3, key, orthogonal=is_orthogonal, record=lambda s: s
    )
    problem = rank_one.RankOne(
        task.features, task.readout, task.teacher, student.coefficients, task.scale
    )
    direction, coefficients = student
    for x in jax.random.normal(jax.random.fold_in(key, 0), (3, D)):
        slopes = jax.grad(lambda s, x=x: rank_one.sample_loss(problem, RELU, task.truth, s, x))(
            (direction, coefficients)
        )
        slope = rank_one.outside(task.features, slopes[0]) if is_orthogonal else slopes[0]
        slope = slope - direction * (direction @ slope)
        turn = slopes[1] - coefficients * (coefficients @ slopes[1])
        direction = rank_one.unit(direction - 0.1 * slope)
        coefficients = rank_one.unit(coefficients - 0.3 * turn)
    np.testing.assert_allclose(found.direction[1, 0], direction, rtol=SUMS_DOUBLE, atol=FEW_DOUBLE)
    np.testing.assert_allclose(
        found.coefficients[1, 0], coefficients, rtol=SUMS_DOUBLE, atol=FEW_DOUBLE
    )


def test_a_rate_of_zero_leaves_a_student_where_it_is(task):
    student = start_of(task, True)
    rates = online.Rates(jnp.array([0.0, 0.1]), jnp.zeros(2))
    found = online.train(
        task, RELU, student, rates, 50, jax.random.key(2), orthogonal=True, record=lambda s: s
    )
    np.testing.assert_allclose(found.direction[-1, 0], student.direction, atol=FEW_DOUBLE)
    np.testing.assert_allclose(found.coefficients[-1, 1], student.coefficients, atol=FEW_DOUBLE)
    assert abs(found.direction[-1, 1] @ student.direction) < 0.99


def ends(task, monkeypatch, others=None):
    """<u^, u> and <c^, c> after 30 steps in d dimensions and along the chain, 2000 runs each."""
    monkeypatch.setattr(online, "BLOCK", 30)
    monkeypatch.setattr(chain, "BLOCK", 30)
    monkeypatch.setattr(online, "RECORDS", 1)
    student, rates = start_of(task, False), online.Rates(jnp.full(1, 0.05), jnp.full(1, 0.05))
    reduced = chain.reduce(task)
    reduced = reduced if others is None else reduced._replace(others=others)

    def run(key):
        return online.train(
            task,
            RELU,
            student,
            rates,
            30,
            key,
            orthogonal=False,
            record=lambda s: jnp.stack([s.direction @ task.truth, s.coefficients @ task.teacher]),
        )[-1, 0]

    def walk(key):
        inner = reduced.task
        return chain.run(
            reduced,
            RELU,
            chain.begin(task, student),
            rates,
            30,
            key,
            record=lambda s: jnp.stack([s.inside @ inner.truth, s.coefficients @ inner.teacher]),
        )[-1, 0]

    first, second = (jax.random.split(jax.random.key(seed), 2000) for seed in (3, 4))
    return np.array(jax.jit(jax.vmap(run))(first)), np.array(jax.jit(jax.vmap(walk))(second))


def test_the_chain_has_the_law_of_the_runs_where_u_is_partly_in_the_span(task, monkeypatch):
    run, walk = ends(inside(task), monkeypatch)
    assert all(stats.ks_2samp(run[:, i], walk[:, i]).pvalue > 1e-3 for i in range(2))


@pytest.mark.thorough  # a u that is partly in the span has all parts of the chain
def test_the_chain_has_the_law_of_the_runs_and_another_dimension_has_another(task, monkeypatch):
    run, walk = ends(task, monkeypatch)
    assert all(stats.ks_2samp(run[:, i], walk[:, i]).pvalue > 1e-3 for i in range(2))
    _, walk = ends(task, monkeypatch, others=10 * D)
    assert stats.ks_2samp(run[:, 0], walk[:, 0]).pvalue < 1e-6


def test_the_linearised_student_is_the_first_order_of_the_student(task):
    moved = 1e-5 * jax.random.normal(jax.random.key(7), (K,))
    y = jax.random.normal(jax.random.key(8), (K,))

    def third(a):
        return a**3

    told, first = (f(task, third, y, moved) for f in (online.output, online.linearised))
    still = online.output(task, third, y, jnp.zeros(K))
    assert abs(told - first) < 1e-3 * abs(told - still)


def test_the_loss_in_closed_form(task):
    """Against the catalogue's for signs, and against samples for any c."""
    signs = rank_one.from_signs(
        task.features, task.readout, jnp.array([1.0, 1, -1, 1]), jnp.array([-1.0, 1, 1, 1]), 1.5
    )
    given = task._replace(teacher=signs.teacher)
    m = jnp.asarray(0.3)
    found = relu_losses.student_loss(given, m, signs.student)
    assert found == pytest.approx(float(population_loss(signs, relu(), m)), rel=SUMS_DOUBLE)
    student = start_of(task, True)
    samples = online.draw_samples(task, RELU, jax.random.key(9), 100_000, orthogonal=True)
    losses = online.losses(task, RELU, online.output, student, samples)
    told = relu_losses.student_loss(task, student.direction @ task.truth, student.coefficients)
    assert abs(told - losses.mean()) < 4 * losses.std() / 100_000**0.5


def test_the_floor_is_what_the_best_linearised_student_has(task):
    """Against SciPy on the second moments of samples; the linear form is exact in c^."""
    samples = online.draw_samples(task, RELU, jax.random.key(9), 200_000, orthogonal=True)
    along = samples.seen @ task.truth
    still = online.output(task, RELU, samples.inside, jnp.zeros((200_000, K)))
    slopes = jax.jit(
        jax.vmap(jax.jacfwd(lambda c, y, p: online.linearised(task, RELU, y, p * c)), (None, 0, 0))
    )(jnp.zeros(K), samples.inside, along)
    gap = samples.goal - still
    form, pull = (np.array(a) / 200_000 for a in (slopes.T @ slopes, slopes.T @ gap))

    def loss(c):
        c = c / np.linalg.norm(c)
        return c @ form @ c - 2 * pull @ c

    starts = np.random.default_rng(0).normal(size=(8, K))
    best = min(minimize(loss, start).fun for start in starts) + float(np.mean(gap**2))
    assert float(relu_losses.linearised_floor(task)) == pytest.approx(best, rel=SAMPLED)


def test_steps_are_read_off_a_curve():
    at = jnp.arange(5) * 10.0
    curve = jnp.array([[0.0, 0.5, 0.95, 0.5, 1.0], [0, 0, 0, 0, 0.5], [-0.95] * 5])
    # It stays above 0.9 from 4/5 of the last stretch on; it never does; it always did.
    np.testing.assert_allclose(curves.steps_until(curve, at), [38.0, 40.0, 1.0])
    np.testing.assert_array_equal(curves.first_record(curve, 0.5), [1, 4, 0])


def test_a_run_takes_the_rate_of_the_other_half():
    steps = jnp.array([[1.0, 100.0], [50.0, 10.0], [50.0, 20.0]])
    place = curves.best_rate(steps)
    np.testing.assert_array_equal(place, [1, 0, 0])
    np.testing.assert_array_equal(curves.at_rate(steps, place), [100.0, 50.0, 50.0])
    values = steps[..., None] * jnp.arange(3)
    np.testing.assert_array_equal(curves.at_rate(values, place)[:, 1], [100.0, 50.0, 50.0])


def test_the_sign_of_a_teacher_is_that_of_the_overlap():
    found = orthogonal.oriented(jnp.array([-0.5, 0.5]), jnp.array([-0.2, 0.2]))
    np.testing.assert_array_equal(found.overlap, [0.5, 0.5])
    np.testing.assert_array_equal(found.match, [0.2, 0.2])


def test_what_is_told_of_a_network_of_third_hermite_polynomials():
    """Exact by a product rule of six nodes, for rows of any length."""
    points, weights = np.polynomial.hermite_e.hermegauss(6)
    x = np.stack(np.meshgrid(*3 * [points], indexing="ij"), -1).reshape(-1, 3)
    share = np.einsum("i,j,k->ijk", *3 * [weights]).ravel() / weights.sum() ** 3
    teacher, student = np.random.default_rng(1).normal(size=(2, 2, 3)) * 0.7 + np.eye(2, 3)

    def output(rows):
        return scratch.THIRD.value(x @ rows.T).sum(1)

    gap = share @ (output(teacher) - output(student)) ** 2 / (share @ output(teacher) ** 2)
    found = float(scratch.told(scratch.THIRD, jnp.asarray(teacher), jnp.asarray(student)))
    assert found == pytest.approx(max(1 - gap, 0.0), abs=SUMS_DOUBLE)
    near = float(scratch.told(scratch.THIRD, jnp.asarray(teacher), jnp.asarray(1.02 * teacher)))
    close = share @ (output(teacher) - output(1.02 * teacher)) ** 2
    assert near == pytest.approx(1 - close / (share @ output(teacher) ** 2), rel=SOLVED_DOUBLE)
    assert scratch.told(scratch.THIRD, teacher, teacher) == pytest.approx(1)


def scratch_run(samples):
    """Five runs at one rate, of which training from scratch takes these samples."""
    space = scratch.theorem.space
    x = space.sample(jax.random.key(0), space.default_sizes())
    every = jnp.broadcast_to(jnp.asarray(samples, float)[:, None], (5, len(samples), 1))
    return Run(x, (), scratch.Learnt(jnp.ones_like(every), every, every))


def test_samples_from_scratch_grow_as_the_limit_where_nothing_is_learnt():
    """All steps are 40 d^2, of which 40 d^2, 40 d^2 / 2^(1/2) and 40 d^2 / 2 count."""
    d = np.array([16, 32, 64])
    run = scratch_run(40 * d**2)
    np.testing.assert_allclose(scratch._slope(run, scratch.SCRATCH), 1.5, rtol=SUMS_DOUBLE)
    np.testing.assert_array_equal(scratch._is_learnt(run), np.zeros((5, 3)))
    run = scratch_run(d**2)
    np.testing.assert_allclose(scratch._slope(run, scratch.SCRATCH), 2, rtol=SUMS_DOUBLE)
    np.testing.assert_array_equal(scratch._is_learnt(run), np.ones((5, 3)))


def test_the_teacher_of_theorem_8_is_orthonormal():

    @jax.jit
    def teacher():
        given, _ = scratch._problem(3, 16, jax.random.key(0))
        return scratch._rows(given, given.teacher, given.truth)

    rows = np.asarray(teacher())
    np.testing.assert_allclose(rows @ rows.T, np.eye(3), atol=FEW_SINGLE)
