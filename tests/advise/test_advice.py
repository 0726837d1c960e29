"""The four questions on models whose answer is known, and what their answers say."""

import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from theorysim import advise
from theorysim.advise import record
from theorysim.advise.layer_checks import STRAIGHT
from theorysim.advise.length_choice import inflection
from theorysim.advise.scores import SCORES
from theorysim.advise.source_choice import SCRATCH
from theorysim.advise.strength_choice import trusted
from theorysim.errors import UsageError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 6))
USEFUL = X[:, :2] @ np.array([1.0, -2.0])


def model(params, x):
    """Linear; only the group "useful" sees what the targets are made of."""
    return x[:2] @ params["useful"] + x[2:4] @ params["idle"] + x[4:] @ params["z_head"]


PARAMS = {"useful": jnp.zeros(2), "idle": jnp.zeros(2), "z_head": jnp.zeros(2)}
TASK = {"inputs": X[:30], "targets": USEFUL[:30], "test": (X[30:], USEFUL[30:])}


@pytest.fixture(scope="module")
def layers():
    return advise.layers(
        model, **TASK, params=PARAMS, measure=True, seeds=1, steps=200, rates=(0.05,)
    )


def test_the_group_that_matters_is_advised_and_measured(layers):
    assert layers.choice == "useful" and layers.answer.startswith("Tune useful beside z_head")
    by_name = {row["tuned beside"]: row for row in layers.table}
    assert set(by_name) == {"useful", "idle", "all", "nothing else"}
    assert by_name["useful"]["predicted"].value < 0.01 * by_name["idle"]["predicted"].value
    assert by_name["useful"]["measured"].value < 0.1 * by_name["idle"]["measured"].value


def test_what_the_theory_needs_is_checked(layers):
    met = {check.what: check.met for check in layers.checks}
    assert met["Theorems 5 to 7 are about the squared loss"] is True
    assert met["K is invertible (Theorem 6)"] is False  # 30 rows, rank 2
    assert met[f"the linearisation holds as far as its solution (bend < {STRAIGHT})"] is True
    assert "rank 2" in next(c.told for c in layers.checks if c.what.startswith("K is"))


def test_an_answer_comes_first_and_in_every_form(layers):
    text = str(layers)
    assert text.startswith("Tune useful beside z_head: measured held-out squared error")
    assert text.index("Where the theory applies") < text.index("Notes")
    assert all(len(line) <= 80 for line in text.splitlines())
    data = json.loads(json.dumps(layers.as_json(), allow_nan=False))
    assert data["choice"] == "useful" and set(SCORES) - {"left_out"} <= set(data["table"][0]) | {
        "left out"
    }
    assert "measured ±" in layers.to_dataframe().columns
    (panel,) = layers.figure().axes
    assert [t.get_text() for t in panel.get_xticklabels()] == [
        row["tuned beside"] for row in layers.table
    ]


def test_windows_are_met_where_they_are():
    # Six rows at most, and as many parameters: K of the head is invertible.
    def wide(params, x):
        return x @ params["head"] + 0.1 * (x[:2] @ params["small"])

    params = {"head": jnp.zeros(6), "small": jnp.zeros(2)}
    found = advise.layers(
        wide, X[:30], USEFUL[:30], test=(X[30:], USEFUL[30:]), params=params, base="head", pairs=6,
        candidates={"small": ["small"], "head alone": ["head"]},
    )  # fmt: skip
    row = next(row for row in found.table if row["tuned beside"] == "small")
    assert row["windows met"] is True and row["eta"] < 1
    assert row["window from"] <= row["training ratio"] <= row["window to"]
    assert any("6 of 30 training inputs" in note for note in found.notes)


def test_combinations_of_groups():
    found = advise.layers(model, **TASK, params=PARAMS, base=(), together=2, by="left_out")
    names = {row["tuned beside"] for row in found.table}
    assert {"useful + idle", "useful + z_head", "idle + z_head", "all"} <= names
    assert "useful" in found.choice


def test_a_linear_model_is_trusted_to_the_end_and_weak_pulls_win():
    found = advise.strength(model, **TASK, params=PARAMS, pulls=(0.0, 5.0), steps=60, measure=True)
    assert found.choice == "0"
    free, pulled = found.table
    assert free["trusted to"] == pulled["trusted to"] == 60
    assert free["predicted"].value < pulled["predicted"].value
    assert free["measured"].value == pytest.approx(free["predicted"].value, rel=1e-2)
    assert all(check.met for check in found.checks), [c for c in found.checks if not c.met]


