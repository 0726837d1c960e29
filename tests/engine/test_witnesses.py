"""Witnesses and missed probabilities of known truth, by statements that readers made to mislead."""

import jax
import jax.numpy as jnp
import pytest
from drawn import every_second, one_in

from tests.engine.statements import about, judged
from theorysim.claims import Choice, Real, Verdict, exists, with_probability


def gap(x):
    """Half a unit of 1 where double precision absorbs e^-x; in truth below 0."""
    return 1e8 * (jnp.exp(-x) / 2 - (1 - jax.nn.sigmoid(x)))


def zero(r):
    return 0.0


def uniform(x, key):
    return jax.random.uniform(key)


def absorbed_mean():
    """The mean is -0.1; each sample is 0 in double precision, and so is their spread."""
    claim = exists("claim", lambda r: r.mean(r.sim), lambda r: -0.05)
    draw = lambda x, key: (x.x + (-0.1 + jax.random.normal(key))) - x.x  # noqa: E731
    return about(Choice(2.0**60), claim, draw, keys=64)


def absorbed_limit():
    """A path to -2000 that has come to -76 where it ends, and stands in double precision."""
    path = lambda x, key: (x.x - 2000 * (1 - 0.999 ** jnp.arange(40.0))) - x.x  # noqa: E731
    claim = exists("claim", lambda r: r.limit(r.sim), lambda r: -1000.0)
    return about(Choice(2.0**70), claim, path)


def absorbed_limits():
    """The same of a probability that is met."""

    def path(x, key):
        rises = (x.x + 2000 * (1 - 0.999 ** jnp.arange(40.0))) - x.x
        return rises + 0 * jax.random.uniform(key)

    claim = with_probability(
        "claim",
        lambda r: -r.limit(r.sim),
        lambda r: -1000.0 + 0 * r.sim[:, 0],
        at_least=lambda r: 0.9,
    )
    return about(Choice(2.0**70), claim, path, keys=64)


def one_point_fails():
    """The first point fails for certain, where it counts by less than rounding; chaos is open."""

    def chaos(r):
        step = lambda i, v: 3.9 * v * (1 - v)  # noqa: E731
        return 100.0 + jax.lax.fori_loop(0, 2500, step, 0.3 + 0 * r.x.x)

    claim = exists(
        "claim",
        lambda r: jnp.stack([-1.0, chaos(r)]),
        zero,
        where=lambda r: jnp.stack([-gap(r.x.x) - 1e-12, 1.0]),
    )
    return about(Real(38, 38.5), claim)


FALSE = {
    "mean": absorbed_mean(),
    "limit": absorbed_limit(),
    "limits": absorbed_limits(),
    "one point": one_point_fails(),
    "underflow": about(Real(800, 900), exists("claim", lambda r: -jnp.exp(-r.x.x), zero)),
    "underflow of squares": about(
        Real(30, 40), exists("claim", lambda r: -jnp.exp(-(r.x.x**2)), zero)
    ),
}


@pytest.mark.parametrize("name", one_in(6, FALSE, first=4))
def test_what_is_false_is_not_told(name):
    assert judged(FALSE[name]).verdict is Verdict.INCONCLUSIVE


def beyond_four():
    """Six of 64 draws have the property, and 58 seem to have more of it."""
    claim = exists("claim", lambda r: jnp.where(r.x.x > 38.105, 1e-9, gap(r.x.x)), zero)
    return about(Choice(*[38.0 + i / 100 for i in range(12)]), claim)


def no_longer_the_worst():
    """Met with a chance of 0.2, and of 0.1 where rounding decides."""

    def lhs(r):
        absorbed = jnp.where(r.sim < 0.2, gap(r.x.x), 1.0)
        return jnp.where(r.sim < 0.1, -1.0, absorbed)

    claim = with_probability("claim", lhs, lambda r: 0 * r.sim, at_least=lambda r: 0.9)
    return about(Real(38, 38.5), claim, uniform, keys=64)


def by_some_units(r):
    """Exact in double precision."""
    return r.x.x + 2.0**-49


TRUE = {
    "beyond four": (beyond_four(), Verdict.HOLDS),
    "no longer the worst": (no_longer_the_worst(), Verdict.VIOLATED),
    "some units": (
        about(Choice(1.0, 2.0), exists("claim", by_some_units, lambda r: r.x.x, strict=True)),
        Verdict.HOLDS,
    ),
    "by chance some units": (
        about(
            Choice(1.0, 2.0),
            with_probability(
                "claim",
                lambda r: by_some_units(r) + 0 * r.sim,
                lambda r: r.x.x,
                at_least=lambda r: 0.9,
            ),
            uniform,
            keys=64,
        ),
        Verdict.VIOLATED,
    ),
}


@pytest.mark.parametrize("name", every_second(TRUE))
def test_what_is_true_is_told_and_stands_alone(name):
    statement, verdict = TRUE[name]
    told = judged(statement)
    assert told.verdict is verdict
    alone = judged(statement, instance=told.worst_instance)
    assert (alone.verdict, alone.lhs, alone.rhs) == (verdict, told.lhs, told.rhs)


def test_a_tie_is_not_told_with_many_bits():
    """The cosine of 1e-9 is below 1, by less than formulas are made for."""
    tie = about(Real(1e-9, 1e-8), exists("claim", lambda r: jnp.cos(r.x.x), lambda r: 1.0))
    assert "bits" not in judged(tie).confirmation
