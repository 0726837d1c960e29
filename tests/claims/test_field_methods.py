"""What every field offers beside its cube, against independent truths."""

import itertools
from decimal import Decimal, localcontext

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import Phase, find, given, settings

from tests.claims.test_fields import FIELDS, ROUND_TRIP, SIZES
from theorysim.claims import (
    Choice,
    InstanceError,
    Integer,
    Ordered,
    Orthogonal,
    Real,
    Spectrum,
    UnitVector,
)
from theorysim.claims.fields import Interval, Options

# Digits of the exact arithmetic that the normalised values are compared in.
DIGITS = 60

STRUCTURED = ("unit", "orthogonal")


@pytest.fixture(autouse=True)
def _double():
    with jax.enable_x64(True):
        yield


def draw(name, count=30):
    """Values at random points and at corners of the cube."""
    field = FIELDS[name]
    inner = np.random.default_rng(3).uniform(size=(count, field.count(SIZES)))
    for point in [*inner, *np.round(inner[:5])]:
        yield np.asarray(field.decode(jnp.asarray(point), SIZES))


def belongs(name, value):
    try:
        FIELDS[name].check(name, value, SIZES)
    except InstanceError:
        return False
    return True


# Property tests


@pytest.mark.parametrize("name", FIELDS)
def test_every_drawn_value_belongs_to_its_field(name):
    @settings(max_examples=25)
    @given(value=FIELDS[name].strategy(SIZES))
    def check(value):
        with jax.enable_x64(True):
            FIELDS[name].check(name, value, SIZES)

    check()


@pytest.mark.parametrize("name", ["real", "log", "integer", "choice", "ordered", "spectrum"])
def test_both_ends_of_a_field_are_drawn(name):
    field = FIELDS[name]
    for u in (0.0, 1.0):
        end = np.asarray(field.decode(jnp.full(field.count(SIZES), u), SIZES))
        found = find(
            field.strategy(SIZES),
            lambda v, end=end: bool(np.any(v == end.flat[0])),
            settings=settings(max_examples=2000, phases=[Phase.generate]),
        )
        assert np.any(found == end.flat[0])


# Simpler values


@pytest.mark.parametrize("name", FIELDS)
def test_simpler_values_have_the_shape_and_are_finite(name):
    for value in draw(name, 5):
        for simpler in FIELDS[name].simpler(value, SIZES):
            assert simpler.shape == value.shape
            assert np.all(np.isfinite(simpler))


@pytest.mark.parametrize("name", STRUCTURED)
def test_simpler_values_of_structured_fields_belong_and_have_zeros_and_ones_only(name):
    for value in draw(name, 5):
        candidates = list(FIELDS[name].simpler(value, SIZES))
        assert len(candidates) >= 3
        for simpler in candidates:
            assert belongs(name, simpler)
            assert set(np.unique(np.abs(simpler))) == {0.0, 1.0}


def test_the_simpler_values_of_a_long_vector_are_few():
    assert len(list(UnitVector(400).simpler(np.eye(400)[7], {}))) == 16


def test_arrays_are_rounded_from_zeros_to_three_digits():
    value = np.array([0.1234, 2.7182])
    found = list(Real(-2, 3, shape=2).simpler(value, {}))
    expected = [[0, 0], [1, 1], [0.1, 3], [0.12, 2.7], [0.123, 2.72]]
    np.testing.assert_array_equal(found, expected)
    for scalar in (Real(0, 1), Integer(1, 9), Choice(1.0, 2.0)):
        assert list(scalar.simpler(np.asarray(1), {})) == []  # the falsifier tries its own numbers


# Boxes


@pytest.mark.parametrize("name", ["real", "log", "ordered", "spectrum"])
def test_the_interval_of_a_box_is_what_the_entries_reach(name):
    field = FIELDS[name]
    box = field.box(SIZES)
    assert isinstance(box, Interval)
    entries = np.concatenate([value.ravel() for value in draw(name)])
    assert np.all((box.low <= entries) & (entries <= box.high))
    ends = [field.decode(jnp.full(field.count(SIZES), u), SIZES) for u in (0.0, 1.0)]
    assert np.min(ends[0]) == box.low
    assert np.max(ends[1]) == box.high
    assert box.log == (name in ("log", "spectrum"))


