"""A field that a user defines in a file of their own gets everything that ours have.

A simplex has the least that a field needs and an exact value; a positive definite matrix has
neither and ranges over no box, but its order is known.
"""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import find, given, settings

import theorysim
from theorysim.claims import (
    Field,
    InstanceError,
    Mutant,
    Size,
    Space,
    Theorem,
    UsageError,
    Verdict,
    at_least,
    at_most,
)
from theorysim.claims.fields import Interval, extent
from theorysim.enclosures import Outcome
from theorysim.testing import assert_holds, instances

EPS = float(np.finfo(np.float64).eps)


@dataclass(frozen=True)
class Simplex(Field):
    """Probabilities, uniform: the gaps between sorted coordinates."""

    length: str

    def shape(self, sizes):
        return (extent(self.length, sizes),)

    def count(self, sizes):
        return extent(self.length, sizes) - 1

    def decode(self, u, sizes):
        return jnp.diff(jnp.sort(u), prepend=0.0, append=1.0)

    def encode(self, value, sizes):
        return jnp.clip(jnp.cumsum(jnp.asarray(value))[:-1], 0, 1)

    def describe(self):
        return f"{self.length} probabilities that sum to one"

    def belongs(self, value, sizes):
        return bool(np.all(value >= 0) and abs(value.sum() - 1) <= 4 * value.size * EPS)

    def normalised(self, entries):
        return entries / np.sum(entries)


@dataclass(frozen=True)
class Box(Field):
    """Two numbers of [0, 1] whose sum is at most one: a box with an order of its own."""

    def shape(self, sizes):
        return (2,)

    def decode(self, u, sizes):
        return jnp.stack([u[0], u[1] * (1 - u[0])])

    def encode(self, value, sizes):
        rest = 1 - value[0]
        return jnp.stack([value[0], value[1] / jnp.where(rest > 0, rest, 1)])

    def describe(self):
        return "two numbers of [0, 1] that sum to one at most"

    def belongs(self, value, sizes):
        return bool(np.all(value >= 0) and value.sum() <= 1 + 4 * EPS)

    def box(self, sizes):
        return Interval(0.0, 1.0)

    def order(self, value):
        return (1 - jnp.sum(value))[None]


def statement(bound):
    """The squares of probabilities sum to `bound` at most: true for 1 alone."""
    return Theorem(
        space=Space(n=Size(3, high=8), p=Simplex("n")),
        simulate=lambda x, key: jnp.sum(x.p**2),
        predict=lambda x: 1 / x.n,
        claims=(
            at_most("purity", lambda r: r.sim, lambda r: bound),
            at_least("Cauchy and Schwarz", lambda r: r.sim, lambda r: r.theory),
        ),
        mutants=(Mutant("twice as mixed", predict=lambda x: 2 / x.n),),
        id="own/simplex",
    )


TRUE, FALSE = statement(1.0), statement(0.9)


def at(*p):
    return {"sizes": {"n": len(p)}, "values": {"p": list(p)}}


def test_it_is_verified():
    assert theorysim.verify(TRUE, instances=32).verdict is Verdict.HOLDS
    assert theorysim.verify(TRUE, instance=at(0.5, 0.25, 0.25)).verdict is Verdict.HOLDS
    with pytest.raises(InstanceError, match=r"p: expected n probabilities that sum to one, but"):
        theorysim.verify(TRUE, instance=at(0.5, 0.25, 0.5))


def test_its_counterexample_shrinks_to_a_corner():
    attacks = {a.claim: a for a in theorysim.falsify(FALSE, budget=512).attacks}
    assert attacks["purity"].refuted and not attacks["Cauchy and Schwarz"].refuted
    assert sorted(attacks["purity"].instance["values"]["p"])[-2:] == [0.0, 1.0]


def test_it_is_swept_and_drawn():
    p = [[0.5, 0.25, 0.25], [1.0, 0.0, 0.0]]
    found = theorysim.sweep(TRUE, {"p": p})
    np.testing.assert_allclose(found["purity.lhs"].values.ravel(), [0.375, 1.0], rtol=4 * EPS)
    drawn = theorysim.sweep(TRUE, {}, sizes={"n": [3, 5]}, seeds=8)
    assert np.all(drawn["purity.slack"] >= 0)
    with pytest.raises(InstanceError, match="p: expected n probabilities"):
        theorysim.sweep(TRUE, {"p": [[0.5, 0.25, 0.5]]})


def test_it_is_certified_at_an_instance_where_it_is_exact():
    """Three thirds in binary sum to one by luck of rounding only; the exact ones always do."""
    total = Theorem(
        space=TRUE.space,
        simulate=lambda x, key: jnp.abs(jnp.sum(x.p) - 1),
        claims=(at_most("total", lambda r: r.sim, lambda r: 1e-60),),
        id="own/total",
    )
    third = 1 / 3
    assert theorysim.certify(total, instance=at(third, third, 1 - 2 * third)).exit_code == 0
    report = theorysim.certify(FALSE, claim="purity", instance=at(1.0, 0.0, 0.0))
    assert report.outcome is Outcome.VIOLATED


def test_without_a_box_it_has_to_be_given():
    with pytest.raises(UsageError, match=r"p \(n probabilities.*has no box: give one value for it"):
        theorysim.certify(TRUE)
    report = theorysim.certify(TRUE, box={"p": [0.5, 0.25, 0.25]})
    assert report.outcome is Outcome.CERTIFIED


def test_a_box_of_ones_own_is_searched_within_its_order():
    def product(bound):
        return Theorem(
            space=Space(v=Box()),
            simulate=lambda x, key: x.v[0] * x.v[1],
            claims=(at_most("product", lambda r: r.sim, lambda r: bound),),
            id="own/product",
        )

    assert theorysim.certify(product(0.26)).outcome is Outcome.CERTIFIED
    report = theorysim.certify(product(0.24))
    assert report.outcome is Outcome.VIOLATED
    (certificate,) = report.certificates
    x, y = certificate.instance["values"]["v"]
    assert x + y <= 1 and x * y > 0.24
    assert theorysim.verify(product(0.24), instance=certificate.instance).exit_code == 3


def test_an_order_that_rounding_misses_is_refused():
    with pytest.raises(InstanceError, match=r"v \(two numbers.*\): its order is missed"):
        theorysim.certify(
            Theorem(
                space=Space(v=Box()),
                simulate=lambda x, key: x.v[0],
                claims=(at_most("first", lambda r: r.sim, lambda r: 1.0),),
                id="own/first",
            ),
            instance={"values": {"v": [0.5, 0.5 + EPS / 2]}},
        )


def test_it_is_drawn_by_hypothesis_and_shrinks():
    @settings(max_examples=15)
    @given(x=instances(TRUE))
    def holds(x):
        assert_holds(TRUE, x)

    holds()
    mixed = find(instances(TRUE), lambda x: max(x["values"]["p"]) < 1)
    assert sum(mixed["values"]["p"]) == 1
    assert set(np.array(mixed["values"]["p"]) * 64 % 1) == {0.0}


def test_simpler_values_come_from_coarse_points_of_the_cube():
    with jax.enable_x64(True):
        value = np.array([0.123, 0.456, 0.421])
        field = TRUE.space.fields["p"]
        found = list(field.simpler(value, {"n": 3}))
        fitting = [v.tolist() for v in found if field.belongs(v, {})]
    assert [0.0, 1.0, 0.0] in fitting and [0.0, 0.5, 0.5] in fitting
