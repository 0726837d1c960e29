"""Empirical tangent kernels against the plain Jacobian, for models of many kinds."""

from functools import cache, partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from closeness import FEW_DOUBLE
from drawn import one_in, thorough
from jax.flatten_util import ravel_pytree

from theorysim.numerics import tangent_features, tangent_grams, tangent_kernels, tangent_work
from theorysim.numerics.tangent_features import feature_map

# That of the statements, and that of all others.
OURS = (tangent_kernels, tangent_work)
IDS = ["statements", "work"]
EITHER = pytest.mark.parametrize("ours", OURS, ids=IDS)
SHARPNESS = {jnp.float32: 1e-6, jnp.float64: 1e-12}

pytestmark = pytest.mark.usefixtures("x64")


@partial(jax.jit, static_argnums=0)
def plain(model, params, inputs, others=None):
    """J J^T with the whole Jacobian in memory."""
    flat, unravel = ravel_pytree(params)

    def jacobian(x):
        return jax.jacrev(lambda p: jnp.ravel(model(unravel(p), x)))(flat)

    left = jax.vmap(jacobian)(inputs)
    right = left if others is None else jax.vmap(jacobian)(others)
    gram = jnp.einsum("iap,jbp->ijab", left, right, precision="highest")
    return gram[:, :, 0, 0] if gram.shape[2] == 1 else gram


def normal(*shape, dtype=jnp.float64, seed=0):
    """Drawn by NumPy, which compiles nothing for a shape."""
    return jnp.asarray(np.random.default_rng(seed).standard_normal(shape), dtype)


def dense(dtype=jnp.float64, outputs=3):
    layers = [
        (normal(a, b, dtype=dtype, seed=a), normal(b, dtype=dtype))
        for a, b in ((5, 8), (8, 8), (8, outputs))
    ]

    def model(params, x):
        for weight, bias in params[:-1]:
            x = jax.nn.relu(x @ weight + bias)
        return x @ params[-1][0] + params[-1][1]

    return model, layers


def convolution():
    def model(params, x):
        signal = jax.lax.conv_general_dilated(
            x[None, None, :], params["filter"], (1,), "SAME", precision="highest"
        )
        return jnp.tanh(signal[0]).mean(axis=1) @ params["head"]

    return model, {"filter": normal(4, 1, 3), "head": normal(4, 2)}


def shared():
    """One matrix used twice, one transposed, one in a loop, one scaled, one looked at."""

    def model(params, x):
        x = jnp.tanh(params["twice"] @ jnp.tanh(params["twice"] @ x))
        x = jnp.dot(x, params["transposed"].T)
        x, _ = jax.lax.scan(lambda x, _: (jnp.tanh(x @ params["loop"]), None), x, length=2)
        x = x @ (params["scaled"] / 3)
        return x @ params["seen"] + jnp.sum(params["seen"]) + jnp.vdot(x, params["free"])

    return model, {
        "twice": normal(5, 5),
        "transposed": normal(6, 5),
        "loop": normal(6, 6),
        "scaled": normal(6, 4),
        "seen": normal(4, 2),
        "free": normal(4),
    }


def jitted_layers():
    """Layers of equal shape inside one cached inner function."""
    layer = jax.jit(lambda weight, x: jnp.tanh(weight @ x))

    def model(params, x):
        return jnp.sum(layer(params[1], layer(params[0], x)))

    return model, [normal(5, 5, seed=1), normal(5, 5, seed=2)]


def attention(params, x):
    """Two heads over the positions of x."""
    query, keys, values = (jnp.einsum("sd,dhc->hsc", x, params["heads"][i]) for i in range(3))
    weights = jax.nn.softmax(jnp.einsum("hsc,htc->hst", query, keys) / 2, axis=-1)
    return jnp.einsum("hst,htc,hcd->sd", weights, values, params["out"])


