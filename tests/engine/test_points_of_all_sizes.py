"""Paths whose numbers differ by many powers of ten: large ones hide nothing that small ones say."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from drawn import one_in, thorough

from tests.engine.statements import about, attack, judged, sides
from theorysim.claims import Real, Verdict, at_most, equal, increasing
from theorysim.numerics.flow import integrate

FIELD = Real(1, 2)
STEPS = np.arange(90.0)
POWERS = 2.0**STEPS
FEW_POWERS = 1000.0 ** np.arange(9)


def mean_of_noise(x, key):
    return x.x * FEW_POWERS * (1 + 0.01 * jax.random.normal(key, (9,)))


def half_at_first(path):
    """A bound that is half of what it should be on the first third of a path."""
    early = np.arange(len(path)) < len(path) // 3
    return path * np.where(early, 0.5, 1.5)


FALSE = {
    "bound": about(
        FIELD, at_most("bound", lambda r: r.x.x * POWERS, lambda r: r.x.x * half_at_first(POWERS))
    ),
    "one of three": about(
        FIELD,
        sides(
            equal,
            lambda x: x * jnp.array([1, 1e20, 1e20]),
            lambda x: x * jnp.array([2, 1e20, 1e20]),
        ),
    ),
    "a point that cancels": about(
        FIELD,
        sides(
            at_most,
            lambda x: jnp.append(x * POWERS, jnp.sqrt(x) ** 2 - x),
            lambda x: jnp.append(x * half_at_first(POWERS), 0.0),
        ),
    ),
    "a distribution": about(
        FIELD,
        sides(
            at_most,
            lambda x: jnp.append(x * POWERS, jnp.sum(jax.nn.softmax(x * STEPS[:5])) - 1),
            lambda x: jnp.append(x * half_at_first(POWERS), 0.0),
        ),
    ),
    "a step back": about(
        FIELD, increasing("rises", lambda r: r.x.x * POWERS * jnp.where(STEPS == 10, 0.01, 1))
    ),
    "means": about(
        FIELD,
        at_most("mean", lambda r: r.mean(r.sim), lambda r: r.x.x * half_at_first(FEW_POWERS)),
        mean_of_noise,
        keys=64,
    ),
}


@pytest.mark.parametrize("name", one_in(3, FALSE))
def test_what_is_false_of_small_points_is_violated(name):
    found = judged(FALSE[name])
    assert found.verdict is Verdict.VIOLATED
    assert found.lhs < 1e10


def test_what_cancels_tells_of_no_other_point():
    """Rounding alone parts it from 0 in some instances and not in others: all are violated."""
    found = judged(FALSE["a distribution"])
    assert found.note.startswith(f"{found.checked} of {found.checked} instances")


@pytest.mark.parametrize(
    "name", ["bound", "a point that cancels", *map(thorough, ("one of three", "means"))]
)
def test_what_is_false_of_small_points_falls(name):
    assert attack(FALSE[name], budget=1000).refuted


TRUE = {
    "a product": (equal, lambda x: jnp.cumprod(jnp.full(90, x)), lambda x: x ** (STEPS + 1)),
    "numbers that underflow": (
        at_most,
        lambda x: jnp.exp(-10 * x * STEPS),
        lambda x: 2 * jnp.exp(-5 * x * STEPS) ** 2,
    ),
    "a start at zero": (equal, lambda x: jnp.expm1(x * STEPS), lambda x: jnp.exp(x * STEPS) - 1),
}


@pytest.mark.parametrize("name", TRUE)
def test_what_is_true_of_all_points_holds(name):
    assert judged(about(FIELD, sides(*TRUE[name]))).verdict is Verdict.HOLDS


def test_points_that_are_absorbed_are_hidden_by_those_that_absorb_them():
    """1 - tanh is 0 from 19 on, with all that it should be: as many bits tell of each."""
    times = np.arange(40.0)

    def tails(factor):
        bound = lambda x: factor / (1 + jnp.exp(x * times))  # noqa: E731
        return about(FIELD, sides(at_most, lambda x: 1 - jnp.tanh(x * times / 2), bound))

    assert judged(tails(2.1)).verdict is Verdict.HOLDS
    assert judged(tails(jnp.where(times == 7, 1.0, 2.1))).verdict is Verdict.VIOLATED


@pytest.mark.thorough
def test_states_below_an_absolute_tolerance_are_no_counterexamples():
    """What it leaves is no part of them: logistic growth from 1e-12 errs by a fortieth at first."""
    times = np.linspace(0, 60, 31)

    def grown(x, key):
        def field(y, args):
            return x.x * y * (1 - y)

        start, at = jnp.asarray(1e-12, x.x.dtype), jnp.asarray(times)
        return integrate(field, start, at, tolerance_scale=x.tolerance_scale)

    claim = equal("curve", lambda r: r.sim, lambda r: 1 / (1 + 1e12 * jnp.exp(-r.x.x * times)))
    found = judged(about(FIELD, claim, grown, integrates=True), seed=1, instances=64)
    assert found.verdict is not Verdict.VIOLATED
