"""Conditions, constants and draws that rounding alone makes or breaks.

Statements of known truth, which a reader made to mislead.
"""

from dataclasses import replace
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from drawn import one_in, thorough

from tests.engine import statements
from tests.engine.rounding import (
    ABSORBING,
    is_nothing,
    number,
    of_two_vectors,
    of_unit_vector,
    seems,
    uniform,
    without_enclosure,
    zero,
)
from tests.engine.statements import about, verdicts_of
from theorysim.claims import (
    Choice,
    Integer,
    Real,
    Size,
    Space,
    Theorem,
    Verdict,
    at_least,
    at_most,
    exists,
    on_average,
    strict,
    with_probability,
)

judged = partial(statements.judged, instances=64)


verdicts = partial(verdicts_of, instances=64)


RUNGS = {"n": (8, 16, 32, 64)}


CONDITIONS = {
    "between narrow ends": lambda r: jnp.where(is_nothing(r.x) > 0, 1e-40, -1e-40),
    "by next to nothing": lambda r: is_nothing(r.x) - 1e-250,
    "by what Python computed": lambda r: (
        1e-40 * (0.5 - jnp.floor(jnp.asarray((1 / 49) * 49))) + 0 * r.x.x
    ),
    "strict": strict(lambda r: is_nothing(r.x)),
    "absorbed": lambda r: 1e-20 * (seems(r.x.x + 37) - 1e-12) + without_enclosure(r.x.x),
}


@pytest.mark.parametrize("name", one_in(5, CONDITIONS, first=4))
def test_a_claim_says_nothing_where_its_condition_is_met_by_rounding(name):
    place = CONDITIONS[name]
    below = at_most("below", number, zero, where=place)
    positive = exists("positive", number, zero, strict=True, where=place)
    both = replace(about(Real(1, 1.5), below), claims=(below, positive))
    assert verdicts(both) == 2 * [Verdict.INCONCLUSIVE]


def test_points_where_a_condition_is_an_equality_count():
    """Of a witness at all its points, and of a true one."""
    field, place = Real(35.8, 36.2), lambda r: is_nothing(r.x)
    both = exists(
        "claim",
        lambda r: jnp.stack([r.x.x, -r.x.x]),
        zero,
        where=lambda r: jnp.stack([1.0, place(r)]),
    )
    assert judged(about(Real(1, 2), both)).verdict is Verdict.INCONCLUSIVE
    large = lambda r: 1e16 * (1 - jax.nn.sigmoid(r.x.x)) - 1  # noqa: E731
    found = judged(about(field, exists("claim", large, zero, strict=True, where=place)))
    assert found.verdict is Verdict.HOLDS and "bits" in found.confirmation
    seldom = with_probability(
        "claim",
        lambda r: large(r) + 0 * r.sim,
        lambda r: 0 * r.sim,
        at_least=lambda r: 0.5,
        where=lambda r: place(r) + 0 * r.sim,
    )
    assert judged(about(field, seldom, uniform, keys=64)).verdict is Verdict.VIOLATED


def of_rank_two(x):
    return jnp.outer(x.v, x.w) + jnp.outer(x.w, x.v)


SINGULAR = {
    "determinant": lambda x: jnp.abs(jnp.linalg.det(of_rank_two(x))),
    "diagonal": lambda x: jnp.min(jnp.abs(jnp.diagonal(jnp.linalg.qr(of_rank_two(x))[1]))),
    "singular value": lambda x: jnp.linalg.svd(jnp.outer(x.v, x.v), compute_uv=False)[1],
}


@pytest.mark.parametrize("how", ["hypothesis", thorough("condition")])
@pytest.mark.parametrize("name", one_in(4, SINGULAR, first=2))
def test_what_is_positive_by_rounding_is_not_positive(name, how):
    """It is 0 in truth, and never negative, however it is rounded."""
    positive = strict(SINGULAR[name])
    claims = tuple(kind(kind.__name__, lambda r: 1.0, zero) for kind in (at_most, exists))
    if how == "condition":
        claims = tuple(replace(claim, where=strict(lambda r: positive(r.x))) for claim in claims)
    statement = of_two_vectors(claims[0], {"h": positive} if how == "hypothesis" else {})
    assert verdicts(replace(statement, claims=claims)) == 2 * [Verdict.INCONCLUSIVE]


FEW = {"a": Choice(0.1, 0.3, 0.5, 0.7), "b": Choice(0.1, 0.2)}


@pytest.mark.parametrize("how", ["hypothesis", *map(thorough, ("condition", "average"))])
def test_draws_that_are_alike_hide_no_other(how):
    """a + b <= .45 for a + b < .8: the worst is .7 + .1, by rounding, and .7 and .6 violate it."""

    def bound(x):
        return 0.8 - (x.a + x.b)

    total = at_most("claim", lambda r: r.x.a + r.x.b, lambda r: 0.45)
    mean = on_average("claim", lambda r: r.sim * 0 + r.x.a + r.x.b, lambda r: r.sim + 0.2)
    there = replace(total, where=strict(lambda r: bound(r.x)))
    statement = Theorem(
        space=Space(**FEW),
        simulate=lambda x, key: jax.random.uniform(key) / 100,
        predict=lambda x: 0.0,
        claims=({"hypothesis": total, "condition": there, "average": mean}[how],),
        hypotheses={} if how == "condition" else {"h": strict(bound)},
        mutants=(),
        id="tests/statement",
        title="a statement of known truth",
        keys=64 if how == "average" else 1,
    )
    assert judged(statement).verdict is Verdict.VIOLATED