def normalised(x, scale):
    centred = x - x.mean(axis=-1, keepdims=True)
    return scale[None] * centred / jnp.sqrt(jnp.square(centred).mean(axis=-1, keepdims=True) + 1e-5)


def transformer():
    """Of tokens, with embedded positions, layer norms, and blocks that are scanned."""
    blocks = {
        "attention": {"heads": normal(2, 3, 6, 2, 3, seed=8), "out": normal(2, 2, 3, 6, seed=9)},
        "up": normal(2, 6, 7, seed=10),
        "down": normal(2, 7, 6, seed=11),
        "scale": jnp.ones((2, 6)),
    }

    def block(x, params):
        x = x + attention(params["attention"], normalised(x, params["scale"]))
        return x + jax.nn.gelu(x @ params["up"]) @ params["down"], None

    def model(params, x):
        tokens = jnp.abs(jnp.round(3 * x)).astype(jnp.int32) % 9
        embedded = params["tokens"][tokens] + params["positions"]
        return jax.lax.scan(block, embedded, params["blocks"])[0].mean(axis=0) @ params["head"]

    return model, {
        "tokens": normal(9, 6, seed=12),
        "positions": normal(5, 6, seed=13),
        "blocks": blocks,
        "head": normal(6, 2, seed=14),
    }


def image():
    """Two strided and dilated convolutions of channels last, one of a transposed filter."""
    dimensions = ("NHWC", "HWIO", "NHWC")

    def model(params, x):
        picture = jnp.stack([jnp.outer(x, x), jnp.outer(jnp.sin(x), x)], axis=-1)[None]
        first = jax.lax.conv_general_dilated(
            picture, params["first"], (1, 2), "SAME", dimension_numbers=dimensions
        )
        second = jax.lax.conv_general_dilated(
            jnp.tanh(first),
            params["second"].T,
            (3, 2),
            [(1, 1), (0, 2)],
            rhs_dilation=(2, 1),
            dimension_numbers=dimensions,
        )
        return jnp.tanh(second).mean(axis=(0, 1, 2))

    return model, {"first": normal(3, 2, 2, 4), "second": normal(3, 4, 2, 2)}


def adapters():
    """x (W + 2 A B) with W frozen, and (W - A B / 3) x with W tuned, over positions."""
    frozen = normal(5, 4, seed=20)

    def model(params, x):
        hidden = jnp.tanh(jnp.outer(x, x) @ (frozen + 2.0 * (params["a"] @ params["b"])))
        full = params["w"] - params["c"] @ params["d"] / 3
        return jnp.sum(jnp.tanh(full @ hidden.T), axis=1)

    shapes = {"a": (5, 2), "b": (2, 4), "w": (3, 4), "c": (3, 1), "d": (1, 4)}
    return model, {name: normal(*shape, seed=ord(name)) for name, shape in shapes.items()}


def recurrent():
    """A loop over the input, backwards, and one too long to be run step by step."""

    def model(params, x):
        def step(state, entry):
            return jnp.tanh(params["state"] @ state + entry * params["entry"]), state

        state, states = jax.lax.scan(step, jnp.ones(4), x, reverse=True)
        long = jax.lax.fori_loop(0, 70, lambda _, s: jnp.tanh(s @ params["long"]), state)
        return states @ params["head"] + jnp.sum(long)

    return model, {
        "state": normal(4, 4),
        "entry": normal(4),
        "long": normal(4, 4, seed=1),
        "head": normal(4, 2),
    }


def tied():
    """One table that is looked up and multiplied by."""

    def model(params, x):
        tokens = jnp.where(x > 0, 1, 4)
        return jnp.tanh(params[tokens]).mean(axis=0) @ params.T

    return model, normal(6, 3)


MODELS = {
    "dense": dense,
    "convolution": convolution,
    "shared": shared,
    "jitted": jitted_layers,
    "transformer": transformer,
    "image": image,
    "adapters": adapters,
    "recurrent": recurrent,
    "tied": tied,
}


