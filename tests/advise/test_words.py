"""What the sentences of answers say: measured or predicted, by how much, and if it is chance."""

import jax.numpy as jnp
import numpy as np
import pytest
from drawn import thorough

from theorysim import advise
from theorysim.advise import length_words, record
from theorysim.advise.answer import Uncertain
from theorysim.advise.problem import risk_name
from theorysim.advise.source_words import signs_right

X = np.random.default_rng(0).normal(size=(40, 4))
NOISE = np.random.default_rng(1).normal(size=40)
PARAMS = {"first": jnp.zeros(2), "head": jnp.zeros(2)}
MEASURED = {"no source": 1.0, "good": 0.5, "bad": 2.0, "as good": 1.0}
CLASSES = (X[:, 0] > 0).astype(int)


def model(params, x):
    return x[:2] @ params["first"] + x[2:] @ params["head"]


def two(params, x):
    return params["w"] @ x


def ask(question, targets, **given):
    task = {"inputs": X[:20], "targets": targets[:20], "test": (X[20:], targets[20:])}
    return getattr(advise, question)(**{"model": model, "params": PARAMS, **task, **given})


def rows(found, key):
    return {row[found.columns[0]]: row[key] for row in found.table}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Uncertain(-2.0, 0.5), "better by 2.00 ± 0.50"),
        (Uncertain(2.0, 0.5), "worse by 2.00 ± 0.50"),
        (Uncertain(0.5, 0.5), "worse by 0.50 ± 0.50, within the errors"),
    ],
)
def test_a_difference_says_its_side_and_whether_it_may_be_chance(value, text):
    assert value.compared("better", "worse") == text


def test_nothing_else_is_advised_where_it_is_measured_best():
    found = ask(
        "layers", X[:, 2] - X[:, 3] + NOISE, base="head", measure=True, seeds=1, rates=(0.05,)
    )
    risks = rows(found, "measured")
    best = min(risks, key=lambda name: risks[name].value)
    assert best == "nothing else" == found.choice == found.table[0]["tuned beside"]
    assert found.answer.startswith("Tune nothing beside head: measured held-out squared error")
    assert "next is first, measured worse by" in found.answer
    assert [r["measured"].value for r in found.table] == sorted(r.value for r in risks.values())


def test_nothing_else_is_advised_where_it_is_predicted_best():
    found = ask("layers", X[:, 2] - X[:, 3] + NOISE, base="head", by="linearised")
    assert found.choice == "nothing else"
    assert "; next by `linearised` is first, predicted worse by" in found.answer


def test_all_is_advised_where_it_is_best():
    groups = {"a": {"first": jnp.zeros(2)}, "b": jnp.zeros(1), "head": jnp.zeros(1)}

    def three(params, x):
        return x[:2] @ params["a"]["first"] + x[2:3] @ params["b"] + x[3:] @ params["head"]

    found = ask("layers", X.sum(1), model=three, params=groups, base="head", by="linearised")
    assert found.choice == "all" and found.answer.startswith("Tune all beside head: predicted")


@pytest.mark.parametrize("question", ["layers", thorough("strength")])
def test_targets_of_one_class_are_warned_of(question):
    params = {"w": jnp.zeros((2, 4)), "z": jnp.zeros(2)}
    biased = {"model": lambda p, x: two(p, x) + p["z"], "params": params}
    steps = {"steps": 5} if question == "strength" else {}
    alone = ask(question, np.zeros(40, int), **biased, **steps)
    assert "Beware: all 20 training targets are of class 0" in alone.answer
    assert "Beware" not in ask(question, CLASSES, **biased, **steps).answer


def test_no_pull_is_said_in_words_and_runs_that_still_fall_are_told():
    few = ask("strength", X[:, 0], pulls=(0.0, 1.0), steps=2, rate=1e-3, measure=True)
    assert few.answer.startswith("Do not pull: measured held-out squared error after 2 steps")
    assert "every run is still falling at the last step, 2: raise steps= or rate=" in few.answer
    assert "lambda = 1 is worse by" in few.answer and "lambda = 0" not in few.answer
    opposite = {"test": (X[20:], -X[20:, 0]), "pulls": (0.0, 50.0), "steps": 200}
    harmful = ask("strength", X[:, 0], **opposite)
    assert harmful.answer.startswith("Pull with lambda = 50: predicted")
    assert "still falling" not in harmful.answer and "; no pull is worse by" in harmful.answer


