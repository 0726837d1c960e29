"""Runs with other roundings: all lanes of all rows lie along one axis, and do not mix."""

import jax
import jax.numpy as jnp
import numpy as np

from tests.engine.statements import about
from theorysim.claims import Real, at_most
from theorysim.claims.instance import size_items
from theorysim.engine.confirm.other_roundings import numbers_of_lanes, perturbed_sides
from theorysim.jaxprs.directions import DOWNWARDS, LANES, UPWARDS

ROWS = 3
STATEMENT = about(
    Real(1, 2),
    at_most("claim", lambda r: r.sim, lambda r: jnp.exp(r.x.x)),
    lambda x, key: jnp.sum(x.x * jax.random.normal(key, (50,))),
)


def in_lanes(turns):
    """Both sides of a sum of draws, of as many instances as there are turns."""
    (reading,) = STATEMENT.all_readings()
    with jax.enable_x64(True):
        keys = jax.random.split(jax.random.key(0), len(turns))
        x = jax.vmap(lambda key: STATEMENT.space.sample(key, {}))(keys)
        program = perturbed_sides(STATEMENT, reading, size_items(x))
        data = np.asarray(jax.random.key_data(keys))
        rows = jax.tree.map(lambda leaf: np.repeat(np.asarray(leaf), LANES, axis=0), (x, data))
        numbers = numbers_of_lanes(turns)

        def run(places):
            given = jax.tree.map(lambda leaf: leaf[places], (numbers, *rows))
            sides = map(np.asarray, program(given)["claim"])
            return [side.reshape(-1, LANES, 1) for side in sides]

        lanes = np.arange(len(numbers)).reshape(-1, LANES)
        return run(lanes.ravel()), [run(places) for places in lanes]


def test_rows_are_what_they_are_alone():
    together, alone = in_lanes(np.arange(float(ROWS)))
    for side, *parts in zip(together, *alone, strict=True):
        assert side.shape == (ROWS, LANES, 1)
        np.testing.assert_array_equal(side, np.concatenate(parts))


def test_every_row_has_its_lanes():
    """Each lane errs for itself, two of them one way, and every turn otherwise."""
    (lhs, rhs), _ = in_lanes(np.zeros(ROWS))
    (others, _), _ = in_lanes(np.ones(ROWS))
    for row in range(ROWS):
        assert len(np.unique(lhs[row])) > LANES / 2
        assert lhs[row, DOWNWARDS] == lhs[row].min() < lhs[row].max() == lhs[row, UPWARDS]
        assert rhs[row, DOWNWARDS] < rhs[row, UPWARDS]
    apart = [lane for lane in range(LANES) if lane not in (UPWARDS, DOWNWARDS)]
    assert np.mean(lhs[:, apart] != others[:, apart]) > 0.5
    np.testing.assert_array_equal(lhs[:, [UPWARDS]], others[:, [UPWARDS]])