def test_a_model_that_bends_is_trusted_for_a_while_and_less_by_the_bound():
    def bent(params, x):
        return jnp.tanh(x @ params["w"]) @ params["v"]

    keys = jax.random.split(jax.random.key(0))
    start = {"w": 0.5 * jax.random.normal(keys[0], (6, 8)), "v": jax.random.normal(keys[1], (8,))}
    found = advise.strength(
        bent, **{**TASK, "targets": 10 * TASK["targets"]}, params=start, pulls=(0.0, 0.1),
        rate=2e-4, steps=100, measure=True,
    )  # fmt: skip
    row = found.table[0]
    assert 0 < row["trusted to"] < 100
    assert row["bound to"] <= row["trusted to"] <= row["straight to"]
    shares = {series.label: series.y for series in found.panels[1].series}
    for step in (2, 3, 4):  # before the distance itself changes the velocities
        estimate, measured = (shares[f"lambda = 0, {k}"][step] for k in ("estimate", "measured"))
        assert estimate == pytest.approx(measured, rel=0.3), step
    met = {check.what: check.met for check in found.checks}
    assert met["Theorem 3, constants estimated: measured gap below its bound"] is True
    assert met["Theorem 2, constants estimated: measured distance below its bound"] is True


def test_trust_ends_where_the_share_first_exceeds():
    steps = (1, 5, 9)
    assert trusted(np.array([0.1, 0.3, 0.1]), steps) == 1
    assert trusted(np.array([0.1, np.nan, 0.1]), steps) == 1
    assert trusted(np.array([0.3, 0.1, 0.1]), steps) == 0
    assert trusted(np.array([0.1, 0.1, 0.1]), steps) == 9


SOURCES = {
    "the same": (X[:20], USEFUL[:20]),
    "opposite": (X[:20], -USEFUL[:20]),
    "unrelated": (X[:20], X[:20, 5]),
}


def test_the_same_task_is_the_best_source_and_the_opposite_one_the_worst():
    few = {**TASK, "inputs": X[20:30], "targets": USEFUL[20:30]}
    found = advise.transfer(
        model, SOURCES, **few, params=PARAMS, by="start", measure=True, seeds=1, steps=40,
        rates=(0.02,),
    )  # fmt: skip
    assert found.choice == "the same"
    assert [row["source"] for row in found.table][-1] == "opposite"
    by_name = {row["source"]: row for row in found.table}
    assert by_name["the same"]["measured"].value < by_name[SCRATCH]["measured"].value
    # A linear model's start loss after the opposite task: |y - (-y)|^2 = 4 |y|^2.
    ratio = by_name["opposite"]["start loss"] / by_name[SCRATCH]["start loss"]
    assert ratio == pytest.approx(4, rel=1e-2)
    (sign,) = [check for check in found.checks if check.what.startswith("sign rule")]
    assert "of 3 sources" in sign.told


def test_checkpoints_are_sources_too():
    near = {**PARAMS, "useful": jnp.array([1.0, -1.9])}
    far = {**PARAMS, "useful": jnp.array([-1.0, 2.0])}
    found = advise.transfer(
        model, {"near": near, "far": far}, X[:10], USEFUL[:10], params=PARAMS, by="start"
    )
    assert [row["source"] for row in found.table] == ["near", SCRATCH, "far"]


def test_parameters_that_are_a_pair_are_a_checkpoint():
    def pair(params, x):
        return x[:3] @ params[0] + x[3:] @ params[1]

    start = (jnp.zeros(3), jnp.zeros(3))
    found = advise.transfer(
        pair, {"other": (jnp.ones(3), jnp.zeros(3))}, X[:10], USEFUL[:10], params=start, by="start"
    )
    assert all(row["examples"] == 0 for row in found.table)


def test_the_checkpoint_of_least_loss_under_noise():
    """The loss of checkpoint c under noise is |x|^2 s^2 + (c - 2)^2: least at 2 whatever s is."""

    def line(params, x):
        return x[0] * params["w"][0] + params["w"][1]

    checkpoints = {c: {"w": jnp.array([1.0, float(c)])} for c in (0, 1, 2, 3, 4)}
    found = advise.length(
        line, checkpoints, X, X[:, 0] + 2.0, params=checkpoints[0], noises=(1e-3, 2e-3), seeds=3,
        new=(X[:20], X[:20, 0]), rates=(1e-3,), steps=3,
    )  # fmt: skip
    noisy, noisier, tuned = found.table
    assert noisy["turns at"] == noisier["turns at"] == noisy["predicted"] == 2
    assert noisy["from"] == noisy["to"] == 2 and noisy["turns"]
    assert tuned["new best at"] == 0  # the new task is checkpoint 0's
    assert found.choice == "tuned at 0.001"
    assert "Stop at checkpoint 2 (2 to 2 in 3 seeds)" in found.answer
    assert "(the rate of least loss on the new task, of 1 tried)" in found.answer


def test_an_interval_covers_what_seeds_say():
    losses = np.array([[3.0, 1.0, 2.0], [3.0, 2.0, 1.0], [3.0, 1.0, 2.0]])
    assert inflection([10, 20, 30], losses) == (20.0, 20.0, 30.0)


