"""Formulas that averages bias, and averages of runs that err or have rare and large values."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from drawn import every_second, one_in, thorough

from tests.engine.statements import about, attack, judged
from theorysim import verify
from theorysim.claims import Choice, Real, Space, Verdict, at_least, at_most, equal, on_average
from theorysim.claims.run import Run
from theorysim.engine.confirm import fresh_keys
from theorysim.engine.measure.batch import measure_all
from theorysim.engine.measure.declared import sides_with_errors
from theorysim.engine.measure.setup import Setup, parse_settings
from theorysim.errors import SizeError, UsageError

WIDE = Real(1, 2)


@pytest.fixture
def two_sets(monkeypatch):
    """What averages refute is looked at with two sets of 1024 fresh keys, and not with eight."""
    monkeypatch.setattr(fresh_keys, "FRESH_KEYS", 2048)


def noise(x, key):
    """Numbers that are 0 on average, a hundred of them."""
    return jax.random.normal(key, (100,))


def one_of_many(x, key):
    return jax.nn.one_hot(jax.random.randint(key, (), 0, 100), 100, dtype=float)


def uniform(x, key):
    return jax.random.uniform(key)


def norm(r):
    return jnp.linalg.norm(r.mean(r.sim))


def entropy(r):
    shares = r.mean(r.sim)
    return -jnp.sum(jax.scipy.special.xlogy(shares, shares))


BIASED = {
    "a norm of zero is at most .1": (at_most("claim", norm, lambda r: 0.1), noise),
    "and not at least .5": (at_least("claim", norm, lambda r: 0.5), noise),
    "an entropy is log 100": (at_least("claim", entropy, lambda r: 4.5), one_of_many),
    "roots of zeros are none": (
        at_most("claim", lambda r: jnp.mean(jnp.abs(r.mean(r.sim)) ** 0.5), lambda r: 0.02),
        noise,
    ),
}


@pytest.mark.parametrize("name", one_in(4, BIASED, first=3))
def test_what_the_bias_of_averages_makes_decides_nothing(name, two_sets):
    claim, simulate = BIASED[name]
    found = judged(about(WIDE, claim, simulate, keys=64, instances=4))
    assert found.verdict is Verdict.INCONCLUSIVE


@pytest.mark.parametrize(
    ("spread", "expected"), [(0.0, Verdict.INCONCLUSIVE), thorough(1e-3, Verdict.VIOLATED)]
)
def test_exact_violations_beside_noise_bar_that_the_others_hold(spread, expected):
    """The mean is x + 1 on two fifths of the space, known without an error or with a small one."""

    def simulate(x, key):
        noise = jax.random.normal(key)
        return jnp.where(x.x < 1.4, x.x + 1 + spread * noise, x.x - 20 + 10 * noise)

    claim = at_most("claim", lambda r: r.mean(r.sim), lambda r: r.x.x)
    found = judged(about(Real(1, 2), claim, simulate, keys=64, instances=64))
    assert found.verdict is expected
    assert (spread > 0) or "unless they err as others do" in found.note


def smallest_eigenvalue(r):
    return jnp.linalg.eigvalsh(r.mean(r.sim[:, :, None] * r.sim[:, None, :]))[0]


def about_covariance(dimension, bound):
    claim = at_least("claim", smallest_eigenvalue, lambda r: bound)
    draw = lambda x, key: jax.random.normal(key, (dimension,))  # noqa: E731
    return about(WIDE, claim, draw, keys=64, instances=4)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("dimension", "bound", "expected"),
    [thorough(60, 0.5, Verdict.INCONCLUSIVE), (4, 3.0, Verdict.VIOLATED)],
)
def test_a_covariance_in_many_dimensions_has_small_eigenvalues_by_chance(
    dimension, bound, expected
):
    """It is 1, and of 60 dimensions nearly 0 at 64 keys, whichever of them are left out."""
    found = judged(about_covariance(dimension, bound))
    assert found.verdict is expected
    assert (dimension == 4) or "or biased by few keys" in found.note


def test_what_many_keys_still_change_counts_as_bias():
    """Both sides are 2 apart at 1024 keys, and were 1 closer with fewer."""
    statement = about_covariance(4, 3.0)
    setup = Setup(statement, (statement.primary(),), parse_settings(statement, {}), 0)
    (claim,) = statement.primary().claims
    key = np.asarray(jax.random.key_data(jax.random.key(0)))
    with jax.enable_x64(True):
        several = replace(setup, theorem=replace(statement, keys=1024))
        x = statement.space.sample(jax.random.key(1), {})
        found = fresh_keys.measured_again(several, x, key, 2)["claim"]
    alike = replace(found.rows(np.arange(1)), bias=np.full(1, 1e-3))
    closer = replace(alike, lhs=np.asarray(alike.lhs) + 1)
    assert fresh_keys._exceeds_the_change(claim, alike, found)
    assert not fresh_keys._exceeds_the_change(claim, closer, found)
    assert fresh_keys._exceeds_the_change(claim, replace(closer, bias=np.zeros(1)), found)


@pytest.mark.thorough
@pytest.mark.parametrize(("dimension", "bound"), [thorough(60, 0.5), (4, 3.0)])
def test_a_search_asks_with_many_keys_as_well(dimension, bound):
    assert attack(about_covariance(dimension, bound), budget=4).refuted is (dimension == 4)


@pytest.mark.parametrize(("chance", "seed"), [(0.003, 2), thorough(0.001, 0)])
def test_an_event_that_no_key_met_refutes_no_mean(chance, seed):
    """A set of 64 keys misses an event of chance .003 in five cases of six."""
    happens = lambda r: r.mean(1.0 * (r.sim < chance))  # noqa: E731
    claim = at_least("claim", happens, lambda r: chance / 1.1)
    statement = about(WIDE, claim, uniform, keys=64, instances=4)
    assert verify(statement, seed=seed).verdict is Verdict.INCONCLUSIVE
    assert not attack(statement, budget=4, seed=seed).refuted


@pytest.mark.thorough
def test_a_mean_that_many_keys_refute_is_refuted():
    """The chance of the event is .3."""
    claim = at_least("claim", lambda r: r.mean(1.0 * (r.sim < 0.3)), lambda r: 0.8)
    statement = about(WIDE, claim, uniform, keys=64, instances=4)
    assert judged(statement).verdict is Verdict.VIOLATED
    assert attack(statement, budget=4).refuted


def normals(count):
    return lambda x, key: jax.random.normal(key, (count,))


# What few keys do not know, or hardly show, hides no violation.
PLAINLY_FALSE = {
    "a condition that some sets doubt": (
        at_most(
            "claim", lambda r: r.mean(r.sim), lambda r: 0.2, where=lambda r: r.mean(r.sim) - 0.22
        ),
        uniform,
    ),
    "a condition that most sets doubt": (
        at_most(
            "claim", lambda r: r.mean(r.sim), lambda r: -0.8, where=lambda r: r.mean(r.sim) + 0.9
        ),
        normals(10),
    ),
    "a quotient of nothing in some sets": (
        at_most(
            "claim",
            lambda r: r.mean(jnp.where(r.sim < 0.1, 5 + r.sim, 0)) / r.mean(1.0 * (r.sim < 0.1)),
            lambda r: 1.0,
        ),
        uniform,
    ),
    "points of keys in another shape": (
        at_most(
            "claim",
            lambda r: jnp.ravel(r.sim - r.mean(r.sim)),
            lambda r: 1.3 * jnp.ones(3 * r.keys),
        ),
        normals(3),
    ),
    "a mean that 64 keys tell from .6 once in many instances": (
        equal("claim", lambda r: r.mean(r.sim), lambda r: 0.6),
        uniform,
    ),
}


@pytest.mark.parametrize("name", one_in(5, PLAINLY_FALSE))
def test_what_few_keys_do_not_know_hides_no_violation(name, two_sets):
    claim, simulate = PLAINLY_FALSE[name]
    statement = about(WIDE, claim, simulate, keys=64, instances=16)
    assert judged(statement).verdict is Verdict.VIOLATED
    assert attack(statement, budget=64).refuted


def seldom_small(r):
    """1 in three runs of a thousand."""
    return 1.0 * (r.sim < 0.003)


# True ones that 64 keys seem to refute, whose averages are not the points themselves.
MADE_OF_RARE_EVENTS = {
    "a factor of every run": (
        at_least("claim", lambda r: (1 + r.sim) * r.mean(seldom_small(r)), lambda r: 0.0027),
        2,
    ),
    "an inverse": (
        at_most("claim", lambda r: 1 / (0.1 + r.mean(seldom_small(r)) / 0.003), lambda r: 2.0),
        0,
    ),
}


@pytest.mark.parametrize("name", every_second(MADE_OF_RARE_EVENTS))
def test_what_is_made_of_the_mean_of_a_rare_event_is_not_refuted_by_few_keys(name):
    claim, seed = MADE_OF_RARE_EVENTS[name]
    statement = about(WIDE, claim, uniform, keys=64, instances=4)
    assert verify(statement, seed=seed).verdict is Verdict.INCONCLUSIVE


@pytest.mark.thorough
@pytest.mark.parametrize("name", MADE_OF_RARE_EVENTS)
def test_nor_is_it_refuted_by_a_search(name):
    claim, seed = MADE_OF_RARE_EVENTS[name]
    statement = about(WIDE, claim, uniform, keys=64, instances=4)
    assert not attack(statement, budget=16, seed=seed).refuted


def about_a_path(times, chance):
    """At each of so many times an event of its own happens with this chance."""
    claim = at_least("claim", lambda r: r.mean(1.0 * (r.sim < chance)), lambda r: 0.9 * chance)
    draw = lambda x, key: jax.random.uniform(key, (times,))  # noqa: E731
    return about(WIDE, claim, draw, keys=64, instances=4)


@pytest.mark.parametrize(
    ("times", "chance"), [(15, 0.003), thorough(64, 0.0005), thorough(2000, 0.001)]
)
def test_a_path_of_rare_events_is_refuted_nowhere(times, chance):
    """At one of 64 times, or at half a one of 2000, no key of all sets meets the rarer events."""
    assert judged(about_a_path(times, chance)).verdict is Verdict.INCONCLUSIVE


@pytest.mark.thorough
@pytest.mark.parametrize(("times", "chance"), [(63, 0.003), (64, 0.0005), (2000, 0.001)])
def test_a_search_refutes_a_path_of_rare_events_nowhere(times, chance):
    assert not attack(about_a_path(times, chance), budget=4).refuted


def test_a_formula_that_needs_the_number_of_its_keys_is_told_where_to_find_it():
    claim = at_least("claim", lambda r: r.mean(r.sim.reshape(64, 1)), lambda r: 0.2)
    with pytest.raises(UsageError, match="with its 64 keys, but none with the 4 "):
        judged(about(WIDE, claim, uniform, keys=64, instances=4))
    claim = at_least("claim", lambda r: r.mean(r.sim.reshape(r.keys, 1)), lambda r: 0.2)
    assert judged(about(WIDE, claim, uniform, keys=64, instances=4)).verdict is Verdict.HOLDS


def test_the_axis_of_keys_must_be_the_first():
    claim = at_most("claim", lambda r: (r.sim - r.mean(r.sim)).T, lambda r: 2.0)
    with pytest.raises(UsageError, match=r"shape \(3, 64\) with its 64 keys, and \(3, 4\)"):
        judged(about(WIDE, claim, normals(3), keys=64, instances=4))


def test_keys_that_do_not_fit_confirm_nothing(monkeypatch):
    def measured(setup, *rest):
        if setup.theorem.keys > 64:
            raise SizeError("one instance needs about 8 GiB")
        return measure_all(setup, *rest)

    monkeypatch.setattr(fresh_keys, "measure_all", measured)
    claim = at_least("claim", smallest_eigenvalue, lambda r: 3.0)
    draw = lambda x, key: jax.random.normal(key, (4,))  # noqa: E731
    found = judged(about(WIDE, claim, draw, keys=64, instances=4))
    assert found.verdict is Verdict.INCONCLUSIVE and "do not fit into memory" in found.note


@pytest.mark.parametrize(("bound", "expected"), [(3.5, Verdict.HOLDS), (6.5, Verdict.VIOLATED)])
def test_a_norm_beyond_its_bias_is_judged(bound, expected, two_sets):
    """It is 5; the squares of 25 averages of noise are added to its own."""
    claim = at_least("claim", norm, lambda r: bound)
    ones = lambda x, key: 1 + jax.random.normal(key, (25,))  # noqa: E731
    found = judged(about(WIDE, claim, ones, keys=64, instances=4))
    assert found.verdict is expected


def test_the_bias_of_a_square_is_the_variance_of_the_mean():
    """Tukey's jackknife is exact there; each key is a batch."""
    with jax.enable_x64(True):
        samples = jax.random.normal(jax.random.key(0), (64,))
        claim = at_most("claim", lambda r: r.mean(r.sim) ** 2, lambda r: 0.0)
        run = Run(Space().sample(jax.random.key(0), {}), (), samples, keys=64)
        declared = sides_with_errors(claim, run)[2]
        assert declared.bias == pytest.approx(float(jnp.var(samples, ddof=1)) / 64)


