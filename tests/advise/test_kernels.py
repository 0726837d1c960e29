"""Kernels of more inputs than a Gram has rows for: which are drawn, what is said of the rest."""

from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import pytest
from closeness import STEPS_SINGLE, SUMS_SINGLE
from drawn import thorough

from theorysim import advise, memory
from theorysim.advise.kernels import drawn_anew, fitting, kernels
from theorysim.advise.layer_checks import drawn_check
from theorysim.advise.problem import Examples, Problem, as_inputs, problem
from theorysim.advise.scores import score
from theorysim.advise.subject import subject
from theorysim.errors import SizeError, UsageError

X = np.random.default_rng(0).normal(size=(100_000, 6))
Y = X[:, :2] @ np.array([1.0, -2.0])
PARAMS = {"useful": jnp.zeros(2), "idle": jnp.zeros(2), "z_head": jnp.zeros(2)}


def model(params, x):
    """Linear; only the group "useful" sees what the targets are made of."""
    return x[:2] @ params["useful"] + x[2:4] @ params["idle"] + x[4:] @ params["z_head"]


def task(count: int) -> Problem:
    inputs = as_inputs(X[:count])
    found = subject(model, inputs, PARAMS, None, None)
    return problem(found, inputs, Y[:count], (X[-50:], Y[-50:]), None, 0)


def test_kernels_of_a_draw_are_blocks_of_those_of_all():
    whole, every = task(40), X[:40]
    small, notes = fitting(whole, seed=3, pairs=12)
    drawn = [int(np.argmin(np.abs(every - x).sum(axis=1))) for x in np.asarray(small.train.inputs)]
    assert len(set(drawn)) == 12 and drawn == sorted(drawn) and "12 of 40" in notes[0]
    found = kernels(small).own
    further = [int(np.argmin(np.abs(every - x).sum(1))) for x in np.asarray(small.further.inputs)]
    assert sorted(drawn + further) == list(range(40)) and "learn 40 inputs" in notes[0]
    for group, columns in {"useful": [0, 1], "idle": [2, 3], "z_head": [4, 5]}.items():
        gram = every[:, columns] @ every[:, columns].T
        np.testing.assert_allclose(
            found[group], gram[np.ix_(drawn, drawn)], rtol=SUMS_SINGLE, atol=SUMS_SINGLE
        )
        tall = gram[np.ix_(drawn + further, drawn)]
        np.testing.assert_allclose(
            kernels(small).tall[group], tall, rtol=SUMS_SINGLE, atol=SUMS_SINGLE
        )


def test_a_linear_task_of_few_directions_is_learnt_from_few_landmarks():
    """Two landmarks span two directions of six; what they can say they say of all inputs."""
    targets = X[:400, :2] @ np.array([1.0, -2.0]) + X[:400, 4]
    inputs = as_inputs(X[:400])
    found = subject(model, inputs, PARAMS, None, None)
    task = problem(found, inputs, targets, (X[-50:], X[-50:, 0]), None, 0)
    small, _ = fitting(task, seed=1, pairs=2, learnt=100)
    grams = kernels(small)
    every = tuple(found.order)
    one = score(small, grams, every[:1], every[1:])
    weak = min(one.fits, key=lambda fit: fit.sigma)
    rows, wanted = np.asarray(small.learnt.inputs, float), small.learnt.targets[:, 0]
    basis = np.linalg.qr(rows[:2].T)[0]
    inside = rows @ basis
    eye = weak.sigma * np.eye(2)
    weights = basis @ np.linalg.solve(inside.T @ inside + eye, inside.T @ wanted)
    assert len(rows) == 200
    moved = rows[:2].T @ weak.coefficients[:, 0]
    np.testing.assert_allclose(moved, weights, rtol=STEPS_SINGLE, atol=STEPS_SINGLE)


def test_held_out_inputs_of_the_kernels_are_drawn_up_to_a_number():
    whole = task(40)
    test = Examples(as_inputs(X[-450:]), X[-450:, :1])
    small, notes = fitting(replace(whole, test=test), pairs=40)
    assert len(small.test) == 400 and "predictions use 400 of 450" in notes[-1]
    assert len({tuple(x) for x in np.asarray(small.test.inputs)}) == 400