def test_a_headline_says_where_its_linearisation_is_not_to_be_trusted():
    def bent(params, x):
        return jnp.sin(30 * model(params, x))

    found = ask("strength", X[:, 0], model=bent, pulls=(0.0, 1.0), steps=20)
    until = found.table[0]["trusted to"]
    assert until < 20
    assert f", by a linearisation trusted for {until} of 20 steps only" in found.answer


@pytest.mark.parametrize("measure", [False, thorough(True)])
def test_a_source_is_compared_with_none_and_by_the_sign_rule(measure):
    options = {"measure": measure, "seeds": 1, "rates": (0.02,), "steps": 40, "by": "start"}
    good = ask("transfer", X[:, 0], sources={"same": (X[:10], X[:10, 0])}, **options)
    kind = "measured" if measure else "predicted"
    assert good.answer.startswith(f"Start from same: {kind} held-out squared error")
    assert f"; no source, {kind} " in good.answer
    assert "by the sign rule it pays: fine-tuning starts at a loss of" in good.answer
    bad = ask("transfer", X[:, 0], sources={"opposite": (X[:10], -X[:10, 0])}, **options)
    assert bad.choice == "no source"
    assert "by the sign rule no source given would pay" in bad.answer


def test_where_one_answer_for_all_was_right_more_often_the_sign_rule_is_not_passed_on_alone(
    monkeypatch,
):
    def recorded(right):
        return {"measured": [{"sign rule": [right, 3], "measured": MEASURED}] * 2}

    options = {"sources": {"same": (X[:10], X[:10, 0])}, "by": "start"}
    monkeypatch.setattr(record, "fared", lambda _: [])
    told = "the sign rule is right for 2 of 6 sources, the same answer for all of them for 4."
    for right, is_told in ((1, True), (2, False)):
        monkeypatch.setattr(record, "record", lambda _, right=right: recorded(right))
        assert (told in ask("transfer", X[:, 0], **options).answer) == is_told
    assert signs_right(recorded(2)["measured"]) == (4, 6, 2)


def test_the_risk_has_one_name():
    found = [
        ask("layers", X[:, 0]),
        ask("strength", X[:, 0], steps=4),
        ask("transfer", X[:, 0], sources={"same": (X[:10], X[:10, 0])}),
    ]
    for one in found:
        assert risk_name("squared") in one.answer and "held-out risk" not in str(one)
        assert "held-out risk" not in "".join(panel.up for panel in one.panels)


@pytest.mark.parametrize(("value", "told"), [(0.059, ", within the errors"), (0.2, "")])
def test_a_rise_that_may_be_chance_is_said_to_be(value, told):
    row = {"turns at": 1, "from": 1, "to": 3, "turns": True, "change": "noise", "new loss": None}
    row |= {"least loss": "1", "rise": Uncertain(value, 0.06), "new best at": None}
    answer = length_words.sentence([1, 2, 3], row, np.array([1.0, 2.0, 3.0]), [row], 3, "squared")
    assert f"more at the last checkpoint, 3{told}; unchanged" in answer


def test_no_digit_of_a_wide_table_is_cut_off():
    from theorysim.advise.answer import Advice

    row = {
        "change": "tuned at 0.001", "turns at": 2000.0, "from": 1000.0, "to": 2000.0,
        "predicted": 2000.0, "two-layer": 1000.0, "least loss": Uncertain(0.01117, 0.00055),
        "new loss": Uncertain(0.8214, 0.0084),
    }  # fmt: skip
    shown = str(Advice("length", "x", "Stop.", (row,), tuple(row), (), (), ()))
    words = shown.split()
    for told in ("0.8214", "0.0084", "0.00055", "loss", "2,000", "new"):
        assert told in words, shown
