"""The search of the falsifier reaches violations that are narrow, high up or hidden by others."""

import jax.numpy as jnp
import pytest
from drawn import thorough

from tests.engine.statements import BUDGET, attack, theorem
from theorysim.claims import (
    Gaussian,
    Integer,
    Mutant,
    Real,
    Size,
    Space,
    at_least,
    at_most,
)
from theorysim.engine.falsify.falsify import falsify


def test_a_narrow_violation_inside_is_found_by_refinement():
    """A bump of width 1e-3 beside its top: a share of 2e-3 of the interval."""

    def bump(r):
        return jnp.exp(-(((r.sim["a"] - 1.2345) / 1e-3) ** 2))

    found = attack(theorem(at_most("bump", bump, lambda r: 0.999)))
    assert found.refuted
    assert abs(found.instance["values"]["a"] - 1.2345) < 1e-3


@pytest.mark.parametrize("equal", ["path", thorough("product")])
def test_equal_sides_hide_no_narrow_violation(equal):
    """Neither where a path starts equal at every instance, nor where both sides are zero."""

    def bump(r):
        return jnp.exp(-(((r.sim["a"] - 1.2345) / 2e-4) ** 2))

    def beside(r, value):
        return jnp.stack([r.sim["a"], value + 0 * r.sim["a"]])

    path = at_most("path", lambda r: beside(r, bump(r)), lambda r: beside(r, 0.999))
    product = at_most("product", lambda r: r.sim["flat"] * bump(r), lambda r: 0.999 * r.sim["flat"])

    def flat(x, key):
        others = jnp.stack([x.c, x.d, x.e, x.f])
        return {"a": x.a, "flat": jnp.prod(others * (1 - others))}

    space = Space(n=Size(4), a=Real(1, 2), **{name: Real(0, 1) for name in "cdef"})
    statement = {
        "path": theorem(path),
        "product": theorem(product, space=space, simulate=flat),
    }[equal]
    found = attack(statement)
    assert found.refuted
    assert abs(found.instance["values"]["a"] - 1.2345) < 2e-4


def test_the_largest_ratio_is_kept_where_equal_sides_are_passed_over():
    """Equal at the corner alone, where the other entry is farther away than anywhere."""
    either = at_most(
        "either",
        lambda r: jnp.stack([r.sim["a"] * r.sim["b"], r.sim["a"]]),
        lambda r: jnp.stack([4.0 + 0 * r.sim["a"], 4 * r.sim["a"] ** 2]),
    )
    found = attack(theorem(either, simulate=lambda x, key: {"a": x.a, "b": x.b}))
    assert found.ratio == 1.0
    assert found.ratio_instance["values"] == {"a": 2.0, "b": 2.0}


def test_nan_is_no_counterexample():
    def undefined(r):
        return jnp.where(r.sim["a"] > 1.5, jnp.nan, 0.0)

    found = attack(theorem(at_most("a", undefined, lambda r: 1.0)))
    assert not found.refuted
    assert 0 < found.evaluations < BUDGET


def test_sizes_are_searched_smallest_first():
    statement = theorem(
        at_least("n", lambda r: r.x.b, lambda r: 1.5 + 0 * r.sim["v"][..., 0]),
        simulate=lambda x, key: {"v": x.v},
        predict=lambda x: {},
        mutant=Mutant("false"),
        space=Space(n=Size(64), v=Gaussian("n"), b=Real(1, 2), k=Integer(1, "n")),
    )
    found = attack(statement)
    assert found.refuted
    assert found.instance["sizes"] == {"n": 1}
    assert found.instance["values"]["b"] == 1.0
    assert found.instance["values"]["v"] == [0.0]


def test_gradient_ascent_climbs_where_chance_cannot():
    """A sum of forty coordinates near its corner: random points lie eleven deviations below."""
    space = Space(n=Size(40), v=Real(0, 1, shape="n"))
    statement = theorem(
        at_most("sum", lambda r: jnp.sum(r.sim["v"], axis=-1), lambda r: 0.995 * r.x.n),
        simulate=lambda x, key: {"v": jnp.sin(jnp.pi / 2 * x.v)},
        predict=lambda x: {},
        mutant=Mutant("false"),
        space=space,
    )
    assert attack(statement, settings={"n": 40}).refuted


def test_a_point_without_a_number_hides_no_other():
    """The claim has two points per instance; the first is nowhere defined."""

    def both(r):
        a = r.sim["a"]
        return jnp.stack([jnp.full_like(a, jnp.nan), a], axis=-1)

    found = attack(theorem(at_most("a", both, lambda r: 1.5)))
    assert found.refuted
    assert found.instance["values"]["a"] == 2.0
    survivor = attack(theorem(at_most("a", both, lambda r: 2.5)))
    assert survivor.ratio == pytest.approx(2.0 / 2.5)


def test_a_small_budget_leaves_points_for_the_interior():
    """Six fields have 729 corners and middles; half of the budget is for other points."""
    fields = {f"f{i}": Real(0, 1) for i in range(6)}

    def inside(r):
        values = jnp.stack([getattr(r.x, name) for name in fields])
        return jnp.max(jnp.abs(values - 0.25)) + 0 * r.sim["a"]

    statement = theorem(
        at_least("off the middle", inside, lambda r: 0.24),
        space=Space(a=Real(1, 2), **fields),
    )
    assert attack(statement, settings={"f5": 0.25, "f4": 0.25, "f3": 0.25}).refuted
    spent = falsify(statement, budget=300).attacks[0].evaluations
    assert spent <= 300