@pytest.mark.parametrize(("inputs", "pairs"), [(60, 19), thorough(60, 20), (19, 19)])
def test_few_landmarks_of_many_inputs_are_told_in_the_answer(inputs, pairs):
    test = (X[-50:], Y[-50:])
    found = advise.layers(model, X[:inputs], Y[:inputs], params=PARAMS, test=test, pairs=pairs)
    told = (
        "Beware: kernels have 19 landmarks only, of 60 training inputs, and errors do not count "
        "their draw; 20 take pairs=20 (--pairs)."
    )
    assert found.answer.endswith(told) == (pairs < min(inputs, 20))
    assert ("landmarks only" in found.answer) == (pairs < min(inputs, 20))


def test_held_out_inputs_that_are_training_inputs_are_told():
    again = advise.layers(model, X[:60], Y[:60], params=PARAMS, test=(X[50:70], Y[50:70]))
    assert "Beware: 10 of 20 held-out inputs are training inputs, too" in again.answer
    others = advise.layers(model, X[:60], Y[:60], params=PARAMS, test=(X[50:70], Y[60:80]))
    assert "Beware: 10 of 20 held-out inputs" in others.answer  # whatever their targets are
    apart = advise.layers(model, X[:60], Y[:60], params=PARAMS, test=(X[60:80], Y[60:80]))
    assert "Beware" not in apart.answer
    alike = advise.layers(model, X[:60], np.ones(60), params=PARAMS, test=(X[60:80], np.ones(20)))
    assert "Beware" not in alike.answer


def test_training_inputs_given_twice_and_sources_that_know_what_is_held_out_are_told():
    twice, test = np.r_[X[:60], X[:15]], (X[60:80], Y[60:80])
    found = advise.layers(model, twice, np.r_[Y[:60], Y[:15]], params=PARAMS, test=test)
    assert "Beware: 15 of 75 training inputs are given more than once" in found.answer
    new = (twice, np.r_[Y[:60], Y[:15]])
    stages = {at: {**PARAMS, "idle": jnp.full(2, float(at))} for at in (1, 2, 3)}
    found = advise.length(model, stages, X[:40], Y[:40], params=PARAMS, new=new, steps=5, seeds=2)
    assert "training inputs are given more than once" in found.answer
    found = advise.transfer(model, {"leak": test}, X[:60], Y[:60], params=PARAMS, test=test)
    assert "Beware: 20 of 20 held-out inputs are among those of source leak." in found.answer


def test_few_landmarks_of_a_source_are_told():
    def many(params, x):
        return jnp.tanh(x @ params["body"]) @ params["head"]

    params = {"body": jnp.ones((6, 4)) * 0.1, "head": jnp.ones((4, 2)) * 0.1}
    classes = np.arange(90) % 30
    found = advise.transfer(
        many, {"names": (X[100:190], classes)}, X[:40], (Y[:40] > 0).astype(int), params=params,
        test=(X[60:80], (Y[60:80] > 0).astype(int)), pairs=90,
    )  # fmt: skip
    assert (
        "Beware: kernels of source names have 3 landmarks only, of 90 training inputs"
        in found.answer
    )
    whole = {"groups": {"all": ["body", "head"]}, "params": params}
    with pytest.raises(UsageError, match="the group all is the whole model, so that with a head"):
        advise.transfer(
            many, {"names": (X[100:190], classes)}, X[:40], (Y[:40] > 0).astype(int), **whole
        )


def test_inputs_of_another_form_are_refused():
    def two(params, x):
        return x["a"] @ params["useful"] + x["b"] @ params["idle"]

    params, given = (
        {name: PARAMS[name] for name in ("useful", "idle")},
        {"a": X[:40, :2], "b": X[:40, 2:4]},
    )
    other = tuple(given.values())
    with pytest.raises(UsageError, match="inputs of test are of the form"):
        advise.layers(two, given, Y[:40], params=params, base=(), test=(other, Y[:40]))
    with pytest.raises(UsageError, match="source s: its inputs are of the form"):
        advise.transfer(two, {"s": (other, Y[:40])}, given, Y[:40], params=params)


def test_what_has_room_is_not_drawn():
    whole = task(40)
    small, notes = fitting(whole, pairs=40)
    assert small.train is whole.train and not notes and drawn_anew(whole, small) is None


