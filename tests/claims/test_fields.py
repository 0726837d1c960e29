"""Fields decode the closed unit cube onto their values and check what is handed in."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from theorysim.claims import (
    Choice,
    Extremal,
    Gaussian,
    InstanceError,
    Integer,
    Ordered,
    Orthogonal,
    PiecewiseLinear,
    Real,
    Size,
    Space,
    Spectrum,
    UnitVector,
    UsageError,
)
from theorysim.claims import fields as kinds_of_field
from theorysim.claims.fields import Field
from theorysim.claims.instance import field_values, size_items

SIZES = {"d": 5}
FIELDS = {
    "real": Real(-2, 3),
    "log": Real(1e-3, 10, log=True, shape=("d", 2)),
    "integer": Integer(1, "d"),
    "choice": Choice(0.0, 0.1, 10.0),
    "ordered": Ordered("d", 0, 2),
    "spectrum": Spectrum("d", 0.1, 10, gap=1.5),
    "gaussian": Gaussian("d", 3, scale=2),
    "unit": UnitVector("d"),
    "orthogonal": Orthogonal("d"),
}

# Quantile and distribution function of the normal law lose digits in the tails: eps times the
# density ratio at three standard deviations, about 4e2, and the longest sum has 25 terms.
ROUND_TRIP = 25 * 400 * np.finfo(np.float64).eps


@pytest.fixture(autouse=True)
def _double():
    with jax.enable_x64(True):
        yield


@pytest.mark.parametrize("name", FIELDS)
def test_every_point_of_the_cube_decodes_to_a_value_that_belongs(name):
    field = FIELDS[name]
    count = field.count(SIZES)
    corners = [np.zeros(count), np.ones(count), np.full(count, 0.5)]
    inner = np.random.default_rng(0).uniform(size=(40, count))
    for point in [*corners, *inner]:
        value = field.decode(jnp.asarray(point), SIZES)
        field.check(name, np.asarray(value), SIZES)


@pytest.mark.parametrize("name", FIELDS)
def test_encode_is_a_right_inverse_of_decode(name):
    field = FIELDS[name]
    points = np.random.default_rng(1).uniform(0.01, 0.99, size=(20, field.count(SIZES)))
    for point in points:
        value = field.decode(jnp.asarray(point), SIZES)
        again = field.decode(field.encode(value, SIZES), SIZES)
        np.testing.assert_allclose(again, value, rtol=ROUND_TRIP, atol=ROUND_TRIP)


def test_both_ends_of_an_interval_are_reached_exactly():
    for field in (FIELDS["real"], FIELDS["log"]):
        count = field.count(SIZES)
        assert np.all(field.decode(jnp.zeros(count), SIZES) == field.low)
        assert np.all(field.decode(jnp.ones(count), SIZES) == field.high)


def test_all_integers_are_reached():
    u = jnp.linspace(0, 1, 101)[:, None]
    values = jax.vmap(lambda p: FIELDS["integer"].decode(p, SIZES))(u)
    assert sorted(set(np.asarray(values).tolist())) == [1, 2, 3, 4, 5]


def test_orthogonal_matrices_have_both_determinants_and_haar_mean():
    u = np.random.default_rng(2).uniform(size=(2000, 9))
    q = np.asarray(jax.vmap(lambda p: Orthogonal(3).decode(p, {}))(jnp.asarray(u)))
    determinant = np.linalg.det(q)
    share = np.mean(determinant > 0)
    four_standard_errors = 4 * np.sqrt(0.25 / 2000)
    assert abs(share - 0.5) < four_standard_errors
    # Haar: entries have mean 0 and variance 1/3
    assert np.max(np.abs(q.mean(0))) < 4 * np.sqrt(1 / 3 / 2000)


def test_spectrum_keeps_its_gap_at_the_edges_of_the_cube():
    field = FIELDS["spectrum"]
    for point in (np.zeros(5), np.ones(5), np.array([0, 1, 0, 1, 0.0])):
        value = np.asarray(field.decode(jnp.asarray(point), SIZES))
        assert np.all(value[:-1] / value[1:] >= 1.5 * (1 - ROUND_TRIP))


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("real", 4.0, "real in [-2, 3]"),
        ("real", "three", "not an array of numbers"),
        ("real", float("nan"), "nan"),
        ("log", np.ones((5, 3)), "shape (5, 2)"),
        ("integer", 6, "integer in 1..d"),
        ("integer", 2.5, "2.5"),
        ("choice", 0.2, "one of 0, 0.1, 10"),
        ("ordered", [1, 2, 0, 0, 0], "decreasing"),
        ("spectrum", [5, 4.9, 1, 0.5, 0.2], "1.5 times the next"),
        ("unit", [1, 1, 0, 0, 0], "unit vector"),
        ("orthogonal", np.ones((5, 5)), "orthogonal"),
    ],
)
def test_a_value_that_does_not_belong_is_named(name, value, words):
    with pytest.raises(InstanceError) as error:
        FIELDS[name].check(name, value, SIZES)
    assert name in str(error.value)
    assert words in str(error.value)


def test_an_instance_survives_json_with_all_its_digits():
    import json

    space = Space(d=Size(5), **FIELDS)
    x = space.sample(jax.random.key(0), SIZES)
    text = json.dumps(space.to_json(x))
    again = space.from_json(json.loads(text))
    assert size_items(again) == size_items(x)
    for name, value in field_values(x).items():
        assert np.array_equal(np.asarray(value), np.asarray(getattr(again, name))), name


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ([1, 2], "an instance is an object"),
        ({"values": {"a": 1.0}, "sizes": {"e": 3}}, "sizes"),
        ({"values": {"a": 1.0}, "sizes": {"d": 2.5}}, "integers"),
        ({"values": {"b": 1.0}}, "unknown field 'b'"),
        ({"values": {}}, "no value for field 'a'"),
    ],
)
def test_damaged_instances_are_refused(data, words):
    with pytest.raises(InstanceError, match=words):
        Space(d=Size(2), a=Real(0, 2)).from_json(data)


def test_sizes_are_checked():
    space = Space(d=Size(2, low=1, high=8), a=Real(0, 2))
    with pytest.raises(UsageError, match=r"1\.\.8"):
        space.default_sizes(d=9)
    with pytest.raises(UsageError, match="not a size"):
        space.default_sizes(e=1)


def test_instances_have_traced_values_and_static_sizes():
    space = Space(d=Size(3), a=Real(0, 2, shape="d"))
    x = space.instance(a=[0.0, 1.0, 2.0])

    @jax.jit
    def shaped(x):
        assert x.d == 3  # a Python integer while tracing
        return jnp.zeros(x.d) + x.a

    assert np.array_equal(shaped(x), [0, 1, 2])
    with pytest.raises(AttributeError, match="no field or size 'b'"):
        _ = x.b


WRONG = {
    Real: [lambda: Real(3, 1), lambda: Real(0, 1, log=True), lambda: Real(0, math.inf)],
    Extremal: [lambda: Extremal(3, 1), lambda: Extremal(0, 1, shape=-1)],
    Integer: [lambda: Integer(5, 2), lambda: Space(d=Size(4), a=Integer(5, "d"))],
    Choice: [lambda: Choice(0.0, math.nan)],
    Ordered: [lambda: Ordered("d", 10, 0.1), lambda: Ordered(-1, 0, 1)],
    Spectrum: [
        lambda: Spectrum("d", 10, 0.1),
        lambda: Spectrum("d", 0, 1),
        lambda: Spectrum("d", 1, 2, gap=0.5),
    ],
    Gaussian: [lambda: Gaussian("d", scale=-1), lambda: Gaussian(-1), lambda: Gaussian(scale=0)],
    UnitVector: [lambda: UnitVector(0)],
    Orthogonal: [lambda: Orthogonal(0)],
    PiecewiseLinear: [
        lambda: PiecewiseLinear(-1, 0, 1),
        lambda: PiecewiseLinear(2, 0, math.nan),
        lambda: PiecewiseLinear(2, 0, 1, near=0),
    ],
}


def test_every_field_checks_its_numbers_when_it_is_made():
    made = {part for part in vars(kinds_of_field).values() if isinstance(part, type)}
    assert set(WRONG) == {part for part in made if issubclass(part, Field) and part is not Field}
    for wrong in (make for each in WRONG.values() for make in each):
        with pytest.raises(ValueError, match=r"expected|no integer in"):
            wrong()


@pytest.mark.parametrize("options", [(), ((0, 1),), ("a", "b"), (1 + 1j,)])
def test_a_choice_is_of_numbers(options):
    with pytest.raises((ValueError, TypeError)):  # checks of types refuse some of them before
        Choice(*options)
