"""Rank-one fine-tuning: descent in d dimensions, the flow of the overlap and the reduced chain."""

from functools import cache, partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from drawn import thorough
from scipy import stats

from theorysim.numerics import gaussian
from theorysim.systems import rank_one, rank_one_chain, rank_one_overlap
from validation.oracles import gaussian as gaussian_oracle
from validation.oracles import rank_one as oracle

pytestmark = pytest.mark.usefixtures("x64")

SIGNS = {
    2: ((1, 1), (1, -1)),
    3: ((1, 1, -1), (1, -1, -1)),
    4: ((1, 1, 1, -1), (1, 1, -1, 1)),
}
ACTIVATIONS = {
    "relu": gaussian.relu,
    "square": lambda: gaussian.hermite(2),
    "third": lambda: gaussian.hermite(3),
}


@partial(jax.jit, static_argnames=("k", "d", "orthonormal"))
def problem(k, d, scale=1.0, seed=0, orthonormal=False):
    """Unit features, signs c and c^, and a unit u orthogonal to the features."""
    parts = jax.random.split(jax.random.key(seed), 3)
    features = jax.vmap(rank_one.unit)(jax.random.normal(parts[0], (k, d)))
    if orthonormal:
        features = jnp.asarray(rank_one.orthonormal_features(k, d))
    readout = jnp.ones(k) if orthonormal else 1 + jax.random.uniform(parts[1], (k,))
    teacher, student = (jnp.asarray(signs, float) for signs in SIGNS[k])
    truth = rank_one.unit(rank_one.outside(features, jax.random.normal(parts[2], (d,))))
    return rank_one.from_signs(features, readout, teacher, student, scale), truth


@jax.jit
def start_at(setting, truth, overlap, seed=5):
    """A unit vector orthogonal to the features with a given overlap."""
    other = jax.random.normal(jax.random.key(seed), truth.shape)
    other = rank_one.unit(rank_one.outside(jnp.vstack([setting.features, truth]), other))
    return overlap * truth + jnp.sqrt(1 - overlap**2) * other


relu, absolute_value, hermite = map(
    cache, (gaussian.relu, gaussian.absolute_value, gaussian.hermite)
)
speed = jax.jit(rank_one_overlap.speed, static_argnums=1)
compiled_hitting_time = jax.jit(rank_one_overlap.hitting_time, static_argnums=1)


def hitting_time(setting, activation, start, end):
    return float(compiled_hitting_time(setting, activation, start, end))


def test_the_spherical_gradient_is_that_along_the_sphere_off_the_features():
    """Against central differences along an orthonormal basis of the directions that are left."""
    given, truth = problem(2, 6)
    here = truth + jax.jit(rank_one.outside)(given.features, np.arange(6.0))
    here = np.asarray(here / np.linalg.norm(here))

    @jax.jit
    def loss(direction):
        return jnp.sin(direction @ jnp.arange(1.0, 7.0)) + direction[0] ** 2

    kept = np.vstack([given.features, here])
    free = np.linalg.svd(kept)[2][3:]
    steps = 1e-6 * free  # differences err by their square, and by rounding over them: 1e-10
    slopes = [float(loss(here + step) - loss(here - step)) / 2e-6 for step in steps]
    found = jax.jit(partial(rank_one.spherical_gradient, loss))(given.features, here)
    np.testing.assert_allclose(found, np.array(slopes) @ free, atol=1e-8)
    np.testing.assert_allclose(kept @ found, 0, atol=100 * np.finfo(float).eps)


@pytest.mark.parametrize("name", ["relu", thorough("square"), "third"])
def test_a_run_is_the_loop_of_the_paper(name):
    setting, truth = problem(3, 6)
    start, key, steps = start_at(setting, truth, 0.2), jax.random.key(1), 40
    activation = ACTIVATIONS[name]().value
    run = jax.jit(partial(rank_one.train, setting, activation, truth, start, 0.02, steps))
    path = np.asarray(run(key)[0])
    samples = [
        np.asarray(jax.random.normal(jax.random.fold_in(key, k), (6,))) for k in range(steps)
    ]
    parts = [np.asarray(part) for part in setting]
    expected = oracle.sgd(*parts, np.asarray(truth), np.asarray(start), 0.02, samples, name)
    np.testing.assert_allclose(path @ np.asarray(truth), expected, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(path, axis=1), 1, atol=1e-14)
    np.testing.assert_allclose(path @ parts[0].T, 0, atol=1e-14)


