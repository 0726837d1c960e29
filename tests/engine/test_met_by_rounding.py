"""Hypotheses, conditions, printed probabilities and constants that rounding alone makes or breaks.

Statements of known truth, which a reader made to mislead.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

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
    strict,
    with_probability,
)

ABSORBING = Real(38, 38.5)


def number(r):
    return r.x.x


def zero(r):
    return 0.0


def uniform(x, key):
    return jax.random.uniform(key)


def seems(x):
    """Half a unit of 1 where double precision absorbs e^-x; in truth below 0."""
    return 1e8 * (jnp.exp(-x) / 2 - (1 - jax.nn.sigmoid(x)))


def without_enclosure(x):
    """Nothing, of which no enclosure is known."""
    return 0 * jax.scipy.special.gammaln(x)


def is_nothing(x):
    """0 in truth, for every x."""
    return jnp.sqrt(x.x) ** 2 - x.x


HYPOTHESES = {
    "half": (Real(1, 2), strict(lambda x: jnp.where(x.x > 1.5, 1.0, is_nothing(x))), 1.5),
    "none": (Real(1, 2), strict(is_nothing), 2.0),
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


@pytest.mark.parametrize(
    ("offset", "sign", "verdict"), [(0.9, -1, Verdict.HOLDS), (0.1, 1, Verdict.VIOLATED)]
)
def test_a_printed_probability_is_the_one_that_many_bits_give(offset, sign, verdict):
    """(1 - sigmoid(x)) e^x is 1, and 0 in double precision: 0.9 is 0.1, and 0.1 is 0.9."""

    def printed(r):
        return offset + sign * 0.8 * (1 - jax.nn.sigmoid(r.x.x)) * jnp.exp(r.x.x)

    half = with_probability("claim", lambda r: r.sim, lambda r: 0.5 + 0 * r.sim, at_least=printed)
    found = judged(about(Real(38, 40), half, uniform, keys=64))
    assert found.verdict is verdict
    assert found.rhs == pytest.approx(1 - offset, abs=1e-12)
    assert "the printed probability has 636 bits" in found.note or verdict is Verdict.VIOLATED


def test_a_printed_probability_that_is_exact_stays_as_it_is():
    plain = with_probability(
        "claim", lambda r: r.sim, lambda r: 0.5 + 0 * r.sim, at_least=lambda r: r.x.x / 5
    )
    found = judged(about(Real(0.5, 1), plain, uniform, keys=256))
    assert found.verdict is Verdict.HOLDS and "bits" not in found.note


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


def test_keys_of_another_generator():
    claim = with_probability(
        "claim", lambda r: r.sim, lambda r: 0.5 + 0 * r.sim, at_least=lambda r: 0.9
    )
    with jax.default_prng_impl("rbg"):
        found = judged(about(Real(1, 2), claim, uniform, keys=64))
    assert found.verdict is Verdict.VIOLATED


def of_unit_vector(claim, hypotheses=None, x=ABSORBING, **more):
    return Theorem(
        space=Space(n=Size(3), x=x, v=UnitVector("n")),
        simulate=uniform,
        predict=lambda x: x.x,
        claims=(claim,),
        hypotheses=hypotheses or {},
        mutants=(),
        id="tests/statement",
        title="a statement of known truth",
        **more,
    )


def beside_zero(x):
    """0 in truth, of which enclosures know no root."""
    return jnp.sum(x.v**2) - 1


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


def test_printed_probabilities_that_enclosures_do_not_tell():
    def half(printed):
        return with_probability(
            "claim", lambda r: r.sim, lambda r: 0.5 + 0 * r.sim, at_least=printed
        )

    undefined = half(lambda r: 0.9 - jnp.sqrt(jnp.abs(beside_zero(r.x))))
    assert judged(of_unit_vector(undefined, keys=64)).verdict is Verdict.VIOLATED
    wide = half(lambda r: 0.1 + 0.8 * jnp.floor(jnp.asarray((1 / 49) * 49) + 0 * r.x.x))
    found = judged(about(Real(1, 2), wide, uniform, keys=64))
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
