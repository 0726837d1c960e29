"""Averages over keys: of light tails they are judged, of heavy ones they have no error."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from drawn import thorough

from tests.engine.statements import theorem
from theorysim.claims import Real, Space, Theorem, Verdict, at_most, equal, scales_as
from theorysim.claims.evidence import heavy_tails
from theorysim.engine.confirm import fresh_keys
from theorysim.engine.measure.setup import Setup, parse_settings
from theorysim.engine.verify.verify import verify


def pareto(index):
    """Mean index / (index - 1); of infinite variance for an index of at most 2."""
    return lambda key: jax.random.pareto(key, index)


def ratio(key):
    return jnp.divide(*jax.random.normal(key, (2,)))


def lognormal(key):
    return jnp.exp(jax.random.normal(key) / 2)


SEEDS = [0, *map(thorough, (1, 2))]
HEAVY = [
    (pareto(1.2), 6.0),
    thorough(ratio, 0.0),
]
LIGHT = [
    (jax.random.normal, 0.0),
    thorough(jax.random.exponential, 1.0),
    thorough(lambda key: jax.random.normal(key) ** 2, 1.0),
    thorough(lognormal, np.exp(1 / 8)),
    thorough(lambda key: jnp.where(jax.random.uniform(key) < 0.3, 1.0, 0.0), 0.3),
]


def mean_is(truth, name="mean"):
    return equal(name, lambda r: r.mean(r.sim), lambda r: r.theory["a"] + 0.1 * truth)


def average(draw, truth, keys):
    """The mean of a law, which is shifted by the instance."""
    return theorem(
        mean_is(truth),
        simulate=lambda x, key: x.a + 0.1 * draw(key),
        keys=keys,
        instances=16,
    )


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("draw", "truth"), HEAVY)
def test_the_mean_of_heavy_tails_is_inconclusive_and_says_why(draw, truth, seed, keys=64):
    (claim,) = verify(average(draw, truth, keys), seed=seed).readings[0].claims
    assert claim.verdict is Verdict.INCONCLUSIVE
    assert "heavy tails" in claim.note


@pytest.mark.parametrize(("draw", "truth"), LIGHT)
def test_the_mean_of_light_tails_is_judged(draw, truth, keys=64):
    both = replace(average(draw, truth, keys), claims=(mean_is(truth), mean_is(truth + 2, "off")))
    true, off = verify(both).readings[0].claims
    assert (true.verdict, off.verdict) == (Verdict.HOLDS, Verdict.VIOLATED)


def test_a_ladder_of_means_of_heavy_tails_is_inconclusive_and_says_why():
    power = scales_as(
        "power", lambda r: r.mean(r.sim), over={"b": (1.0, 1.25, 1.5, 2.0)}, exponent=1
    )
    statement = theorem(power, simulate=lambda x, key: x.b * pareto(1.2)(key), keys=64)
    (claim,) = verify(statement).readings[0].claims
    assert claim.verdict is Verdict.INCONCLUSIVE
    assert "heavy tails" in claim.note


def test_no_samples_have_no_tails():
    assert not heavy_tails(np.zeros((8, 0)))
    assert not heavy_tails(np.zeros((8, 64)))


@pytest.mark.parametrize(("keys", "rows"), [(64, 16), thorough(64, 64), thorough(256, 16)])
def test_how_often_tails_are_taken_for_heavy_ones(keys, rows):
    """Over 200 draws of instances; a lognormal of sigma 1 has the heaviest of the light tails."""

    def rate(draw):
        rng = np.random.default_rng(0)

        def extremes():
            samples = draw(rng, (rows, keys))
            deviation = np.abs(samples - np.median(samples, axis=1, keepdims=True))
            unit = np.median(deviation, axis=1, keepdims=True)
            return -np.sort(-deviation / unit, axis=1)[:, :64]

        return np.mean([heavy_tails(extremes()) for _ in range(200)])

    assert rate(lambda rng, size: rng.pareto(1.2, size)) >= 0.99
    assert rate(lambda rng, size: rng.normal(size=size)) == 0
    assert rate(lambda rng, size: rng.exponential(size=size)) == 0
    assert rate(lambda rng, size: rng.normal(size=size) ** 2) == 0
    assert rate(lambda rng, size: np.exp(rng.normal(size=size))) <= 0.06


def event(height):
    """The mean of a height that an event of many chances brings, and a bound far above it."""
    drawn = lambda x, key: jax.random.uniform(key) < x.chance  # noqa: E731
    return Theorem(
        space=Space(chance=Real(0.003, 0.3, log=True)),
        simulate=lambda x, key: drawn(x, key) * height(jax.random.fold_in(key, 1)),
        claims=(at_most("mean", lambda r: r.mean(r.sim), lambda r: 10 * r.x.chance),),
        keys=256,
        instances=64,
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_rare_events_of_many_chances_have_no_heavy_tail_but_that_of_their_height(seed):
    assert verify(event(lambda key: 1.0), seed=seed).verdict is Verdict.HOLDS
    (claim,) = verify(event(pareto(1.2)), seed=seed).readings[0].claims
    assert claim.verdict is Verdict.INCONCLUSIVE
    assert "heavy tails" in claim.note


def test_a_rare_event_that_no_key_of_an_instance_met_refutes_no_mean():
    """Of 256 keys none meets an event of chance 0.01 at one of 13 instances, others tell of it."""
    rare = lambda key: 1.0 * jax.random.bernoulli(key, 0.01)  # noqa: E731
    statement = theorem(
        equal("mean", lambda r: r.mean(r.sim), lambda r: 0.01 * r.theory["a"]),
        simulate=lambda x, key: x.a * rare(key),
        keys=256,
        instances=16,
    )
    for seed in range(3):
        assert verify(statement, seed=seed).verdict is not Verdict.VIOLATED


def test_a_false_average_misses_with_fresh_keys_and_a_true_one_does_not():
    claims = (mean_is(2.0, "false"), mean_is(0.0, "true"))
    statement = replace(average(jax.random.normal, 0.0, 64), claims=claims)
    reading = statement.primary()
    setup = Setup(statement, (reading,), parse_settings(statement, {}), 0)
    with jax.enable_x64(True):
        x = statement.space.sample(jax.random.key(1), setup.settings.sizes)
        key = np.asarray(jax.random.key_data(jax.random.key(2)))
        found = fresh_keys.measured_again(setup, x, key, 8)
    missed = [fresh_keys.violated_by_each(claim, found[claim.name]) for claim in claims]
    assert missed == [True, False]


def test_an_average_that_misses_by_chance_refutes_nothing(monkeypatch):
    false = average(jax.random.normal, 2.0, 64)
    (claim,) = verify(false).readings[0].claims
    assert claim.verdict is Verdict.VIOLATED
    assert claim.note.endswith("with 8 sets of 1024 fresh keys")
    monkeypatch.setattr(fresh_keys, "violated_by_each", lambda *_: False)
    (claim,) = verify(false).readings[0].claims
    assert claim.verdict is Verdict.INCONCLUSIVE and "averages by chance" in claim.note
    assert claim.confirmation == ""