@pytest.mark.parametrize(("count", "common"), [(12, 0), (30, 20)])
def test_inputs_are_drawn_anew_from_those_left_out(count, common):
    whole = task(40)
    small, _ = fitting(whole, seed=3, pairs=count)
    other = drawn_anew(whole, small, seed=3)
    assert other is not None and len(other.train) == count
    first, second = ({tuple(x) for x in np.asarray(one.train.inputs)} for one in (small, other))
    assert len(first & second) == common


def test_a_hundred_thousand_inputs_are_answered_and_what_is_left_out_is_told():
    found = advise.layers(model, X[:-50], Y[:-50], test=(X[-50:], Y[-50:]), params=PARAMS, pairs=30)
    assert found.choice == "useful"
    assert any("30 of 99950 training inputs" in note for note in found.notes)
    (check,) = [check for check in found.checks if check.what.startswith("other landmarks")]
    assert check.met and check.told.startswith("they put useful first; rank correlation")


class Scored:
    def __init__(self, left_out):
        self.scores = {"left_out": left_out, "linearised": 2 * left_out}


def test_draws_that_disagree_are_told():
    draws = [dict(zip("abcd", map(Scored, values))) for values in ((1, 2, 3, 4), (4, 3, 2, 1))]
    check = drawn_check(*draws, "left_out")
    assert check.met is False
    assert check.told == (
        "they put d first; rank correlation of `left_out` -1.00 over 4 candidates, which chance "
        "reaches in 1 of all orders; predicted risks of a: 2, 8"
    )


def test_kernels_that_do_not_fit_into_memory_are_refused_with_the_remedy(monkeypatch):
    whole = task(1000)
    # Three groups, 1000 rows, 50 held-out columns: twice, in double precision.
    needed = 2 * 8 * 3 * 1000 * 1050
    monkeypatch.setattr(memory, "machine_bytes", lambda: needed)
    fitting(whole, pairs=1000)
    monkeypatch.setattr(memory, "machine_bytes", lambda: needed - 1)
    with pytest.raises(SizeError, match=r"3 groups with 1000 rows .* pass a smaller number"):
        fitting(whole, pairs=1000)


def behind_zeros(params, x):
    """To first order only the head matters, since it is zero."""
    return jnp.tanh(x @ params["body"]) @ params["head"]


BEHIND = {"body": jnp.ones((6, 3)), "head": jnp.zeros(3)}


@pytest.mark.parametrize("question", ["strength", "layers"])
def test_groups_that_are_not_seen_to_first_order_are_refused_where_nothing_else_is_tuned(question):
    options = {"groups": {"body": "body"}} if question == "strength" else {"base": "body"}
    with pytest.raises(UsageError, match="do not depend on"):
        getattr(advise, question)(behind_zeros, X[:40], Y[:40], params=BEHIND, **options)


def test_groups_that_are_not_seen_to_first_order_are_named_beside_others():
    found = advise.layers(behind_zeros, X[:40], Y[:40], params=BEHIND, base=())
    assert any("do not depend on body" in note for note in found.notes)


def test_nothing_left_to_learn_and_kernels_beyond_floats_are_refused():
    with pytest.raises(UsageError, match="nothing is left to learn"):
        advise.layers(model, X[:40], 0 * Y[:40], params=PARAMS)
    with pytest.raises(UsageError, match="is not finite"):
        advise.layers(model, X[:40] * 1e30, Y[:40], params=PARAMS)


@pytest.mark.thorough
def test_the_note_has_the_rows_that_the_gram_has():
    def seven(params, x):
        return x[:3] @ params["a"] + x[3:] @ params["b"]

    params = {"a": np.zeros((3, 7)), "b": np.zeros((3, 7))}
    targets = X[:40, :1] * np.ones(7)
    found = advise.layers(seven, X[:40], targets, params=params, base=(), pairs=60)
    assert any("8 x 7 outputs make 56 rows" in note for note in found.notes)


def test_new_inputs_of_another_shape_are_refused():
    stages = {at: {**PARAMS, "idle": jnp.full(2, float(at))} for at in (1, 2, 3)}
    with pytest.raises(UsageError, match=r"inputs of new have shape \[\(4,\)\], inputs \[\(6,\)\]"):
        advise.length(model, stages, X[:40], Y[:40], params=PARAMS, new=(X[:40, :4], Y[:40]))
