"""Assumption A.21 in numbers, and the runs that keep it: against mpmath and the paper's sizes."""

import jax
import jax.numpy as jnp
import mpmath as mp
import numpy as np
import pytest
from drawn import thorough

from theorysim.claims import Instance
from theorysim.theorems.overtraining import _assumption_a_21 as a_21
from theorysim.theorems.overtraining import _stages as stages
from theorysim.theorems.overtraining._batch_sizes import BATCH_CONSTANT
from theorysim.theorems.overtraining._stage_space import stage_space

pytestmark = pytest.mark.usefixtures("x64")

EPS = np.finfo(np.float64).eps

# Reference values printed with one decimal.
ONE_DECIMAL = 0.05


def example(pre, ft, rate=0.999 / 16) -> Instance:
    """The sizes for which the reference values were computed: lam_0 -> 0, epsilon at its bound."""
    values = {
        "scale": 1.0,
        "pre": np.array(pre),
        "ft": np.array(ft),
        "in_order": 1.0,
        "lam_0": 1e-12,
        "lam_share": 0.5,
        "rate_share": rate * 16,
        "slowness": 1.0,
        "accuracy_share": 1.0,
        "failure": 1e-6,
        "more_steps": 1.0,
        "closer_start": 0.0,
    }
    return Instance({k: jnp.asarray(v) for k, v in values.items()}, (("d", len(pre)),))


@pytest.mark.parametrize(
    ("pre", "ft", "rate", "sizes", "steps", "batch", "start"),
    [
        ((1, 0.5), (2, 1.5), 0.999 / 16, a_21.AS_LABELLED, 502, 712.5, -355.1),
        ((1,), (2,), 0.999 / 16, a_21.AS_LABELLED, 240, 345.8, -171.7),
        ((1, 0.5), (2, 1.5), 0.999 / 16, a_21.AS_PRINTED, 32, 55.9, -26.7),
        ((1, 0.5), (2, 1.5), 6.25e-8, a_21.AS_PRINTED, 32, 11.2, -4.35),
    ],
)
def test_what_the_assumption_asks_for(pre, ft, rate, sizes, steps, batch, start):
    x = example(pre, ft, rate)
    assert int(sizes.steps(x)) == steps
    larger = 2 * np.log10(BATCH_CONSTANT / 4)  # the values are those of C_1 = 4
    assert float(sizes.log10_batch(x, steps)) == pytest.approx(batch + larger, abs=ONE_DECIMAL)
    reached = float(sizes.log_start(x, steps)) / np.log(10)
    assert reached == pytest.approx(start, abs=ONE_DECIMAL)


@pytest.fixture(scope="module")
def many():
    """Instances beside each other."""
    space = stage_space()
    with jax.enable_x64(True):
        keys = jax.random.split(jax.random.key(0), 400)
        return jax.jit(jax.vmap(lambda key: space.sample(key, space.default_sizes())))(keys)


@pytest.mark.parametrize(
    "sizes", [*map(thorough, (a_21.AS_PRINTED, a_21.AS_LABELLED)), a_21.CORRECTED]
)
def test_instances_fail_only_for_the_length_of_their_runs(sizes, many):
    @jax.jit
    @jax.vmap
    def told(x):
        margins = {name: margin(x) for name, margin in sizes.assumption().hypotheses.items()}
        return margins, sizes.needed_steps(x), sizes.steps(x)

    margins, needed, taken = jax.tree.map(np.asarray, told(many))
    long = needed > a_21.MOST_STEPS
    assert long.any() and not long.all()
    assert np.all(margins.pop("A.21.3, steps")[taken > 0] >= 0)
    assert np.all(taken[long] == 0)
    for name, margin in margins.items():
        assert np.all(margin[taken > 0] >= 0), name


def test_the_corrected_steps_are_the_same_in_all_units():
    x = example((1, 0.5), (2, 1.5))
    corrected = a_21.CORRECTED
    for unit in (1e-12, 1e2):
        again = float(corrected.needed_steps(x.replace(scale=jnp.asarray(unit))))
        assert again == pytest.approx(float(corrected.needed_steps(x)), rel=64 * EPS)


