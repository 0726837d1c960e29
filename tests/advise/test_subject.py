"""Models of four kinds in one form, their parameters in groups, and what is refused in one line."""

import equinox as eqx
import flax.linen
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from closeness import FEW_SINGLE
from flax import nnx

from theorysim.advise.groups import assign
from theorysim.advise.problem import as_inputs, problem
from theorysim.advise.subject import subject
from theorysim.errors import UsageError

INPUTS = as_inputs(np.random.default_rng(0).normal(size=(6, 4)))


class Nnx(nnx.Module):
    """The layer that is used first comes last in the alphabet."""

    def __init__(self, rngs):
        self.zeroth = nnx.Linear(4, 5, rngs=rngs)
        self.after = nnx.Linear(5, 3, rngs=rngs)
        self.head = nnx.LoRALinear(3, 2, lora_rank=2, rngs=rngs)

    def __call__(self, x):
        return self.head(jnp.tanh(self.after(jnp.tanh(self.zeroth(x)))))


class Linen(flax.linen.Module):
    """Flax numbers layers as they are made, and the last one is made first."""

    @flax.linen.compact
    def __call__(self, x):
        return flax.linen.Dense(2)(jnp.tanh(flax.linen.Dense(5)(x)))


def plain(params, x):
    return jnp.tanh(x @ params["b"]["w"]) @ params["a"]["w"]


PLAIN = {"a": {"w": jnp.ones((5, 2))}, "b": {"w": jnp.full((4, 5), 0.1)}}


def linen_variables():
    return Linen().init(jax.random.key(0), jnp.ones((1, 4)))


def outputs(found):
    return np.asarray(found.batch(found.params, INPUTS))


def test_flax_nnx_with_an_adapter():
    module = Nnx(nnx.Rngs(0))
    found = subject(module, INPUTS)
    np.testing.assert_allclose(outputs(found), module(INPUTS), rtol=FEW_SINGLE, atol=FEW_SINGLE)
    assert found.order == ("zeroth", "after", "head/lora")
    assert sorted(found.params["head/lora"]) == ["head/lora/lora_a", "head/lora/lora_b"]
    assert found.size("zeroth") == 4 * 5 + 5
    assert any("head/kernel" in note for note in found.notes)


def test_flax_linen_and_equinox_and_a_function():
    variables = linen_variables()
    found = subject(Linen(), INPUTS, variables)
    np.testing.assert_allclose(outputs(found), Linen().apply(variables, INPUTS), rtol=FEW_SINGLE)
    assert found.order == ("Dense_1", "Dense_0")
    module = eqx.nn.MLP(4, 2, 5, 1, key=jax.random.key(0))
    found = subject(module, INPUTS)
    np.testing.assert_allclose(
        outputs(found), jax.vmap(module)(INPUTS), rtol=FEW_SINGLE, atol=FEW_SINGLE
    )
    assert found.order == ("layers/0", "layers/1")
    found = subject(plain, INPUTS, PLAIN)
    np.testing.assert_allclose(outputs(found), plain(PLAIN, INPUTS), rtol=FEW_SINGLE)
    assert found.order == ("b", "a"), "in the order of use, not of the alphabet"


def test_a_model_that_needs_a_batch_is_given_one():
    def model(params, x):
        return plain(params, x.reshape(x.shape[0], -1))

    images = INPUTS.reshape(6, 2, 2)
    found = subject(model, images, PLAIN)
    np.testing.assert_allclose(
        found.batch(found.params, images), plain(PLAIN, INPUTS), rtol=FEW_SINGLE
    )


def test_some_groups_alone():
    found = subject(plain, INPUTS, PLAIN).only(("a",))
    assert list(found.params) == ["a"]
    np.testing.assert_allclose(outputs(found), plain(PLAIN, INPUTS), rtol=FEW_SINGLE)


def test_half_precision_is_widened_and_said_so():
    half = jax.tree.map(lambda leaf: leaf.astype(jnp.bfloat16), PLAIN)
    found = subject(plain, INPUTS, half)
    assert {leaf.dtype for leaf in jax.tree.leaves(found.params)} == {jnp.dtype("float32")}
    assert "half precision" in found.notes[0]


def test_what_outputs_do_not_depend_on_is_left_out():
    found = subject(plain, INPUTS, {**PLAIN, "idle": jnp.ones(3)})
    assert found.order == ("b", "a") and "idle" in found.notes[0]


PATHS = [f"blocks/{i}/{part}/kernel" for i in (0, 1) for part in ("q", "v")] + ["head/kernel"]


