"""The order of work of tangent kernels: operations are counted on the compiled programs."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from closeness import FEW_DOUBLE

import theorysim
from theorysim.numerics import tangent_kernels, tangent_work
from theorysim.numerics.tangent_work import empirical_ntk

pytestmark = pytest.mark.usefixtures("x64")


def normal(*shape, seed=0):
    return jnp.asarray(np.random.default_rng(seed).standard_normal(shape))


@jax.jit
def tanh_layers(params, x):
    """One output of a sequence."""
    for weight in params:
        x = jnp.tanh(x @ weight)
    return x.mean()


@jax.jit
def plain(params, inputs):
    """J J^T of `tanh_layers` with the whole Jacobian in memory."""
    rows = jax.vmap(jax.grad(tanh_layers), (None, 0))(params, inputs)
    flat = jnp.concatenate([row.reshape(len(inputs), -1) for row in rows], axis=1)
    return flat @ flat.T


@pytest.mark.parametrize("count", range(1, 40))
@pytest.mark.parametrize("most", [1, 2, 3, 7, 50])
def test_blocks_of_one_length_hold_all_with_less_than_a_row_to_spare(count, most):
    length = tangent_work._even(count, most)
    blocks = -(-count // length)
    assert length <= most and blocks == -(-count // most) and blocks * length - count < blocks


def test_long_sequences_take_no_more_operations_than_the_jacobian():
    """Of 24 positions, where rows cost less than their factors."""
    width, positions, samples = 32, 24, 64
    weights = [normal(width, width, seed=seed) for seed in range(3)]
    inputs = normal(samples, positions, width)

    def operations(program, *arguments):
        return program.lower(*arguments).compile().cost_analysis()["flops"]

    ours = operations(tangent_work._grams, tanh_layers, weights, inputs, None, None, (0, 0, 0))
    assert ours < 1.1 * operations(plain, weights, inputs)


def test_inner_products_of_a_bias_and_its_layer_are_computed_once():
    """As in a kernel written by hand."""
    width, samples = 128, 32
    params = [(normal(8, width), normal(width)), (normal(width, width), normal(width))]

    def model(params, x):
        for weight, bias in params:
            x = jnp.tanh(x @ weight + bias)
        return x.sum()

    def operations(grams):
        program = grams.lower(model, params, normal(samples, 8), None, None, (0,) * 4).compile()
        return program.cost_analysis()["flops"]

    saved = operations(tangent_kernels._grams) - operations(tangent_work._grams)
    products_of_biases = 2 * samples**2 * 2 * width
    assert saved > 0.9 * products_of_biases


def test_the_public_kernel_is_the_one_of_least_work():
    assert theorysim.empirical_ntk is tangent_work.empirical_ntk


def test_kernels_are_vectorised_over_parameters():
    weights, inputs = [normal(2, 4, 4, seed=1), normal(2, 4, 4, seed=2)], normal(5, 3, 4)
    found = jax.jit(jax.vmap(lambda p: empirical_ntk(tanh_layers, p, inputs)))(weights)
    for number, gram in enumerate(found):
        truth = plain([weight[number] for weight in weights], inputs)
        np.testing.assert_allclose(gram, truth, rtol=0, atol=FEW_DOUBLE * np.max(np.abs(truth)))


def test_data_that_are_one_constant_make_no_garbage():
    """XLA folds them into the products of features, if it may."""
    params, inputs = {"w": normal(9, 4, seed=1)}, normal(5, 9, seed=2)

    def model(params, x):
        return jnp.tanh(jnp.ones((4, 9)) @ params["w"] @ jnp.diag(x[:4])).mean(0)

    agrees_with_the_jacobian(model, params, inputs)


@pytest.mark.parametrize("mode", ["fill", "drop", "clip"])
def test_tokens_outside_of_their_table_use_no_row_of_it(mode):
    """Padding, which is filled in or dropped; clipped tokens use the row they get."""
    params = {"table": normal(11, 6, seed=3)}
    tokens = jnp.array([[1, 2, 13], [4, 5, 14], [-12, 2, 10]])

    def model(params, x):
        return jnp.tanh(params["table"].at[x].get(mode=mode, fill_value=0.3)).sum(0)

    agrees_with_the_jacobian(model, params, tokens)


def agrees_with_the_jacobian(model, params, inputs):
    (rows,) = jax.tree.leaves(jax.jit(jax.vmap(jax.jacrev(model), (None, 0)))(params, inputs))
    dense = np.asarray(rows).reshape(*rows.shape[:2], -1)
    truth = np.einsum("nkp,mlp->nmkl", dense, dense)
    for block in (None, 2):
        found = empirical_ntk(model, params, inputs, block=block)
        np.testing.assert_allclose(found, truth, rtol=0, atol=FEW_DOUBLE * np.max(np.abs(truth)))


@pytest.mark.parametrize(
    ("params", "count", "block", "told"),
    [
        ({}, 3, None, "hold no array"),
        ({"w": jnp.ones((2, 2))}, 0, None, "no inputs"),
        ({"w": jnp.ones((2, 2))}, 3, 0, "block=0"),
        ({"w": jnp.ones((2, 2))}, 3, -1, "block=-1"),
    ],
)
def test_what_makes_no_kernel_is_refused(params, count, block, told):
    with pytest.raises(ValueError, match=told):
        empirical_ntk(lambda p, x: x @ p["w"], params, jnp.ones((count, 2)), block=block)