SPECTRUM = (0.8, 0.5, 0.2)


def exact_modes(tau: float) -> list[list[mp.mpf]]:
    """Modes at the stage times from sqrt(sigma_1) e^-tau, with more digits than e^(2 tau) has."""
    features = [mp.mpf(s) for s in SPECTRUM]
    following = [*features[1:], mp.mpf(0)]
    times = [3 * mp.mpf(tau) / (2 * (2 * a + b)) for a, b in zip(features, following)]
    begin = features[0] * mp.e ** (-2 * mp.mpf(tau))
    return [
        [mp.sqrt(s / (1 + mp.e ** (-4 * s * t) * (s / begin - 1))) for s in features]
        for t in [mp.mpf(0), *times]
    ]


@pytest.mark.parametrize("tau", [3.0, 40.0, 1500.0])
def test_real_starts(tau):
    # The exponents of the flow are of size tau: their rounding is the modes' relative error.
    rounding = 64 * EPS * tau
    with mp.workdps(2000):
        exact = exact_modes(tau)
        ideal = [[mp.sqrt(s) if i < n else 0 for i, s in enumerate(SPECTRUM)] for n in range(4)]
        far = [mp.sqrt(sum((a - b) ** 2 for a, b in zip(*z))) for z in zip(exact[1:], ideal[1:])]
        distance = float(mp.log(max(far)))
        expected = [[float(w) for w in stage] for stage in exact]
    spectrum = jnp.asarray(SPECTRUM)
    late = jnp.asarray(tau)
    found = stages.real_modes(spectrum, late)
    np.testing.assert_allclose(found, expected, rtol=rounding, atol=np.finfo(float).tiny)
    assert float(stages.log_start_distance(spectrum, late)) == pytest.approx(distance, rel=64 * EPS)


@pytest.mark.parametrize("log_distance", [-5.0, -60.0, -4000.0])
def test_tau_brings_the_start_close_enough_but_not_much_closer(log_distance):
    spectrum = jnp.asarray(SPECTRUM)
    tau = stages.closing_tau(spectrum, jnp.asarray(log_distance))
    reached = float(stages.log_start_distance(spectrum, tau))
    # The distance is that of the slowest mode times a factor between 1/2 and sqrt(d).
    assert log_distance - np.log(2 * np.sqrt(3)) <= reached <= log_distance


SETTINGS = (jnp.array([1.5, 0.9, 0.7]), jnp.asarray(0.3), jnp.asarray(0.02))


def test_diagonal_factors_move_as_full_matrices_do():
    start = stages.real_modes(jnp.asarray(SPECTRUM), jnp.asarray(3.0))[2]
    target, lam, rate = SETTINGS
    modes = jax.jit(stages.tuned)((start, start), start**2, target, lam, rate, 300)
    full = (jnp.diag(start), jnp.diag(start))
    batches = lambda k: jnp.eye(3)  # noqa: E731
    on_batches = jax.jit(stages.tuned_on_batches, static_argnums=6)
    matrices = on_batches(full, start**2, target, lam, rate, 300, batches)
    for mode, matrix in zip(modes, matrices):
        np.testing.assert_array_equal(matrix - jnp.diag(jnp.diag(matrix)), jnp.zeros((3, 3)))
        np.testing.assert_allclose(jnp.diag(matrix), mode, rtol=300 * EPS)


def test_a_path_passes_through_the_states_of_the_run():
    start = stages.real_modes(jnp.asarray(SPECTRUM), jnp.asarray(3.0))[1]

    def advance(weights, first, count):
        return stages.tuned(weights, start**2, *SETTINGS, count)

    kept = jax.jit(lambda: stages.path(advance, (start, start), jnp.asarray(101)))()
    alone_after = jax.jit(lambda count: advance((start, start), 0, count))
    assert kept[0].shape == (stages.SEGMENTS + 1, 3)
    for j in range(stages.SEGMENTS + 1):
        alone = alone_after(101 * j // stages.SEGMENTS)
        np.testing.assert_allclose(kept[0][j], alone[0], rtol=101 * EPS)
