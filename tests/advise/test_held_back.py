"""Pulls so strong that rounding hides what tuning does: told, and nothing is concluded of them."""

import json

import jax.numpy as jnp
import numpy as np
import pytest
from drawn import one_in

from theorysim import advise
from theorysim.advise.strength_checks import ROUNDINGS

RNG = np.random.default_rng(0)
X, OTHERS = RNG.normal(size=(2, 30, 4))
WANTED = np.array([1.0, -2.0, 0.5, 0.0])
PARAMS = {"first": jnp.full(2, 0.5), "head": jnp.full(2, -0.3)}


def model(params, x):
    return x[:2] @ params["first"] + x[2:] @ params["head"]


def ask(pulls, **given):
    task = {"test": (OTHERS, OTHERS @ WANTED), "params": PARAMS, "steps": 50, "pulls": pulls}
    return advise.strength(model, X, X @ WANTED, **{**task, **given})


def really_moved(pull, rate, steps=50):
    """How far outputs move as a share of outputs and of what is left to learn: plain descent."""
    start = np.concatenate([PARAMS["first"], PARAMS["head"]]).astype(float)
    now = start.copy()
    for _ in range(steps):
        slope = 2 * X.T @ (X @ now - X @ WANTED) / len(X)
        now = start + (1 - rate * pull) * (now - rate * slope - start)
    scale = np.linalg.norm(X @ start) + np.linalg.norm(X @ (start - WANTED))
    return np.linalg.norm(X @ (now - start)) / scale


def rate_of(found):
    (note,) = [note for note in found.notes if "learning rate" in note]
    return float(note.split("learning rate ")[1].split()[0])


@pytest.mark.parametrize("measure", [False, True])
def test_where_nothing_moved_no_pull_is_advised(measure):
    found = ask((1e12, 1e13), measure=measure)
    assert really_moved(1e12, rate_of(found)) < 1e-10
    assert found.choice == "none"
    assert found.answer.startswith(
        "No pull is advised: nothing moved by more than rounding in 50 steps, so that all runs "
        "have the untuned model's held-out squared error"
    )
    assert "of which the largest, lambda = 1e+13, limits the learning rate" in found.answer
    assert "worse by" not in found.answer and "trustworthy" not in found.answer
    checks = {check.what: check for check in found.checks}
    assert list(checks) == [
        "Theorems 2 to 4 are about the squared loss",
        "every pull lets the outputs move by more than rounding",
    ]
    for row in found.table:
        assert row["held"] and row["trusted to"] is None and row["straight to"] is None
    assert json.dumps(found.as_json(), allow_nan=False) and found.figure()


@pytest.mark.parametrize("measure", [False, True])
def test_a_pull_that_holds_all_back_is_told_apart_from_those_that_do_not(measure):
    eps = np.finfo(np.float32).eps
    found = ask((1.0, 1e7), rate=1e-7, steps=1000, measure=measure)
    weak, strong = found.table
    assert really_moved(1e7, 1e-7, 1000) < ROUNDINGS * eps < really_moved(1.0, 1e-7, 1000)
    assert strong["held"] and not weak["held"] and weak["trusted to"] is not None
    assert "; with lambda = 1e+07 nothing moves by more than rounding" in found.answer
    told = {check.what: check.told for check in found.checks}
    assert told["every pull lets the outputs move by more than rounding"].startswith("not 1 of 2: ")
    stay = "both models are estimated to stay together to the end (share below 0.2)"
    assert told[stay].startswith("for 1 of 1 pulls")


def test_pulls_that_let_the_model_move_are_said_nothing_of():
    found = ask((0.0, 1.0, 10.0), measure=True)
    assert not any(row["held"] for row in found.table)
    assert "rounding" not in found.answer + " ".join(check.what for check in found.checks)


@pytest.mark.parametrize("pull", one_in(3, [1e2, 1e4, 1e5, 1e6, 1e7, 1e8]))
def test_what_is_not_told_to_be_held_is_measured_to_more_than_rounding(pull):
    """Where a run counts, single precision has its path but for a tenth; far beyond it has not."""
    found = ask((pull, 2 * pull), measure=True)
    shares = {series.label: series.y for series in found.panels[1].series}
    (label,) = [name for name in shares if name.endswith("measured") and f"{pull:.3g}," in name]
    if found.table[0]["held"]:
        assert np.isnan(shares[label]).all()
        assert really_moved(pull, rate_of(found)) <= 2 * ROUNDINGS * np.finfo(np.float32).eps
    else:
        # The model is linear: all that parts both paths is rounding.
        assert shares[label][-1] < 0.1
        assert pull < 1e7