def pairs():
    """Seven inputs beside each other, and beside four others."""
    return (normal(7, 5, seed=3), None), (normal(7, 5, seed=3), normal(4, 5, seed=4))


@cache
def truths(name):
    """What the plain Jacobian gives of a model for both pairs."""
    model, params = MODELS[name]()
    return [np.asarray(plain(model, params, *pair)) for pair in pairs()]


def assert_true(name, found):
    """The kernels of both pairs, to within rounding."""
    for gram, truth in zip(found, truths(name), strict=True):
        assert_near(gram, truth)


def assert_near(gram, truth):
    """To within rounding of the largest entry."""
    np.testing.assert_allclose(gram, truth, rtol=0, atol=FEW_DOUBLE * np.max(np.abs(truth)))


@EITHER
@pytest.mark.parametrize("name", one_in(3, MODELS))
def test_kernels_are_those_of_the_plain_jacobian(name, ours):
    model, params = MODELS[name]()
    assert_true(name, [ours.empirical_ntk(model, params, *pair) for pair in pairs()])


@EITHER
@pytest.mark.parametrize("dtype", one_in(2, SHARPNESS))
def test_both_precisions(dtype, ours):
    model, params = dense(dtype, outputs=1)
    inputs = normal(9, 5, dtype=dtype, seed=3)
    found = ours.empirical_ntk(model, params, inputs)
    assert found.dtype == dtype and found.shape == (9, 9)
    wide = jax.tree.map(lambda leaf: leaf.astype(jnp.float64), (params, inputs))
    truth = plain(model, *wide)
    np.testing.assert_allclose(found, truth, rtol=0, atol=SHARPNESS[dtype] * np.max(np.abs(truth)))