@pytest.mark.parametrize(("name", "other"), [("relu", "relu"), thorough("third", "hermite_3")])
def test_the_speed_is_the_sum_over_pairs_of_neurons(name, other):
    setting, _ = problem(4, 7, scale=1.7)
    gram = np.asarray(rank_one.gram(setting))
    parts = [np.asarray(part) for part in setting[1:]]
    expected = oracle.speed(gram, *parts, -0.4, partial(gaussian_oracle.tangent, other))
    found = speed(setting, ACTIVATIONS[name](), jnp.asarray(-0.4))
    assert float(found) == pytest.approx(expected, rel=1e-10)


def test_the_speed_is_minus_the_slope_of_the_loss():
    setting, _ = problem(3, 7)
    for build in (relu, absolute_value, lambda: hermite(3)):
        loss = partial(rank_one_overlap.population_loss, setting, build())
        m = np.linspace(-0.9, 0.9, 5)
        slope = np.asarray(jax.jit(jax.vmap(jax.grad(loss)))(m))
        np.testing.assert_allclose(speed(setting, build(), m), -slope, rtol=1e-11)


def test_the_printed_series_agrees_within_the_truncation_it_names():
    setting, _ = problem(3, 7, scale=1.3)
    m = np.linspace(-1, 1, 9)
    for build, orders in (
        (lambda: hermite(3), 4),
        (absolute_value, 60),
        (relu, 60),
    ):
        closed = np.asarray(speed(setting, build(), m))
        series = partial(rank_one_overlap.speed_series, setting, build(), orders=orders)
        value, truncation = map(np.asarray, jax.jit(series)(m))
        assert np.all(np.abs(closed - value) <= truncation + 1e-13)
    assert np.max(truncation) > 1e-6  # ReLU


def test_hitting_times_in_closed_form_and_along_the_flow():
    setting, _ = problem(3, 7)
    linear, square = hermite(1), hermite(2)
    h = float(speed(setting, linear, jnp.asarray(0.0)))
    sign = np.sign(h)
    time = hitting_time(setting, linear, 0.1 * sign, 0.9 * sign)
    assert time == pytest.approx((np.arctanh(0.9) - np.arctanh(0.1)) / abs(h), rel=1e-12)
    start, end = 0.05, 1 - 1e-6
    same = setting._replace(student=setting.teacher)
    time = hitting_time(same, square, start, end)
    low, high = map(float, speed(same, square, np.array([0.0, 1.0])))
    alpha, beta = low, high - low

    def primitive(m):
        plain = -np.log1p(-m) / (2 * (alpha + beta)) + np.log1p(m) / (2 * (alpha - beta))
        return plain + beta / (beta**2 - alpha**2) * np.log(abs(alpha + beta * m))

    assert time == pytest.approx(primitive(end) - primitive(start), rel=1e-9)
    flow = jax.jit(partial(rank_one_overlap.overlap_flow, same, square))
    angles = np.asarray(flow(np.arctanh(start), np.array([0.0, time])))
    assert angles[-1] == pytest.approx(np.arctanh(end), rel=1e-9)
    assert hitting_time(setting, linear, 0.1 * sign, -0.5 * sign) == np.inf


def test_the_loss_is_that_of_both_networks():
    setting, truth = problem(3, 8, scale=1.5)
    rng = np.random.default_rng(0)
    direction, coefficients, x = (jnp.asarray(rng.standard_normal(n)) for n in (8, 3, 8))
    goal, own = (
        rank_one.network(jax.nn.relu, rank_one.neurons(setting, c, u), setting.readout, x)
        for c, u in ((setting.teacher, truth), (coefficients, direction))
    )
    sample_loss = jax.jit(rank_one.sample_loss, static_argnums=1)
    loss = sample_loss(setting, jax.nn.relu, truth, (direction, coefficients), x)
    assert float(loss) == pytest.approx(float((goal - own) ** 2), rel=1e-13)