@pytest.mark.parametrize(
    ("grouping", "groups"),
    [
        (None, ["blocks/0/q", "blocks/0/v", "blocks/1/q", "blocks/1/v", "head"]),
        ("block", ["blocks/0", "blocks/0", "blocks/1", "blocks/1", "head"]),
        ({"queries": "*/q/*", "head": ["head/*"]}, ["queries", None, "queries", None, "head"]),
        (lambda path: path[-8:] and path.split("/")[0], ["blocks"] * 4 + ["head"]),
    ],
)
def test_groupings(grouping, groups):
    assert list(assign(PATHS, grouping).values()) == groups


@pytest.mark.parametrize("style", ["{}/lora_A/weight|{}/lora_B/weight", "{}_lora_a|{}_lora_b"])
def test_a_pair_is_one_adapter_in_other_styles(style):
    pair = style.format("attention/q", "attention/q").split("|")
    found = assign([*pair, "head/w"], None)
    assert found[pair[0]] == found[pair[1]] and found[pair[0]].endswith("lora")
    assert found["head/w"] == "head"


class Dropping(nnx.Module):
    def __init__(self, rngs):
        self.drop = nnx.Dropout(0.5, rngs=rngs)
        self.head = nnx.Linear(4, 2, rngs=rngs)

    def __call__(self, x):
        return self.head(self.drop(x))


def test_training_mode_is_refused_and_evaluation_mode_taken():
    module = Dropping(nnx.Rngs(0))
    with pytest.raises(UsageError, match=r"^drop \(Dropout\) is in training mode: call model.eval"):
        subject(module, INPUTS)
    module.eval()
    assert subject(module, INPUTS).order == ("head",)


def mixing(params, x):
    return plain(params, x - x.mean(0, keepdims=True))


@pytest.mark.parametrize(
    ("model", "params", "options", "message"),
    [
        (plain, None, {}, "a function needs its parameters"),
        (Linen(), None, {}, "a linen needs its parameters"),
        (Linen(), {"w": 1.0}, {}, 'needs its variables, {"params": ...}'),
        (3, {"w": jnp.ones(2)}, {}, "model of type int: expected a module of Flax"),
        (lambda p, x: {"logits": x @ p["w"]}, {"w": jnp.ones((4, 2))}, {}, "returns a dict"),
        (lambda p, x: x @ p["w"], {"w": jnp.ones((3, 2))}, {}, "cannot be called on an input"),
        (lambda p, x: x @ p["w"], {"w": np.ones((4, 2), int)}, {}, "parameter w has type int"),
        (lambda p, x: x @ p["w"], {"w": np.full((4, 2), np.nan)}, {}, "w is not finite"),
        (plain, PLAIN, {"groups": "layers"}, "groups='layers': expected one of layer, block"),
        (plain, PLAIN, {"groups": {"h": "head*"}}, "group 'h': no parameter matches 'head*'"),
        (mixing, PLAIN, {"batched": True}, "depends on the other inputs of its batch"),
        (lambda p, x: x @ p["w"] * 0 + 1.0, {}, {}, "has no parameters"),
    ],
)
def test_wrong_models_are_refused_in_one_line(model, params, options, message):
    with pytest.raises(UsageError) as caught:
        subject(model, INPUTS, params, **options)
    assert message in str(caught.value) and "\n" not in str(caught.value)


TWO = subject(plain, INPUTS, PLAIN)


@pytest.mark.parametrize(
    ("inputs", "targets", "options", "message"),
    [
        (np.ones((9, 4)), np.ones((9, 3)), {}, "targets of shape (9, 3): the model has 2 outputs"),
        (np.ones((9, 4)), np.ones((8, 2)), {}, "targets of shape (8, 2) for 9 inputs"),
        (np.ones((9, 4)), np.arange(9), {}, "targets hold class 2: the model's 2 outputs"),
        (np.ones((9, 4)), np.ones((9, 2)), {"loss": "hinge"}, "loss='hinge'"),
        (np.ones((9, 4)), np.full((9, 2), np.nan), {}, "targets hold NaN"),
        (np.ones((4, 4)), np.ones((4, 2)), {}, "needs 8 and 2"),
        (np.full((9, 4), np.inf), np.ones((9, 2)), {}, "inputs hold NaN or infinity"),
        (np.array([["a"] * 4] * 9), np.ones((9, 2)), {}, "inputs have type <U1"),
        (
            np.ones((9, 4)),
            np.ones((9, 2)),
            {"test": (np.ones((3, 5)), np.ones((3, 2)))},
            "inputs of test have shape [(5,)], inputs [(4,)]",
        ),
    ],
)
def test_wrong_tasks_are_refused_in_one_line(inputs, targets, options, message):
    with pytest.raises(UsageError) as caught:
        problem(TWO, as_inputs(inputs), targets, **options)
    assert message in str(caught.value) and "\n" not in str(caught.value)


def test_double_precision_inputs_are_taken_in_the_model_s():
    assert as_inputs(np.ones((3, 2))).dtype == jnp.float32
    assert as_inputs(np.ones((3, 2), int)).dtype == jnp.int32
