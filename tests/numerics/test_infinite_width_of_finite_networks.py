"""Wide random networks approach their infinite-width kernels."""

from functools import lru_cache, partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from drawn import one_in

from tests.numerics.quadrature_kernels import exact, normal
from theorysim import infinite_kernels
from theorysim.numerics.infinite_width import (
    Convolution,
    Dense,
    Erf,
    Flatten,
    GlobalAveragePooling,
    Relu,
)
from theorysim.numerics.tangent_kernels import layer_ntks


def parameters(layers, width, channels, positions, key):
    """Standard Gaussian weights and biases of every linear layer, one output."""
    params = []
    for layer in layers:
        if isinstance(layer, Flatten):
            channels *= positions
        if isinstance(layer, Dense | Convolution):
            key, first, second = jax.random.split(key, 3)
            outputs = 1 if layer is layers[-1] else width
            sizes = layer.filter if isinstance(layer, Convolution) else ()
            shape = (*sizes, channels, outputs)
            params.append([jax.random.normal(first, shape), jax.random.normal(second, (outputs,))])
            channels = outputs
    return params


def network(layers, params, x):
    """y = sigma_w/sqrt(fan_in) W x + sigma_b b, activations, and so on; one output."""
    params = iter(params)
    for layer in layers:
        if isinstance(layer, Convolution):
            pads = [((s - 1) // 2, s // 2) for s in layer.filter] + [(0, 0)]
            x = jnp.pad(x, pads, mode="wrap" if layer.padding == "periodic" else "constant")
        if isinstance(layer, Dense | Convolution):
            weight, bias = next(params)
            scale = np.sqrt(layer.weight_variance / np.prod(weight.shape[:-1]))
            x = scale * product(x, weight) + np.sqrt(layer.bias_variance) * jnp.broadcast_to(
                bias, (*(1,) * (x.ndim - 1), *bias.shape)
            )
            x = x.reshape(-1) if isinstance(layer, Dense) else x
        elif isinstance(layer, Relu | Erf):
            x = jax.nn.relu(x) if isinstance(layer, Relu) else jax.scipy.special.erf(x)
        elif isinstance(layer, Flatten):
            x = x.reshape(-1)
        else:
            x = jnp.mean(x, axis=tuple(range(x.ndim - 1)))
    return x


def product(x, weight):
    if weight.ndim == 2:
        return x @ weight
    letters = "NHWC"[: weight.ndim - 1] + "C", "HWI"[: weight.ndim - 2] + "IO"
    numbers = jax.lax.conv_dimension_numbers(
        (1, *x.shape), weight.shape, (letters[0], letters[1], letters[0])
    )
    strides = (1,) * (weight.ndim - 2)
    convolved = jax.lax.conv_general_dilated(
        x[None], weight, strides, "VALID", dimension_numbers=numbers
    )
    return convolved[0]


FINITE = {
    "dense": (
        [Dense(1.8, 1.0), Relu(), Dense(1.5, 0.8), Erf(), Dense(1.2, 0.5)],
        (4,),
    ),
    "image, flattened": (
        [
            Convolution((3, 2), 1.8, 0.3),
            Relu(),
            Convolution((2, 2), 1.5, 0.2),
            Relu(),
            Flatten(),
            Dense(1.2, 0.1),
        ],
        (2, 3, 2),
    ),
    "signal, pooled": (
        [
            Convolution((3,), 1.8, 0.3, "periodic"),
            Erf(),
            Convolution((2,), 1.5, 0.2, "periodic"),
            Relu(),
            GlobalAveragePooling(),
            Dense(1.2, 0.1),
        ],
        (4, 2),
    ),
}
WIDTHS, SEEDS = (64, 256), 48


def finite_inputs(name):
    x = normal(2, *FINITE[name][1], seed=6)
    return jnp.asarray(np.concatenate([x, x[:1] + 0.3 * x[1:]]), jnp.float32)


@lru_cache
def samples(name, width):
    """NNGP and NTK of random finite networks, (SEEDS, 2, 6): the readout's share is the NNGP."""
    layers, shape = FINITE[name]
    inputs, upper = finite_inputs(name), np.triu_indices(3)

    @jax.jit
    def grams(key):
        params = parameters(layers, width, shape[-1], int(np.prod(shape[:-1])), key)
        shares = layer_ntks(partial(network, layers), params, inputs)
        return jnp.stack([shares[str(len(params) - 1)][upper], sum(shares.values())[upper]])

    keys = jax.random.split(jax.random.key(len(name)), SEEDS)
    return np.array([grams(key) for key in keys], float)


def deviations(name, theory):
    """How far the limit of both widths is from the theory, in standard errors, (2, 6).

    Means have an error of c/width, which this extrapolation removes.
    """
    narrow, wide = (samples(name, width) for width in WIDTHS)
    limit = (4 * wide.mean(axis=0) - narrow.mean(axis=0)) / 3
    variance = (16 * wide.var(axis=0, ddof=1) + narrow.var(axis=0, ddof=1)) / 9 / SEEDS
    return (limit - theory) / np.sqrt(variance)


@pytest.mark.parametrize("name", one_in(len(FINITE), FINITE))
def test_wide_networks_approach_the_kernels(name):
    theory = infinite_kernels(FINITE[name][0], finite_inputs(name))
    theory = np.stack([np.asarray(gram, float)[np.triu_indices(3)] for gram in theory])
    # 24 correlated normal variables; one of them beyond 4 has probability below 0.002.
    assert np.max(np.abs(deviations(name, theory))) < 4
    narrow, wide = (samples(name, width).std(axis=0, ddof=1) for width in WIDTHS)
    # Each spread has a relative error of 0.1; a half for four times the width, on average.
    assert np.exp(np.mean(np.log(narrow / wide))) == pytest.approx(2, rel=0.2)
    # What the test could see: standard errors of the mean.
    assert np.max(wide / np.sqrt(SEEDS) / theory) < 0.03


@pytest.mark.parametrize("planted", ["biases not trained", "biases times weights", "two outputs"])
def test_planted_mistakes_are_far_from_finite_networks(planted):
    layers, inputs = FINITE["dense"][0], np.asarray(finite_inputs("dense"))
    pairs = [(inputs[i], inputs[j]) for i, j in zip(*np.triu_indices(3), strict=True)]
    right = np.array([exact(layers, *pair) for pair in pairs], float).T
    assert np.max(np.abs(deviations("dense", right))) < 4
    if planted == "biases not trained":
        wrong = [exact(layers, *pair, bias_is_trained=False) for pair in pairs]
    elif planted == "biases times weights":
        scaled = [
            Dense(v.weight_variance, v.weight_variance * v.bias_variance) if v in layers[::2] else v
            for v in layers
        ]
        wrong = [exact(scaled, *pair) for pair in pairs]
    else:
        wrong = [(value, 2 * tangent) for value, tangent in right.T]
    assert np.max(np.abs(deviations("dense", np.array(wrong, float).T))) > 8
