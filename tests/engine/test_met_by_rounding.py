"""Hypotheses, conditions and constants that rounding alone makes or breaks.

Statements of known truth, which a reader made to mislead.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.engine.rounding import (
    ABSORBING,
    beside_zero,
    is_nothing,
    number,
    of_unit_vector,
    seems,
    uniform,
    without_enclosure,
    zero,
)
from tests.engine.statements import about, judged
from theorysim.claims import (
    Choice,
    Integer,
    Orthogonal,
    Real,
    Size,
    Space,
    Theorem,
    UnitVector,
    Verdict,
    at_least,
    at_most,
    exists,
    on_average,
    scales_as,
    strict,
    with_probability,
)
from theorysim.errors import UsageError

RUNGS = {"n": (8, 16, 32, 64)}

HYPOTHESES = {
    "half": (Real(1, 2), strict(lambda x: jnp.where(x.x > 1.5, 1.0, is_nothing(x))), 1.5),
    "none": (Real(1, 2), strict(is_nothing), 2.0),
    "none, by its sign": (Real(1, 2), lambda x: jnp.sign(is_nothing(x)) - 0.5, 2.0),
    "none, between wide ends": (Real(1, 2), lambda x: jnp.where(is_nothing(x) > 0, 1.0, -1.0), 2.0),
    "none, by little": (Real(1, 2), lambda x: is_nothing(x) - 1e-20, 2.0),
    "none, by next to nothing": (Real(1, 2), lambda x: is_nothing(x) - 1e-250, 2.0),
    "none, by much": (Real(1, 2), lambda x: 1e250 * is_nothing(x) - 1, 2.0),
    "none, by what Python computed": (
        Real(1, 2),
        lambda x: 0.5 - jnp.floor(jnp.asarray((1 / 49) * 49)) + 0 * x.x,
        2.0,
    ),
    "half, without enclosures": (
        ABSORBING,
        lambda x: jnp.where(x.x > 38.4, 1.0, seems(x.x) - 1e-12 + without_enclosure(x.x)),
        38.4,
    ),
    "none, without enclosures": (
        ABSORBING,
        strict(lambda x: seems(x.x) + without_enclosure(x.x)),
        38.5,
    ),
    "none, without enclosures, of small size": (
        ABSORBING,
        lambda x: 1e-20 * (seems(x.x) - 1e-12) + without_enclosure(x.x),
        38.5,
    ),
}


@pytest.mark.parametrize("name", HYPOTHESES)
def test_a_hypothesis_that_is_met_by_rounding_is_not_met(name):
    """It is met above a number only, where the claims are true, and nothing exists below."""
    field, hypothesis, above = HYPOTHESES[name]
    seldom = with_probability(
        "claim",
        lambda r: r.sim,
        lambda r: jnp.where(r.x.x > above, 1.0, 0.0) + 0 * r.sim,
        at_least=lambda r: 0.5,
    )
    for claim in (
        at_least("claim", number, lambda r: above),
        exists("claim", lambda r: above - r.x.x, zero, strict=True),
        seldom,
    ):
        statement = about(
            field, claim, uniform, keys=64 if claim is seldom else 1, hypotheses={"h": hypothesis}
        )
        assert judged(statement).verdict is Verdict.INCONCLUSIVE


def test_averages_and_ladders_ask_for_hypotheses():
    """They are never met: nothing is averaged, and nothing grows."""
    never = {"h": strict(is_nothing)}
    above = on_average("claim", lambda r: r.sim, lambda r: 0 * r.sim)
    found = judged(about(Real(1, 2), above, uniform, keys=64, hypotheses=never))
    assert found.verdict is Verdict.INCONCLUSIVE and "more than rounding" in found.note
    for hypotheses, verdict in ((never, Verdict.INCONCLUSIVE), ({}, Verdict.VIOLATED)):
        growing = Theorem(
            space=Space(n=Size(8, low=4, high=512), x=Real(1, 2)),
            simulate=lambda x, key: x.x,
            predict=lambda x: x.x,
            claims=(scales_as("c", lambda r: r.x.x * r.x.n**2.0, over=RUNGS, exponent=1.0),),
            hypotheses=hypotheses,
            mutants=(),
            id="tests/statement",
            title="a statement of known truth",
        )
        assert judged(growing).verdict is verdict


def test_what_enters_nothing_makes_no_ties():
    """The hypothesis is missed by 1.5e-9, beside a number of 10^12."""
    missed = Theorem(
        space=Space(x=ABSORBING, k=Integer(10**12, 10**13)),
        simulate=uniform,
        predict=lambda x: x.x,
        claims=(at_most("claim", number, zero),),
        hypotheses={"h": lambda x: seems(x.x) - 1e-12 + without_enclosure(x.x)},
        mutants=(),
        id="tests/statement",
        title="a statement of known truth",
    )
    assert judged(missed).verdict is Verdict.INCONCLUSIVE


def test_a_hypothesis_without_entries_is_refused():
    empty = {"h": lambda x: jnp.zeros(0) * x.x}
    with pytest.raises(UsageError, match="the margin has no entries"):
        judged(about(Real(1, 2), at_most("claim", number, zero), hypotheses=empty))


CONDITIONS = {
    "between narrow ends": lambda r: jnp.where(is_nothing(r.x) > 0, 1e-40, -1e-40),
    "by next to nothing": lambda r: is_nothing(r.x) - 1e-250,
    "by what Python computed": lambda r: (
        1e-40 * (0.5 - jnp.floor(jnp.asarray((1 / 49) * 49))) + 0 * r.x.x
    ),
    "strict": strict(lambda r: is_nothing(r.x)),
    "absorbed": lambda r: 1e-20 * (seems(r.x.x + 37) - 1e-12) + without_enclosure(r.x.x),
}


@pytest.mark.parametrize("name", CONDITIONS)
def test_a_claim_says_nothing_where_its_condition_is_met_by_rounding(name):
    place = CONDITIONS[name]
    below = at_most("claim", number, zero, where=place)
    positive = exists("claim", number, zero, strict=True, where=place)
    for claim in (below, positive):
        assert judged(about(Real(1, 1.5), claim)).verdict is Verdict.INCONCLUSIVE


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


def test_hypotheses_that_are_met_stand_without_enclosures():
    met = {"h": strict(lambda x: x.x - 1 + without_enclosure(x.x))}
    found = judged(about(Real(1.5, 2), at_most("claim", number, zero), hypotheses=met))
    assert found.verdict is Verdict.VIOLATED


@pytest.mark.parametrize(
    ("field", "row"), [(UnitVector("n"), lambda v: v), (Orthogonal("n"), lambda q: q[0])]
)
def test_a_unit_vector_is_not_longer_than_one(field, row):
    """Its length is exactly one: a hypothesis that admits this is met, one above it is not."""

    def statement(hypothesis):
        return Theorem(
            space=Space(n=Size(4), v=field),
            simulate=lambda x, key: x.v,
            predict=lambda x: x.v,
            hypotheses={"length": hypothesis},
            claims=(at_least("claim", lambda r: row(r.x.v)[0], lambda r: 2.0),),
            mutants=(),
            id="tests/statement",
            title="a statement of known truth",
        )

    longer = lambda x: jnp.sum(row(x.v) ** 2) - 1  # noqa: E731
    assert judged(statement(strict(longer))).verdict is Verdict.INCONCLUSIVE
    almost = lambda x: longer(x) + 1e-12  # noqa: E731
    assert judged(statement(almost)).verdict is Verdict.VIOLATED


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


@pytest.mark.parametrize("name", COMPUTED)
def test_what_was_computed_before_tracing_may_err_by_some_units(name):
    assert judged(COMPUTED[name]).verdict is Verdict.INCONCLUSIVE


def test_a_condition_hides_no_other_point():
    """Of two points one counts by rounding alone; the other one violates its bound."""

    def place(r):
        return jnp.stack([seems(r.x.x) - 1e-12 + without_enclosure(r.x.x), 1.0])

    claim = at_most("claim", lambda r: jnp.stack([r.x.x, r.x.x]), zero, where=place)
    found = judged(about(ABSORBING, claim))
    assert found.verdict is Verdict.VIOLATED
    hidden = at_most("claim", lambda r: jnp.stack([r.x.x, -r.x.x]), zero, where=place)
    assert judged(about(ABSORBING, hidden)).verdict is Verdict.INCONCLUSIVE


def test_a_condition_that_is_an_equality_at_one_point_is_met():
    """1 - r^k is 0 at k = 0, however it is rounded."""

    def place(r):
        return jnp.min(r.x.x - r.x.x * 0.5 ** jnp.arange(4.0)) + without_enclosure(r.x.x)

    met = at_most("claim", lambda r: jnp.stack([r.x.x, -r.x.x]), zero, where=place)
    assert judged(about(Real(1, 2), met)).verdict is Verdict.VIOLATED
    never = at_most("claim", number, zero, where=strict(place))
    assert judged(about(Real(1, 2), never)).verdict is Verdict.VACUOUS


def test_large_matrices_are_not_factored_with_many_bits():
    """A spectrum of 120 took minutes."""
    places = jnp.arange(120)

    def largest(r):
        matrix = jnp.cos(r.x.x * (places[:, None] * places + 1.0))
        return jnp.linalg.eigvalsh(matrix + matrix.T)[-1]

    found = judged(about(Real(1, 2), exists("claim", largest, zero)))
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


def test_hypotheses_of_a_root_beside_zero():
    """Enclosures of a root at 0 are undefined: what is met by far is met, and rounding is not."""
    below = at_most("claim", number, zero)
    by_far = strict(lambda x: 0.1 - jnp.sqrt(jnp.abs(beside_zero(x))))
    assert judged(of_unit_vector(below, {"h": by_far})).verdict is Verdict.VIOLATED
    above = at_least("claim", number, lambda r: 38.4)

    def by_rounding(x):
        undefined = 0 * jnp.sqrt(jnp.abs(beside_zero(x)))
        return jnp.where(x.x > 38.4, 1.0, seems(x.x) - 1e-12) + undefined

    found = judged(of_unit_vector(above, {"h": by_rounding}))
    assert found.verdict is Verdict.INCONCLUSIVE


@pytest.mark.parametrize("field", [Real(100, 200), Real(1e6, 2e6)])
def test_a_hypothesis_that_is_an_equality_of_large_numbers_is_met(field):
    equality = {"h": lambda x: is_nothing(x) + without_enclosure(x.x)}
    below = at_most("claim", number, zero)
    assert judged(about(field, below, hypotheses=equality)).verdict is Verdict.VIOLATED


def test_a_condition_that_is_an_equality_of_large_numbers_is_met():
    def place(r):
        return 1e5 * jnp.sum(r.x.v**2) - 1e5 * jnp.array([1.0, 0.5, 0.2])

    claim = at_most("claim", lambda r: r.x.x * jnp.array([1.0, -1.0, -1.0]), zero, where=place)
    assert judged(of_unit_vector(claim)).verdict is Verdict.VIOLATED


def test_long_hypotheses_are_not_compiled_for_other_roundings():
    """Their programs took minutes."""

    def unrolled(x):
        end = x.x
        for _ in range(60):
            end = jnp.sin(end) + jnp.cos(end)
        return 10 - end + without_enclosure(x.x)

    below = at_most("claim", number, zero)
    found = judged(about(Real(1, 2), below, hypotheses={"h": strict(unrolled)}))
    assert found.verdict is Verdict.VIOLATED
    assert found.confirmation.endswith("its hypotheses in double precision")