def rare(r):
    """50 in one run of fifty: 1 on average."""
    return jnp.where(r.sim < 0.02, 50.0, 0.0) + 0.01 * r.sim


DRAWN = {
    "rare": (lambda r: 0.5, rare),
    "heavy": (lambda r: 8.0, lambda r: r.sim ** (-1 / 1.1)),
    "lognormal": (
        lambda r: 6.0,
        lambda r: jnp.exp(2 * jax.scipy.special.ndtri(r.sim)),
    ),
    "a limit": (
        lambda r: 0.0,
        lambda r: 1 - r.limit(1 - r.sim[:, None] * 0.5 ** jnp.arange(40.0)),
    ),
    "an average": (
        lambda r: 0.5 - 1e-9 + 1e-12 * r.sim,
        lambda r: r.mean(r.sim) + 0 * r.sim,
    ),
}


@pytest.mark.parametrize("seed", [0, thorough(1), thorough(2)])
@pytest.mark.parametrize("name", one_in(4, DRAWN))
def test_averages_of_what_errs_or_is_seldom_large_decide_nothing(name, seed):
    """The first three are true and the fourth is false, by nothing."""
    claim = on_average("claim", *DRAWN[name])
    found = judged(about(WIDE, claim, uniform, keys=64, instances=32), seed=seed)
    assert found.verdict is Verdict.INCONCLUSIVE


