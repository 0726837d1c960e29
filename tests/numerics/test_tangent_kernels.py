"""Empirical tangent kernels against the plain Jacobian, for models of many kinds."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

from theorysim import empirical_ntk
from theorysim.numerics import tangent_kernels
from theorysim.numerics.tangent_kernels import layer_ntks

KEY = jax.random.key(0)
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
    return jax.random.normal(jax.random.fold_in(KEY, seed), shape, dtype)


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


MODELS = {"dense": dense, "convolution": convolution, "shared": shared, "jitted": jitted_layers}


@pytest.mark.parametrize("name", MODELS)
def test_kernels_are_those_of_the_plain_jacobian(name):
    model, params = MODELS[name]()
    inputs, others = normal(7, 5, seed=3), normal(4, 5, seed=4)
    for pair in ((inputs, None), (inputs, others)):
        truth = plain(model, params, *pair)
        found = empirical_ntk(model, params, *pair)
        np.testing.assert_allclose(found, truth, rtol=0, atol=1e-12 * np.max(np.abs(truth)))


@pytest.mark.parametrize("dtype", SHARPNESS)
def test_both_precisions(dtype):
    model, params = dense(dtype, outputs=1)
    inputs = normal(9, 5, dtype=dtype, seed=3)
    found = empirical_ntk(model, params, inputs)
    assert found.dtype == dtype and found.shape == (9, 9)
    wide = jax.tree.map(lambda leaf: leaf.astype(jnp.float64), (params, inputs))
    truth = plain(model, *wide)
    np.testing.assert_allclose(found, truth, rtol=0, atol=SHARPNESS[dtype] * np.max(np.abs(truth)))


@pytest.mark.parametrize("block", [1, 2, 3, 7, 20])
def test_blocks_change_nothing(block):
    model, params = convolution()
    inputs, others = normal(7, 5, seed=3), normal(4, 5, seed=4)
    whole = empirical_ntk(model, params, inputs, others)
    found = empirical_ntk(model, params, inputs, others, block=block)
    np.testing.assert_allclose(found, whole, rtol=1e-13, atol=1e-13)


def test_dense_weights_are_found_and_others_are_not():
    model, params = shared()
    features = jax.eval_shape(tangent_kernels._feature_map(model, params, normal(2, 5)), normal(5))
    names = sorted(params)
    assert {names[leaf] for leaf in features.activations} == {"transposed"}
    assert {names[leaf] for leaf in features.rows} == set(names) - {"transposed"}


def test_layers_add_up_and_have_names():
    model, params = dense()
    inputs = normal(6, 5)
    layers = layer_ntks(model, params, inputs)
    assert list(layers) == ["0", "1", "2"]
    np.testing.assert_allclose(sum(layers.values()), empirical_ntk(model, params, inputs))
    last = [params[2]]
    frozen = plain(lambda tuned, x: model([*params[:2], *tuned], x), last, inputs)
    np.testing.assert_allclose(layers["2"], frozen, rtol=1e-12, atol=1e-12)


def test_memory_does_not_grow_with_parameters_times_inputs():
    width, samples = 256, 512
    params = [normal(8, width), normal(width, width), normal(width, 1)]
    inputs = normal(samples, 8)

    def model(params, x):
        return (jnp.tanh(jnp.tanh(x @ params[0]) @ params[1]) @ params[2])[0]

    program = tangent_kernels._compiled_leaf_grams.lower(model, params, inputs, None, None)
    used = program.compile().memory_analysis().temp_size_in_bytes
    jacobian = 8 * samples * sum(leaf.size for leaf in params)
    assert used < jacobian / 20


def test_large_rows_are_blocked(monkeypatch):
    monkeypatch.setattr(tangent_kernels, "BLOCK_BYTES", 10_000)
    model, params = convolution()
    inputs = normal(9, 5, seed=5)
    features = jax.vmap(tangent_kernels._feature_map(model, params, inputs))
    assert tangent_kernels._fitting(features, jnp.tile(inputs, (20, 1))) < 180
    truth = plain(model, params, inputs)
    np.testing.assert_allclose(
        empirical_ntk(model, params, inputs), truth, rtol=0, atol=1e-12 * np.max(np.abs(truth))
    )


def test_gradients_pass_through():
    model, params = dense(outputs=1)
    inputs = normal(4, 5)
    smooth = lambda p, x: jnp.tanh(model(p, x))  # noqa: E731
    ours = jax.jit(jax.grad(lambda p: jnp.sum(empirical_ntk(smooth, p, inputs) ** 2)))(params)
    truth = jax.jit(jax.grad(lambda p: jnp.sum(plain(smooth, p, inputs) ** 2)))(params)
    for a, b in zip(jax.tree.leaves(ours), jax.tree.leaves(truth), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9 * np.max(np.abs(b)))


def test_integers_are_no_parameters():
    with pytest.raises(ValueError, match="int"):
        empirical_ntk(lambda p, x: p["w"] * x, {"w": jnp.arange(3)}, normal(2, 3))


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
        empirical_ntk(model, params, made(inputs), None if others is None else made(others))