@pytest.mark.parametrize(
    ("question", "given", "message"),
    [
        ("layers", {"base": "nose"}, "base: no group 'nose'; there are useful, idle, z_head"),
        ("layers", {"candidates": [["nose"]]}, "candidates: no group 'nose'"),
        ("layers", {"candidates": [["useful"]]}, "candidates: name two or more"),
        ("layers", {"base": ("useful", "idle", "z_head")}, "nothing is left to choose"),
        ("layers", {"base": (), "by": "eta"}, "by='eta' (eta needs a base)"),
        ("layers", {"together": 0}, "together=0: at least 1"),
        ("layers", {"measure": True, "seeds": 0}, "seeds=0, steps=300"),
        ("strength", {"pulls": (1.0,)}, "give two or more"),
        ("strength", {"pulls": (-1.0, 1.0)}, "pull -1: expected finite numbers"),
        ("strength", {"rate": 1e6}, "rate=1e+06: expected above 0, and up to"),
        ("strength", {"steps": 1}, "steps=1: at least 2"),
        ("transfer", {"sources": {}}, "sources: name one or more"),
        ("transfer", {"sources": SOURCES, "by": "luck"}, "by='luck': expected one of linearised"),
        ("transfer", {"sources": {"s": (X[:, :5], USEFUL)}}, "source s: an input has shape"),
        ("transfer", {"sources": {"s": (X, USEFUL[:9])}}, "60 inputs, 9 targets"),
        (
            "transfer",
            {"sources": {"s": {"w": jnp.ones(2)}}},
            "source s: the model cannot be called",
        ),
        (
            "transfer",
            {"sources": {"s": (X[:20], USEFUL[:20]), "t": PARAMS}},
            "tasks or checkpoints, not both",
        ),
    ],
)
def test_wrong_questions_are_refused_in_one_line(question, given, message):
    with pytest.raises(UsageError) as caught:
        getattr(advise, question)(model, **{**TASK, "params": PARAMS, **given})
    assert message in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"checkpoints": {1: PARAMS, 2: PARAMS}}, "name three or more"),
        (
            {"checkpoints": dict.fromkeys("abc", PARAMS)},
            "tokens, 0 or more; one is 'a'",
        ),
        ({"checkpoints": {c: {"w": 1.0} for c in (1, 2, 3)}}, "checkpoint 1: the model cannot"),
        ({"seeds": 1}, "seeds=1, steps=100: at least 2 and 1"),
        ({"noises": (0.0,)}, "expected numbers above 0"),
    ],
)
def test_wrong_checkpoints_are_refused_in_one_line(given, message):
    right = {"checkpoints": dict.fromkeys((1, 2, 3), PARAMS), "params": PARAMS}
    with pytest.raises(UsageError) as caught:
        advise.length(model, inputs=X, targets=USEFUL, **{**right, **given})
    assert message in str(caught.value) and "\n" not in str(caught.value)


def recorded(mean, low, ahead, trivial=False):
    return {
        "mean": mean, "low": low, "high": 2 * mean - low, "trivial": trivial,
        "ahead": {"mean": sum(ahead) / 2, "low": ahead[0], "high": ahead[1]},
    }  # fmt: skip


RECORDED = {
    "cases": 12,
    "measured": [1],
    "chosen": {"measured": [1]},
    "scores": {
        "eta": recorded(0.2, -0.1, (-0.4, 0.2)),
        "left_out": recorded(0.8, 0.7, (0.2, 0.8)),
        "depth": recorded(0.3, 0.1, (0.0, 0.0), trivial=True),
    },
}


def test_the_score_with_the_best_record_ranks_and_says_whether_it_beats_trivial_ones(monkeypatch):
    monkeypatch.setattr(record, "record", lambda question: RECORDED)
    assert record.winner("layers", ["eta", "left_out", "depth"]) == "left_out"
    assert record.winner("layers", ["eta"]) == "eta"
    assert "it beats the best trivial score, `depth`" in record.told("layers", "left_out")
    assert "it does not surely beat the best trivial" in record.told("layers", "eta")


def test_the_score_is_that_of_the_cases_of_the_choice(monkeypatch):
    """Even where another one does better on those that judge."""
    judged = {**RECORDED, "measured": [2], "order": ["eta", "left_out", "depth"]}
    monkeypatch.setattr(record, "record", lambda question: {**judged, "chosen": {"measured": [1]}})
    assert record.winner("layers", ["left_out", "eta"]) == "eta"
    assert "12 recorded cases, on none of which it was chosen," in record.told("layers", "eta")


def test_without_a_record_the_answer_says_so(monkeypatch):
    monkeypatch.setattr(record, "record", lambda question: {})
    assert record.winner("layers", ["left_out", "eta"]) == "left_out"
    assert "not recorded" in record.told("layers", "left_out")