def of_size(claim, n):
    return Theorem(
        space=Space(n=Size(n, low=5, high=200), x=Real(1, 2)),
        simulate=lambda x, key: x.x,
        predict=lambda x: x.x,
        claims=(claim,),
        mutants=(),
        id="tests/statement",
        title="a statement of known truth",
    )


def one(r):
    """floor(n / n), by way of 1 / n in Python: 0 for 49."""
    return jnp.floor(jnp.asarray((1 / r.x.n) * r.x.n)) + 0 * r.x.x


COMPUTED = {
    "floor": of_size(at_least("claim", one, lambda r: 0.5), 49),
    "a witness": of_size(exists("claim", lambda r: 0.5 - one(r), zero, strict=True), 49),
    "a condition": of_size(at_most("claim", number, zero, where=lambda r: 0.5 - one(r)), 49),
    "ceil": of_size(
        at_most(
            "claim", lambda r: jnp.ceil(jnp.asarray(0.07 * r.x.n)) * r.x.x, lambda r: 7.5 * r.x.x
        ),
        100,
    ),
    "a sum of NumPy": of_size(
        at_least(
            "claim",
            lambda r: 1e16 * (jnp.asarray(np.full(r.x.n, 1 / r.x.n).sum()) - 1) * r.x.x,
            lambda r: -0.1,
        ),
        6,
    ),
    "a grid of NumPy": about(
        Choice(10.0, 100.0),
        at_most(
            "claim",
            lambda r: jnp.sum(jnp.ceil(np.linspace(0, 1, 11) * r.x.x)),
            lambda r: 5.5 * r.x.x,
        ),
    ),
    "a root": about(
        Real(1, 2),
        at_most(
            "claim",
            lambda r: jnp.ceil(jnp.asarray(np.sqrt(2) ** 2)) * r.x.x,
            lambda r: 2.5 * r.x.x,
        ),
    ),
}


@pytest.mark.parametrize("name", one_in(6, COMPUTED))
def test_what_was_computed_before_tracing_may_err_by_some_units(name):
    assert judged(COMPUTED[name]).verdict is Verdict.INCONCLUSIVE


def test_a_condition_hides_no_other_point():
    """Of two points one counts by rounding alone; the other one violates its bound."""

    def place(r):
        return jnp.stack([seems(r.x.x) - 1e-12 + without_enclosure(r.x.x), 1.0])

    claim = at_most("claim", lambda r: jnp.stack([r.x.x, r.x.x]), zero, where=place)
    hidden = at_most("hidden", lambda r: jnp.stack([r.x.x, -r.x.x]), zero, where=place)
    both = replace(about(ABSORBING, claim), claims=(claim, hidden))
    assert verdicts(both) == [Verdict.VIOLATED, Verdict.INCONCLUSIVE]


def test_a_condition_that_is_an_equality_at_one_point_is_met():
    """1 - r^k is 0 at k = 0, however it is rounded."""

    def place(r):
        return jnp.min(r.x.x - r.x.x * 0.5 ** jnp.arange(4.0)) + without_enclosure(r.x.x)

    met = at_most("met", lambda r: jnp.stack([r.x.x, -r.x.x]), zero, where=place)
    never = at_most("never", number, zero, where=strict(place))
    both = replace(about(Real(1, 2), met), claims=(met, never))
    assert verdicts(both) == [Verdict.VIOLATED, Verdict.VACUOUS]


def test_large_matrices_are_not_factored_with_many_bits():
    """A spectrum of 120 took minutes."""
    places = jnp.arange(120)

    def largest(r):
        matrix = jnp.cos(r.x.x * (places[:, None] * places + 1.0))
        return jnp.linalg.eigvalsh(matrix + matrix.T)[-1]

    found = judged(about(Real(1, 2), exists("claim", largest, zero)), instances=4)
    assert found.verdict is Verdict.HOLDS and "bits" not in found.confirmation


@pytest.mark.parametrize(
    ("field", "large"),
    [
        (Choice(40.0), lambda x: 0.5 ** (2.0 ** (2.0**x))),
        (Choice(40.0), lambda x: (2.0 ** (2.0**x)).astype(int) * 0 + 1.0),
        (Integer(10**11, 10**12), lambda n: jnp.left_shift(jnp.asarray(1), n).astype(float)),
    ],
)
def test_numbers_that_no_memory_holds_end_nothing(field, large):
    found = judged(about(field, exists("claim", lambda r: large(r.x.x), lambda r: -1.0)))
    assert found.verdict in (Verdict.HOLDS, Verdict.INCONCLUSIVE)


def test_a_condition_that_is_an_equality_of_large_numbers_is_met():
    def place(r):
        return 1e5 * jnp.sum(r.x.v**2) - 1e5 * jnp.array([1.0, 0.5, 0.2])

    claim = at_most("claim", lambda r: r.x.x * jnp.array([1.0, -1.0, -1.0]), zero, where=place)
    assert judged(of_unit_vector(claim)).verdict is Verdict.VIOLATED
