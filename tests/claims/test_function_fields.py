"""Fields of functions and of extreme numbers, and lengths that are formulas of sizes."""

import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from theorysim.claims import Extremal, InstanceError, PiecewiseLinear, Real, Size, Space
from theorysim.claims.fields.extents import length_of

SIZES = {"knots": 2}
FIELDS = {
    "extremal": Extremal(-1, 3, shape=("knots + 1", 2)),
    "log": Extremal(1e-3, 10, log=True, shape=4),
    "map": PiecewiseLinear("knots", -1, 2, near=0.1, far=4.0),
}
# Logarithm and exponential of numbers within a factor 1e4 lose a few digits at most.
ROUND_TRIP = 64 * np.finfo(np.float64).eps


@pytest.fixture(autouse=True)
def _double(x64):
    yield


def values(field, seed, count=50):
    """Values at the ends of the cube and inside of it, and what they are after a round trip."""
    inner = np.random.default_rng(seed).uniform(size=(count, field.count(SIZES)))
    cube = np.concatenate([np.zeros_like(inner[:1]), np.ones_like(inner[:1]), inner])
    decoded = jax.jit(jax.vmap(lambda u: field.decode(u, SIZES)))(jnp.asarray(cube))
    again = jax.jit(jax.vmap(lambda v: field.decode(field.encode(v, SIZES), SIZES)))(decoded)
    return np.asarray(decoded), np.asarray(again)


@pytest.mark.parametrize("name", FIELDS)
def test_every_point_decodes_to_what_belongs_and_encodes_back(name):
    field = FIELDS[name]
    decoded, again = values(field, 0)
    for value in decoded:
        field.check(name, value, SIZES)
    np.testing.assert_allclose(again, decoded, rtol=ROUND_TRIP, atol=ROUND_TRIP)


def test_ends_are_drawn_a_third_of_the_time_and_met_exactly():
    field = Extremal(0.1, 7)
    grid = jnp.linspace(0, 1, 301)[:, None]
    drawn = np.asarray(jax.vmap(lambda u: field.decode(u, {}))(grid))
    assert np.mean(drawn == 0.1) == pytest.approx(1 / 3, abs=0.01)
    assert np.mean(drawn == 7) == pytest.approx(1 / 3, abs=0.01)
    for end in (0.1, 7.0):
        assert field.decode(field.encode(np.asarray(end), {}), {}) == end


def test_bends_are_in_order_and_slopes_within_their_bounds():
    field = FIELDS["map"]
    decoded, _ = values(field, 1)
    assert decoded.shape[1:] == (2, 5)
    assert np.all(np.diff(decoded[..., :2]) >= 0)
    assert decoded[..., 2:].min() == -1 and decoded[..., 2:].max() == 2


@pytest.mark.parametrize(
    "value",
    [
        [[0.5, 0.2, 0, 0, 0], [0.2, 0.5, 0, 0, 0]],  # bends out of order
        [[0.2, 0.5, 0, 3, 0], [0.2, 0.5, 0, 0, 0]],  # too steep
        [[0.2, 5.0, 0, 0, 0], [0.2, 0.5, 0, 0, 0]],  # a bend too far out
        [[0.2, 0.5, 0, 0], [0.2, 0.5, 0, 0]],  # a slope is missing
    ],
)
def test_other_maps_are_refused(value):
    with pytest.raises(InstanceError, match=r"f: expected .*piecewise linear map"):
        FIELDS["map"].check("f", value, SIZES)


def test_simpler_maps_belong_and_are_simpler():
    field = FIELDS["map"]
    value = values(field, 2)[0][-1]
    found = list(field.simpler(value, SIZES))
    fitting = [v for v in found if field.belongs(v, SIZES)]
    assert any(np.array_equal(v[0], v[1]) for v in fitting)
    assert any(len(set(v[0, 2:])) == 1 and len(set(v[1, 2:])) == 1 for v in fitting)


@pytest.mark.parametrize("bounds", [(1, 0, 0.1, 1), (0, 1, 0, 1), (0, 1, 2, 1)])
def test_empty_ranges_are_refused(bounds):
    with pytest.raises(ValueError, match="expected low <= high and 0 < near <= far"):
        PiecewiseLinear(2, *bounds)


@pytest.mark.parametrize(
    ("formula", "length"), [("d", 3), ("d + 1", 4), ("2*d - n", 1), ("7", 7), ("(d - 1) * n", 10)]
)
def test_lengths_are_formulas_of_sizes(formula, length):
    assert length_of(formula, {"d": 3, "n": 5}) == length


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        ("e + 1", "'e' is no size: add e=Size"),
        ("d - n", "is -2 at"),
        ("d / 2", "is no length"),
        ("d +", "is no length"),
        ("f(d)", "is no length"),
        ("1.5", "is no length"),
        ("True", "is no length"),
    ],
)
def test_other_formulas_are_refused(formula, words):
    with pytest.raises(ValueError, match=words):
        length_of(formula, {"d": 3, "n": 5})


def test_a_space_with_formulas_draws_and_survives_json():
    space = Space(n=Size(2), v=Real(0, 1, shape=("n + 1", "2*n")), f=PiecewiseLinear("n + 1", 0, 1))
    x = space.sample(jax.random.key(0), space.default_sizes(n=3))
    assert x.v.shape == (4, 6) and x.f.shape == (2, 9)
    again = space.from_json(json.loads(json.dumps(space.to_json(x))))
    assert np.array_equal(again.f, x.f) and np.array_equal(again.v, x.v)
    with pytest.raises(ValueError, match="field 'v': 'm' is no size"):
        Space(n=Size(2), v=Real(0, 1, shape="m + 1"))
