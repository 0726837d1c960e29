"""Sources with a head of their own: shapes, kernels beside Jacobians, steps that are counted."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from closeness import LONG_SINGLE
from drawn import thorough

from theorysim import advise
from theorysim.advise.heads import outputs_needed, taught, with_head
from theorysim.advise.problem import Examples, Problem
from theorysim.advise.source_choice import SCRATCH
from theorysim.advise.subject import subject
from theorysim.errors import UsageError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 4))
OTHERS = RNG.normal(size=(30, 4))


def net(params, x):
    return jnp.tanh(x @ params["body"]) @ params["head"] + params["bias"]


def start(outputs, seed=0):
    keys = jax.random.split(jax.random.key(seed))
    return {
        "body": jax.random.normal(keys[0], (4, 5)),
        "head": jax.random.normal(keys[1], (5, outputs)),
        "bias": jnp.zeros(outputs),
    }


# Kernels of some dozen products in single precision, of numbers of order one.
SINGLE = 1e-4
GROUPS = {"body": "body", "head": ["head", "bias"]}


@pytest.fixture(scope="module")
def found():
    return subject(net, jnp.asarray(X), start(3), GROUPS)


def test_a_new_head_is_drawn_like_the_old_one(found):
    other = with_head(found, "head", 40, X[0], 0)
    assert other.outputs == 40 and other.batch(other.params, X).shape == (40, 40)
    head, old = other.params["head"], found.params["head"]
    assert head["head"].shape == (5, 40) and not head["bias"].any()
    assert float(head["head"].std()) == pytest.approx(float(old["head"].std()), rel=0.15)
    assert other.params["body"] is found.params["body"]


@pytest.mark.parametrize(("head", "outputs"), [thorough("head", 2), ("head", 3), (None, 3)])
def test_what_a_source_teaches_is_a_product_of_jacobians(found, head, outputs):
    other = with_head(found, "head", outputs, X[0], 0) if head else found
    k = other.outputs
    examples = Examples(jnp.asarray(OTHERS), np.zeros((30, k)))
    landmarks = Problem(other, examples, examples, "squared", ()).with_landmarks(
        np.arange(30), 10, 25
    )
    coefficients = RNG.normal(size=(10, k))
    moved = taught(found, head, landmarks, coefficients, jnp.asarray(X))

    def rows(one, inputs, group):
        tree = jax.jacobian(lambda p: one.batch({**one.params, group: p}, inputs).ravel())(
            one.params[group]
        )
        return np.concatenate([a.reshape(a.shape[0], -1) for a in tree.values()], axis=1)

    shared = ["body"] if head else ["body", "head"]
    wanted = sum(
        rows(found, X, g) @ rows(other, OTHERS[:10], g).T @ coefficients.ravel() for g in shared
    )
    np.testing.assert_allclose(moved.ravel(), wanted, rtol=SINGLE, atol=LONG_SINGLE)


def test_how_many_outputs_a_task_needs():
    assert outputs_needed(np.array([0, 6, 2]), "cross-entropy") == 7
    assert outputs_needed(np.zeros((5, 3)), "squared") == 3
    assert outputs_needed(np.zeros(5), "squared") == 1


@pytest.fixture(scope="module")
def answered():
    """A target of 3 classes; sources of 6 and of 2."""
    wanted, others = X[:, :3].argmax(1), OTHERS[:, :3].argmax(1)
    sources = {
        "finer": (OTHERS, 2 * others + (OTHERS[:, 3] > 0)),
        "coarse": (OTHERS, (OTHERS[:, 3] > 0).astype(int)),
    }
    return advise.transfer(
        net, sources, X[:20], wanted[:20], test=(X[20:], wanted[20:]), params=start(3),
        groups=GROUPS, measure=True, seeds=1, steps=60, rates=(0.03,),
    )  # fmt: skip


def test_a_source_with_more_classes_has_a_head_of_its_own(answered):
    notes = " ".join(answered.notes)
    assert "source finer has a head of its own (6 outputs), replaced by the head of" in notes
    assert "source coarse" not in notes  # its two classes fit the outputs that are there
    rows = {row["source"]: row for row in answered.table}
    assert np.isfinite([row["start loss"] for row in rows.values()]).all()
    assert np.isfinite([row["measured"].value for row in rows.values()]).all()
    assert rows["finer"]["start loss"] != pytest.approx(rows[SCRATCH]["start loss"], rel=1e-3)
    assert any("within a factor of 2" in check.what for check in answered.checks)


def test_checkpoints_with_another_head_keep_the_rest():
    keys = jax.random.split(jax.random.key(0), 2)
    model = eqx.nn.MLP(4, 3, 8, 1, activation=jnp.tanh, key=keys[0])
    other = eqx.nn.MLP(4, 10, 8, 1, activation=jnp.tanh, key=keys[1])
    same = eqx.tree_at(lambda m: m.layers[0], model, other.layers[0])
    wanted = X[:, :3].argmax(1)
    found = advise.transfer(model, {"ten": other, "same": same}, X, wanted)
    rows = {row["source"]: row for row in found.table}
    for column in ("start loss", "movement", "left out"):
        assert rows["ten"][column] == pytest.approx(rows["same"][column], rel=1e-5)
    assert rows["ten"]["start loss"] != pytest.approx(rows[SCRATCH]["start loss"], rel=1e-3)
    assert any("source ten has a head of its own (10 outputs)" in note for note in found.notes)


def test_a_linear_model_takes_as_many_steps_as_predicted():
    def linear(params, x):
        return x @ params["w"]

    targets = X @ np.array([1.0, -2.0, 0.5, 0.0])
    sources = {"half": (OTHERS, OTHERS @ np.array([0.5, -1.0, 0.25, 0.0]))}
    found = advise.transfer(
        linear, sources, X, targets, params={"w": jnp.zeros(4)}, measure=True, seeds=1, steps=400,
        rates=(0.03,),
    )  # fmt: skip
    for row in found.table:
        assert abs(row["steps"] - row["measured steps"]) <= 1, row
    assert found.table[0]["steps"] < found.table[-1]["steps"]


def fixed(params, x):
    return jnp.tanh(x @ params["body"])[..., :3]


@pytest.mark.parametrize(
    ("model", "params", "given", "message"),
    [
        (net, start(3), {"head": "nose"}, "head: no group 'nose'; there are"),
        (net, start(3), {"head": 3}, "head=3: expected a name as a string"),
        (
            fixed,
            {"body": jnp.ones((4, 5))},
            {},
            "source s: the model cannot be given 7 outputs by its group body alone (it has 3)",
        ),
    ],
)
def test_wrong_heads_are_refused_in_one_line(model, params, given, message):
    source = {"s": (OTHERS, np.arange(30) % 7)}
    with pytest.raises(UsageError) as caught:
        advise.transfer(model, source, X, X[:, :3].argmax(1), params=params, **given)
    assert message in str(caught.value) and "\n" not in str(caught.value)