def overlaps_of_both(name, k, d, steps, every, wrong_dimension=None, runs=2000):
    """|m| aside, overlaps of many runs in d dimensions and of the chain, at several times."""
    setting, truth = problem(k, d, scale=1.5)
    activation = ACTIVATIONS[name]().value
    start, rate = start_at(setting, truth, 0.3), 0.06

    def full(key):
        path, _ = rank_one.train(setting, activation, truth, start, rate, steps, key, every=every)
        return path @ truth

    def chain(key):
        begin = rank_one_chain.begin(rank_one_chain.reduce_features(setting), 0.3)
        dimension = d if wrong_dimension is None else wrong_dimension
        return rank_one_chain.run(
            rank_one_chain.reduce_features(setting), activation, begin, dimension, rate, steps, key,
            every=every,
        ).overlap  # fmt: skip

    keys = jax.random.split(jax.random.key(7), 2 * runs)
    return jax.jit(jax.vmap(full))(keys[:runs]), jax.jit(jax.vmap(chain))(keys[runs:])


@pytest.mark.thorough  # that of joint training stays
@pytest.mark.parametrize(
    ("name", "k", "d"),
    [("relu", 3, 8), ("third", 2, 5), ("square", 3, 5), ("relu", 4, 12)],
)
def test_the_chain_has_the_law_of_the_run(name, k, d):
    full, chain = map(np.asarray, overlaps_of_both(name, k, d, steps=30, every=10))
    for time in (1, 2, 3):
        assert stats.ks_2samp(full[:, time], chain[:, time]).pvalue > 1e-4


@pytest.mark.thorough  # what the comparison beside could see
def test_a_chain_of_another_dimension_has_another_law():
    both = overlaps_of_both("relu", 3, 8, steps=30, every=10, wrong_dimension=14)
    full, chain = map(np.asarray, both)
    assert stats.ks_2samp(full[:, -1], chain[:, -1]).pvalue < 1e-8


def test_joint_training_has_the_same_law_too():
    setting, truth = problem(3, 6, scale=1.5)
    start, rates = start_at(setting, truth, 0.3), (0.05, 0.05)
    small = rank_one_chain.reduce_features(setting)

    def full(key):
        path, coefficients = rank_one.train(
            setting, jax.nn.relu, truth, start, rates[0], 30, key,
            coefficient_rate=rates[1], every=30,
        )  # fmt: skip
        return path[-1] @ truth, coefficients[-1]

    def chain(key):
        begin = rank_one_chain.begin(small, 0.3)
        end = rank_one_chain.run(
            small, jax.nn.relu, begin, 6, rates[0], 30, key,
            coefficient_rate=rates[1], every=30,
        )  # fmt: skip
        return end.overlap[-1], end.student[-1]

    keys = jax.random.split(jax.random.key(2), 4000)
    one = jax.tree.map(np.asarray, jax.jit(jax.vmap(full))(keys[:2000]))
    two = jax.tree.map(np.asarray, jax.jit(jax.vmap(chain))(keys[2000:]))
    assert stats.ks_2samp(one[0], two[0]).pvalue > 1e-4
    for i in range(3):
        assert stats.ks_2samp(one[1][:, i], two[1][:, i]).pvalue > 1e-4
    assert np.std(two[1]) > 0.1


def test_the_limit_of_many_dimensions_and_its_plateau():
    setting, _ = problem(4, 8, orthonormal=True)
    activation = relu()
    np.testing.assert_allclose(
        speed(setting, activation, np.array([0.0, 1.0])), [0.400, 0.672], atol=5e-4
    )
    small = rank_one_chain.reduce_features(setting)
    flow = jax.jit(partial(rank_one_chain.high_dimensional_flow, small, activation, draws=50_000))(
        0.1, 0.05, np.array([0.0, 100.0, 400.0]), jax.random.key(1)
    )
    # Runs in 200 dimensions end at 0.0109; the first order in the rate alone gives 0.0104.
    assert 1 - float(flow[-1]) == pytest.approx(0.0109, rel=0.05)


