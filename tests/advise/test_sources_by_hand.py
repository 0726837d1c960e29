"""Scores of sources against ridge regression in the parameters of a model that is linear in them.

Where a model is linear, the linearisation is the model, and what a source does to a target is
computed with explicit features, by other algebra than kernels.
"""

import jax.numpy as jnp
import numpy as np
import pytest
from closeness import LONG_SINGLE

from theorysim import advise
from theorysim.advise.kernel_fits import PULLS

RNG = np.random.default_rng(0)
WIDTH, PAIRS = 6, 10
X, HELD, SOURCE = (RNG.normal(size=(n, WIDTH)) for n in (40, 25, 70))
TRUTH = RNG.normal(size=WIDTH)
Y, HELD_Y = (x @ TRUTH + RNG.normal(size=len(x)) for x in (X, HELD))
TAUGHT = SOURCE @ (TRUTH + 0.5) + RNG.normal(size=len(SOURCE))


def model(params, x):
    return x[:3] @ params["a"]["w"] + x[3:] @ params["b"]["w"]


PARAMS = {"a": {"w": jnp.asarray([0.5, -0.5, 0.1])}, "b": {"w": jnp.asarray([0.1, 0.2, -0.3])}}
START = np.concatenate([np.asarray(PARAMS[name]["w"], float) for name in "ab"])


def drawn(count):
    """Landmarks and all that is learnt: a draw without return, five times as many."""
    order = np.random.default_rng(0).permutation(count)
    landmarks, further = np.sort(order[:PAIRS]), np.sort(order[PAIRS : 5 * PAIRS])
    return landmarks, np.concatenate([landmarks, further])


def tuned(x, y, start):
    """Weights of the ridge of least leave-one-out error, and that error.

    Ten landmarks of six directions span them all: they only set the unit of the pull.
    """
    landmarks, learnt = drawn(len(x))
    unit = np.mean(np.sum(x[landmarks] ** 2, axis=1))
    rows, gap, found = x[learnt], (y - x @ start)[learnt], []
    for pull in PULLS:
        eye = pull * unit * np.eye(WIDTH)
        errors = []
        for i in range(len(rows)):
            kept, rest = np.delete(rows, i, 0), np.delete(gap, i)
            errors.append(gap[i] - rows[i] @ np.linalg.solve(kept.T @ kept + eye, kept.T @ rest))
        weights = np.linalg.solve(rows.T @ rows + eye, rows.T @ gap)
        found.append((np.mean(np.square(errors)), weights))
    error, weights = min(found, key=lambda one: one[0])
    return start + weights, error


@pytest.mark.parametrize("source", ["taught", "no source"])
def test_scores_of_a_source_are_those_of_ridge_regression(source):
    found = advise.transfer(
        model, {"taught": (SOURCE, TAUGHT)}, X, Y, params=PARAMS, test=(HELD, HELD_Y), pairs=PAIRS
    )
    (row,) = [one for one in found.table if one["source"] == source]
    begun = START if source == "no source" else tuned(SOURCE, TAUGHT, START)[0]
    weights, left_out = tuned(X, Y, begun)
    wanted = {
        "start loss": np.mean((Y - X @ begun)[drawn(len(X))[1]] ** 2),
        "left out": left_out,
        "predicted": np.mean((HELD_Y - HELD @ weights) ** 2),
        "movement": np.linalg.norm(weights - begun),
    }
    told = {name: getattr(row[name], "value", row[name]) for name in wanted}
    assert told == pytest.approx(wanted, rel=LONG_SINGLE)