def seldom(r):
    """1 in one run of a thousand."""
    return jnp.where(r.sim < 0.001, 1.0, 0.0)


@pytest.mark.parametrize("seed", [0, thorough(1), thorough(2)])
@pytest.mark.parametrize(
    "claim",
    [
        on_average("claim", lambda r: 0.0005 + 0 * r.sim, seldom),
        thorough(on_average("claim", lambda r: 0.0005 + 1e-5 * r.sim, seldom)),
        thorough(at_least("claim", lambda r: r.mean(seldom(r) + 1e-4 * r.sim), lambda r: 0.0007)),
    ],
)
def test_what_other_instances_met_is_missed_whatever_noise_is_beside_it(claim, seed):
    found = judged(about(WIDE, claim, uniform, keys=64, instances=32), seed=seed)
    assert found.verdict is Verdict.INCONCLUSIVE


def test_runs_that_agree_hold_beside_others_that_do_not():
    """Where x is 2 all runs are cut off at 1."""
    cut = lambda r: jnp.minimum(jnp.where(r.x.x < 1.5, r.sim, 3.0), 1.0)  # noqa: E731
    claim = on_average("claim", cut, lambda r: 1.1 + 0 * r.sim)
    found = judged(about(Choice(1.0, 2.0), claim, uniform, keys=64, instances=8))
    assert found.verdict is Verdict.HOLDS