@pytest.mark.thorough  # it enters the plateau beside it
def test_the_mean_square_pull_at_the_end():
    setting, _ = problem(4, 8, orthonormal=True)
    small = rank_one_chain.reduce_features(setting)
    pull = partial(rank_one_chain.mean_square_pull, small, relu().value, draws=40_000)
    noise = jax.jit(pull)(1.0, jax.random.key(0))
    assert float(noise) == pytest.approx(0.559, rel=0.03)


@pytest.mark.thorough  # long; the limit has its plateau beside it, the chain its law
def test_the_limit_tracks_the_mean_of_the_chain():
    setting, _ = problem(4, 8, orthonormal=True)
    small, activation, d, rate = rank_one_chain.reduce_features(setting), relu(), 500, 0.3
    runs, steps = 256, 16 * 500

    def path(key):
        begin = rank_one_chain.begin(small, 0.1)
        return rank_one_chain.run(
            small, activation.value, begin, d, rate / d, steps, key, every=2000
        ).overlap

    paths = jax.jit(jax.vmap(path))(jax.random.split(jax.random.key(3), runs))
    times = jnp.arange(steps // 2000 + 1) * 2000 / d
    flow = rank_one_chain.high_dimensional_flow(
        small, activation, 0.1, rate, times, jax.random.key(4)
    )
    error = 4 * jnp.std(paths, axis=0) / np.sqrt(runs) + 2 / d
    assert np.all(np.abs(jnp.mean(paths, axis=0) - flow) <= error)


@pytest.mark.thorough  # the chain of passages has none
def test_orthonormal_features_may_be_left_out():
    setting, _ = problem(3, 7, orthonormal=True)
    without = setting._replace(features=None)
    m = np.linspace(-0.9, 0.9, 5)
    np.testing.assert_array_equal(speed(without, relu(), m), speed(setting, relu(), m))

    @jax.jit
    def overlaps(given):
        begin = rank_one_chain.begin(given, 0.1)
        key = jax.random.key(0)
        return rank_one_chain.run(given, jax.nn.relu, begin, 20, 0.02, 10, key).overlap

    one, two = (
        overlaps(given)
        for given in (
            without,
            rank_one_chain.reduce_features(setting)._replace(features=jnp.eye(3)),
        )
    )
    np.testing.assert_allclose(one, two, rtol=1e-13)


def test_mistakes_are_named():
    setting, truth = problem(3, 7)
    rank_one.check(setting, truth)
    with pytest.raises(ValueError, match="u has length 2, needed 1: divide it by its length"):
        rank_one.train(setting, jax.nn.relu, 2 * truth, truth, 0.1, 1, jax.random.key(0))
    with pytest.raises(ValueError, match=r"k = 3 features leave no direction .* d = 3"):
        rank_one.check(setting._replace(features=setting.features[:, :3]), truth[:3])
    with pytest.raises(ValueError, match="feature 1 has length 2"):
        rank_one.check(setting._replace(features=setting.features.at[1].multiply(2)), truth)
    with pytest.raises(ValueError, match=r"u is not orthogonal .* rank_one.outside"):
        rank_one.check(setting, setting.features[0])
    with pytest.raises(ValueError, match="teacher coefficients must be"):
        rank_one.check(setting._replace(teacher=2 * setting.teacher), truth)
    with pytest.raises(ValueError, match="does not divide"):
        begin = rank_one_chain.begin(setting, 0.1)
        rank_one_chain.run(setting, jax.nn.relu, begin, 9, 0.1, 5, jax.random.key(0), every=2)


def test_separation_of_the_paper():
    ks = np.array([2, 7, 8, 10, 50, 100])
    np.testing.assert_allclose(
        jax.jit(rank_one.separation)(ks), [0.510, 0.264, 0.265, 0.272, 0.447, 0.540], atol=1e-3
    )
    features = jnp.asarray([[1.0, 0, 0], [0.6, 0.8, 0], [0, -1, 0]])
    assert float(rank_one.largest_cosine(features)) == pytest.approx(0.8)