@EITHER
@pytest.mark.parametrize("block", [thorough(1), thorough(2), 3, thorough(7), 20])
def test_blocks_change_nothing(block, ours):
    model, params = convolution()
    inputs, others = normal(7, 5, seed=3), normal(4, 5, seed=4)
    whole = ours.empirical_ntk(model, params, inputs, others)
    found = ours.empirical_ntk(model, params, inputs, others, block=block)
    np.testing.assert_allclose(found, whole, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize(
    ("name", "others"),
    [
        ("dense", {"[0][1]", "[1][1]", "[2][1]"}),
        ("convolution", {"['filter']"}),
        ("shared", {"['seen']", "['free']"}),
        ("transformer", {"['positions']", "['blocks']['scale']"}),
        ("image", {"['first']"}),
        ("adapters", set()),
        ("recurrent", {"['entry']", "['long']"}),
        ("tied", {""}),
    ],
)
def test_weights_are_found_and_others_are_not(name, others):
    model, params = MODELS[name]()
    plan = feature_map(model, params, normal(2, 5)).plan
    paths = [path for path, _ in jax.tree_util.tree_flatten_with_path(params)[0]]
    names = [jax.tree_util.keystr(path) for path in paths]
    assert {path for leaf, path in enumerate(names) if leaf not in plan.leaves} == others


@pytest.mark.parametrize(
    ("name", "ours"),
    [
        ("transformer", tangent_work),
        ("adapters", tangent_kernels),
        thorough("transformer", tangent_kernels),
        thorough("adapters", tangent_work),
        *(thorough(name, ours) for name in ("image", "dense") for ours in OURS),
    ],
    ids=lambda part: getattr(part, "__name__", part).removeprefix("theorysim.numerics."),
)
@pytest.mark.parametrize(
    ("way", "numbers"), [("factors", 1), ("slices", 1), thorough("factors", 300)]
)
def test_every_way_to_contract_gives_the_same(name, way, numbers, ours, monkeypatch):
    """With intermediate arrays of any size, where all weights are kept as factors.

    Beside other inputs: beside themselves, half of the same blocks are contracted.
    """
    monkeypatch.setattr(tangent_grams, "_is_sliced", lambda *_: way == "slices")
    monkeypatch.setattr(tangent_grams, "NUMBERS", numbers)
    monkeypatch.setattr(tangent_features, "_is_smaller", lambda *_: True)
    model, params = MODELS[name]()
    fresh = lambda params, x: model(params, x)  # noqa: E731  compiled with these settings
    assert_near(ours.empirical_ntk(fresh, params, *pairs()[1]), truths(name)[1])


@EITHER
def test_layers_add_up_and_have_names(ours):
    model, params = dense()
    inputs = normal(6, 5)
    layers = ours.layer_ntks(model, params, inputs)
    assert list(layers) == ["0", "1", "2"]
    np.testing.assert_allclose(sum(layers.values()), ours.empirical_ntk(model, params, inputs))
    last = [params[2]]
    frozen = plain(lambda tuned, x: model([*params[:2], *tuned], x), last, inputs)
    np.testing.assert_allclose(layers["2"], frozen, rtol=1e-12, atol=1e-12)


@EITHER
def test_memory_does_not_grow_with_parameters_times_inputs(ours):
    width, samples = 256, 512
    params = [normal(8, width), normal(width, width), normal(width, 1)]
    inputs = normal(samples, 8)

    def model(params, x):
        return (jnp.tanh(jnp.tanh(x @ params[0]) @ params[1]) @ params[2])[0]

    program = ours._grams.lower(model, params, inputs, None, None, (0, 0, 0))
    used = program.compile().memory_analysis().temp_size_in_bytes
    jacobian = 8 * samples * sum(leaf.size for leaf in params)
    assert used < jacobian / 20


@EITHER
def test_large_rows_are_blocked(ours, monkeypatch):
    monkeypatch.setattr(ours, "BLOCK_BYTES", 10_000)
    model, params = convolution()
    inputs = normal(9, 5, seed=5)
    features = jax.vmap(feature_map(model, params, inputs).features)
    most = ours._fitting if ours is tangent_kernels else ours._most
    assert most(features, jnp.tile(inputs, (20, 1))) < 180
    truth = plain(model, params, inputs)
    np.testing.assert_allclose(
        ours.empirical_ntk(model, params, inputs),
        truth,
        rtol=0,
        atol=FEW_DOUBLE * np.max(np.abs(truth)),
    )


@pytest.mark.parametrize("ours", [thorough(tangent_kernels), tangent_work], ids=IDS)
def test_gradients_pass_through(ours):
    model, params = dense(outputs=1)
    inputs = normal(4, 5)
    smooth = lambda p, x: jnp.tanh(model(p, x))  # noqa: E731
    found = jax.jit(jax.grad(lambda p: jnp.sum(ours.empirical_ntk(smooth, p, inputs) ** 2)))(params)
    truth = jax.jit(jax.grad(lambda p: jnp.sum(plain(smooth, p, inputs) ** 2)))(params)
    for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(truth), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9 * np.max(np.abs(b)))


def test_integers_are_no_parameters():
    with pytest.raises(ValueError, match="int"):
        tangent_work.empirical_ntk(lambda p, x: p["w"] * x, {"w": jnp.arange(3)}, normal(2, 3))


@pytest.mark.parametrize(
    ("inputs", "others"),
    [((4, 5), (3, 6)), ((), None), (((4, 5), (3, 5)), None)],
    ids=["other widths", "no axis", "two lengths"],
)
def test_inputs_that_are_no_stack_are_named(inputs, others):
    def made(shapes):
        several = shapes and isinstance(shapes[0], tuple)
        return [jnp.ones(s) for s in shapes] if several else jnp.ones(shapes)

    model, params = dense(outputs=1)
    with pytest.raises(ValueError, match="inputs of shapes"):
        tangent_work.empirical_ntk(
            model, params, made(inputs), None if others is None else made(others)
        )