@pytest.mark.thorough
def test_the_contrary_is_tried_again_where_it_stands():
    """Of five runs at each of 16 instances; where x is 1 they are equal, which says nothing."""
    claim = on_average("claim", lambda r: 1 + (r.x.x - 1) * (9 + r.sim), lambda r: 1.0 + 0 * r.sim)
    statement = about(Choice(1.0, 1.5, 2.0), claim, uniform, keys=5, instances=16)
    assert judged(statement).verdict is Verdict.VIOLATED


def test_instances_in_doubt_hide_no_contrary():
    where = lambda r: r.x.x - 1 - r.mean(r.sim) + 0 * r.sim  # noqa: E731  above 0 from 1.5 on
    claim = on_average("claim", lambda r: r.sim, lambda r: 0 * r.sim, where=where)
    found = judged(about(Choice(1.5, 2.0), claim, uniform, keys=64, instances=8))
    assert found.verdict is Verdict.VIOLATED


def test_a_plain_contrary_comes_back_with_fresh_keys():
    claim = on_average("claim", lambda r: r.sim, lambda r: 0.3 + 0 * r.sim)
    found = judged(about(WIDE, claim, uniform, keys=64, instances=8))
    assert found.verdict is Verdict.VIOLATED
    assert found.note.endswith("with 8 sets of 1024 fresh keys")
