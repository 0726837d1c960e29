"""Hypotheses that rounding alone makes or breaks.

Statements of known truth, which a reader made to mislead.
"""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import pytest
from drawn import one_in, thorough

from tests.engine.rounding import (
    ABSORBING,
    beside_zero,
    is_nothing,
    long,
    number,
    of_two_vectors,
    of_unit_vector,
    seems,
    uniform,
    without_enclosure,
    zero,
)
from tests.engine.statements import about, judged
from theorysim.claims import (
    Choice,
    Finding,
    Integer,
    Ordered,
    Orthogonal,
    Reading,
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
from theorysim.engine.verify.verify import verify
from theorysim.errors import UsageError

RUNGS = {"n": (8, 16, 32)}


HYPOTHESES = {
    "half": (Real(1, 2), strict(lambda x: jnp.where(x.x > 1.5, 1.0, is_nothing(x))), 1.5),
    "none": (Real(1, 2), strict(is_nothing), 2.0),
    "none, by its sign": (Real(1, 2), lambda x: jnp.sign(is_nothing(x)) - 0.5, 2.0),
    "none, between wide ends": (Real(1, 2), lambda x: jnp.where(is_nothing(x) > 0, 1.0, -1.0), 2.0),
    "none, by little": (Real(1, 2), lambda x: is_nothing(x) - 1e-20, 2.0),
    "none, between narrow ends": (
        Real(1, 2),
        lambda x: jnp.where(is_nothing(x) > 0, 1e-250, -1e-250),
        2.0,
    ),
    "none, by a long way to nothing": (
        Real(1, 2),
        strict(lambda x: is_nothing(x) * long(x.x)),
        2.0,
    ),
    "none, far beyond all bits": (
        Real(1400, 1410),
        lambda x: ((1 - jnp.exp(-x.x)) - 1) * jnp.exp(x.x / 2) * jnp.exp(x.x / 2),
        1410.0,
    ),
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


# With few bits and with many; the others of each kind are thorough.
DEFAULT = {"half", "none, without enclosures", "none, by a long way to nothing"}
assert DEFAULT <= set(HYPOTHESES)


@pytest.mark.parametrize(
    "name", [name if name in DEFAULT else thorough(name) for name in HYPOTHESES]
)
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


def test_a_violation_inside_counts_though_the_worst_are_outside():
    """Above 1.5, where the claim is missed by most, the hypothesis is met by rounding alone."""
    inside = strict(lambda x: jnp.where(x.x > 1.5, is_nothing(x), 1.0))
    claim = at_most("claim", number, lambda r: 0.5)
    found = judged(about(Real(1, 2), claim, uniform, hypotheses={"h": inside}), instances=64)
    assert found.verdict is Verdict.VIOLATED and found.lhs < 1.5


@pytest.mark.parametrize(
    ("field", "by_rounding"),
    [
        (Real(1, 2), strict(is_nothing)),
        (ABSORBING, strict(lambda x: seems(x.x) + without_enclosure(x.x))),
    ],
    ids=["with bits", "without enclosures"],
)
def test_hypotheses_of_one_name_are_told_apart(field, by_rounding):
    """One reading meets its own by rounding alone, the other for certain."""
    certain = Reading(
        "certain", Finding("x"), hypotheses={"h": lambda x: x.x + without_enclosure(x.x)}
    )
    claim = at_most("claim", number, lambda r: 0.5)
    given = {"h": by_rounding}
    statement = about(field, claim, uniform, hypotheses=given, readings=(certain,))
    found = [reading.claims[0].verdict for reading in verify(statement, instances=64).readings]
    assert found == [Verdict.INCONCLUSIVE, Verdict.VIOLATED]


@dataclass
class Least:
    """A margin without a hash."""

    least: float

    def __call__(self, x):
        return x.x - self.least


def test_a_margin_at_an_instance_needs_no_hash():
    claim = at_most("claim", number, lambda r: 0.5)
    statement = about(Real(1, 2), claim, uniform, hypotheses={"h": Least(0.5)})
    report = verify(statement, instance={"values": {"x": 1.5}})
    assert report.verdict is Verdict.VIOLATED


NEVER = {"h": strict(is_nothing)}


def test_nothing_is_averaged_where_hypotheses_are_never_met():
    above = on_average("claim", lambda r: r.sim, lambda r: 0 * r.sim)
    found = judged(about(Real(1, 2), above, uniform, keys=64, hypotheses=NEVER))
    assert found.verdict is Verdict.INCONCLUSIVE and "more than rounding" in found.note


@pytest.mark.parametrize(
    ("hypotheses", "verdict"),
    [
        (NEVER, Verdict.INCONCLUSIVE),
        (
            {"h": strict(lambda x: jnp.where(x.x > 1.5, 1.0, is_nothing(x)))},
            Verdict.VIOLATED,
        ),
        thorough({}, Verdict.VIOLATED),
    ],
    ids=["never", "seldom", "always"],
)
def test_nothing_grows_where_hypotheses_are_never_met(hypotheses, verdict):
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


@pytest.mark.thorough
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


EQUALITIES = {
    "beside one that has no enclosure": {
        "length": lambda x: jnp.sum(x.v**2) - 1,
        "by far": lambda x: jax.scipy.special.gammaln(3 + x.v[0]) + 5,
    },
    "a norm": {"h": lambda x: -jnp.linalg.norm(3 * x.v - x.v - 2 * x.v)},
    "without enclosures": {
        "h": lambda x: -jnp.abs(x.v[0] * 4 - 4 * x.v[0]) + without_enclosure(x.v[0])
    },
}


@pytest.mark.parametrize("name", one_in(3, EQUALITIES))
def test_hypotheses_that_are_equalities_are_met(name):
    claim = at_most("claim", lambda r: 1.0, zero)
    assert judged(of_two_vectors(claim, EQUALITIES[name])).verdict is Verdict.VIOLATED


def test_hypotheses_that_are_met_stand_without_enclosures():
    met = {"h": strict(lambda x: x.x - 1 + without_enclosure(x.x))}
    found = judged(about(Real(1.5, 2), at_most("claim", number, zero), hypotheses=met))
    assert found.verdict is Verdict.VIOLATED


@pytest.mark.parametrize(
    ("field", "row"), [(UnitVector("n"), lambda v: v), thorough(Orthogonal("n"), lambda q: q[0])]
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


@pytest.mark.thorough
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


@pytest.mark.parametrize("field", [Real(100, 200), thorough(Real(1e6, 2e6))])
def test_a_hypothesis_that_is_an_equality_of_large_numbers_is_met(field):
    equality = {"h": lambda x: is_nothing(x) + without_enclosure(x.x)}
    below = at_most("claim", number, zero)
    assert judged(about(field, below, hypotheses=equality)).verdict is Verdict.VIOLATED


def test_long_hypotheses_are_not_compiled_for_other_roundings():
    """Their programs took minutes."""
    unrolled = strict(lambda x: 10 - long(x.x) + without_enclosure(x.x))
    found = judged(about(Real(1, 2), at_most("claim", number, zero), hypotheses={"h": unrolled}))
    assert found.verdict is Verdict.VIOLATED
    assert found.confirmation.endswith("its hypotheses in double precision")


def no_root(x):
    """Positive, and without a finite enclosure."""
    return 3 - jnp.sqrt(jnp.abs(beside_zero(x)))


ENTRIES = {
    "absorbed": lambda x: jnp.stack([jnp.log(jnp.tanh(x.x)), no_root(x)]),
    "absorbed, strict": strict(lambda x: jnp.stack([no_root(x), jnp.log(jnp.tanh(x.x))])),
    "long": lambda x: jnp.stack([seems(x.x) - 1e-12, no_root(x) + 0 * long(x.x)]),
}


@pytest.mark.parametrize("name", one_in(3, ENTRIES))
def test_an_entry_without_an_enclosure_says_nothing_of_the_others(name):
    found = judged(of_unit_vector(at_most("claim", number, zero), {"h": ENTRIES[name]}))
    assert found.verdict in (Verdict.INCONCLUSIVE, Verdict.VACUOUS)


@pytest.mark.parametrize("kind", [strict, thorough(lambda margin: margin)])
def test_what_orders_fields_stands_in_for_no_entry(kind):
    def never(x):
        return seems(x.x) - 1e-12 + 0 * jnp.sqrt(jnp.abs(beside_zero(x)))

    statement = Theorem(
        space=Space(n=Size(4), x=ABSORBING, v=UnitVector("n"), s=Ordered("n", 1, 2)),
        simulate=uniform,
        predict=lambda x: 0.0,
        claims=(at_most("claim", number, zero),),
        hypotheses={"h": kind(never)},
        mutants=(),
        id="tests/statement",
        title="a statement of known truth",
    )
    assert judged(statement).verdict is Verdict.INCONCLUSIVE


def test_entries_that_are_met_count_beside_one_without_an_enclosure():
    met = {"h": lambda x: jnp.stack([x.x - 37, 0 * x.x, no_root(x)])}
    assert judged(of_unit_vector(at_most("claim", number, zero), met)).verdict is Verdict.VIOLATED


@pytest.mark.parametrize("order", [("h", "other"), thorough(("other", "h"))])
def test_a_long_hypothesis_is_told_whatever_stands_beside_it(order):
    margins = {"h": lambda x: no_root(x) + 0 * long(x.x), "other": lambda x: x.x - 37}
    hypotheses = {name: margins[name] for name in order}
    found = judged(of_unit_vector(at_most("claim", number, zero), hypotheses))
    assert found.verdict is Verdict.VIOLATED
    assert "its hypotheses in double precision" in found.confirmation


def test_instances_of_equal_sides_are_not_alike():
    """1 <= 0, under a hypothesis that 1 meets, and 38 by rounding alone."""
    margin = lambda x: jnp.log(jnp.tanh(x.x)) + jnp.where(x.x < 2, 1.0, 0.0)  # noqa: E731
    claim = at_most("claim", lambda r: 1.0 + 0 * r.x.x, zero)
    found = judged(about(Choice(38.0, 1.0), claim, hypotheses={"h": margin}))
    assert found.verdict is Verdict.VIOLATED


@pytest.mark.parametrize("where", ["hypothesis", "condition", "side"])
def test_integers_that_no_array_holds_are_refused_in_words(where):
    large = {"hypothesis": lambda x: 10**30} if where == "hypothesis" else {}
    place = (lambda r: 10**30) if where == "condition" else None
    side = (lambda r: 10**30) if where == "side" else number
    with pytest.raises(UsageError, match="integer of more than 64 bits"):
        judged(about(ABSORBING, at_most("claim", side, zero, where=place), hypotheses=large))