@pytest.mark.parametrize("name", ["integer", "choice"])
def test_the_options_of_a_box_are_all_values(name):
    field = FIELDS[name]
    box = field.box(SIZES)
    assert isinstance(box, Options)
    grid = jnp.linspace(0, 1, 101)[:, None]
    reached = np.unique(jax.vmap(lambda u: field.decode(u, SIZES))(grid))
    assert sorted(box.values) == reached.tolist()


@pytest.mark.parametrize("name", ["gaussian", "unit", "orthogonal"])
def test_fields_without_a_box_say_so(name):
    assert FIELDS[name].box(SIZES) is None


# Order


@pytest.mark.parametrize("name", FIELDS)
def test_values_that_belong_meet_their_order(name):
    for value in draw(name):
        assert np.all(np.asarray(FIELDS[name].order(jnp.asarray(value))) >= -ROUND_TRIP)


@pytest.mark.parametrize(("name", "gap"), [("ordered", 1.0), ("spectrum", 1.5)])
def test_margins_of_order_tell_what_belongs(name, gap):
    """Of all orders of five numbers, each twice the next, the decreasing one alone is in order."""
    numbers = (1.6, 0.8, 0.4, 0.2, 0.1)
    kept = []
    for order in itertools.permutations(numbers):
        margins = np.asarray(FIELDS[name].order(jnp.asarray(order)))
        assert margins.tolist() == [a - gap * b for a, b in itertools.pairwise(order)]
        if np.all(margins >= 0):
            kept.append(order)
        assert np.all(margins >= 0) == belongs(name, order)
    assert kept == [numbers]


# Exact values


@pytest.mark.parametrize("field", [UnitVector("d"), Orthogonal("d")])
def test_normalised_values_are_exact_members_next_to_the_printed_ones(field):
    point = np.random.default_rng(4).uniform(size=field.count(SIZES))
    printed = np.asarray(field.decode(jnp.asarray(point), SIZES))
    with localcontext(prec=DIGITS):
        exact = field.normalised(np.vectorize(Decimal, otypes=[object])(printed.round(8)))
        rows = exact.reshape(-1, SIZES["d"])
        gram = rows @ rows.T
        for i, j in np.ndindex(gram.shape):
            assert abs(gram[i, j] - (i == j)) < Decimal(10) ** (5 - DIGITS)
    # eight digits, and Gram-Schmidt adds five rows' differences
    np.testing.assert_allclose(exact.astype(float), printed, atol=5 * 5 * 1e-8)


@pytest.mark.parametrize("name", [name for name in FIELDS if name not in STRUCTURED])
def test_other_values_are_what_is_printed(name):
    entries = np.ones(FIELDS[name].shape(SIZES), object)
    assert FIELDS[name].normalised(entries) is entries


# What is handed in


@pytest.mark.parametrize(
    "value", [True, np.True_, [[True, 1.0]], [[1.0, np.False_]], np.ones((1, 2), bool), (True, 2)]
)
def test_true_and_false_are_no_numbers(value):
    field = Real(0, 2, shape=np.shape(value))
    with pytest.raises(InstanceError, match=r"v: .*true or false, not a number"):
        field.check("v", value, {})
    field.check("v", np.asarray(value, float), {})
    with pytest.raises(InstanceError, match="true or false"):
        Integer(0, 1).check("n", True, {})


def test_a_gap_that_does_not_fit_is_refused_when_it_is_decoded():

    field = Spectrum("d", 1.0, 2.0, gap=1.5)
    with pytest.raises(InstanceError, match="choose a smaller d"):
        field.decode(jnp.zeros(5), SIZES)


def test_ties_of_ordered_numbers_are_reached():
    assert np.ptp(Ordered(3, 0, 1).decode(jnp.full(3, 0.25), {})) == 0
