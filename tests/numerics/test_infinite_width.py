"""Infinite-width kernels against quadrature and many digits."""

from functools import partial

import jax
import jax.numpy as jnp
import mpmath as mp
import numpy as np
import pytest
from drawn import thorough

from tests.numerics.quadrature_kernels import (
    DIGITS,
    dual,
    erf_by_quadrature,
    exact,
    exact_grams,
    normal,
    relu_by_quadrature,
)
from theorysim import infinite_kernels
from theorysim.numerics import infinite_checks, infinite_width, kernels
from theorysim.numerics.infinite_width import (
    Convolution,
    Dense,
    Erf,
    Flatten,
    GlobalAveragePooling,
    Relu,
)

EPS = float(np.finfo(np.float64).eps)


def assert_exact(layers, inputs, others, rtol, dtype=jnp.float64):
    given = [jnp.asarray(v, dtype) for v in (inputs, others)]
    found = infinite_kernels(layers, *given)
    truths = exact_grams(layers, *given)
    for gram, truth in zip(found, truths, strict=True):
        assert gram.dtype == dtype
        np.testing.assert_allclose(gram, truth, rtol=rtol, atol=0)


def hard_inputs():
    """Rows beside which the others are far, near, scaled, antipodal, nearly so, and zero."""
    x = np.array([[1.0, -0.5, 0.25]])
    near, far = normal(3, seed=1), normal(3, seed=2)
    rows = [x[0], x[0] + 1e-8 * near, 3 * x[0], 3 * x[0] + 1e-8 * near, (1 + 1e-8) * x[0]]
    return x, np.stack([*rows, -x[0], 1e-3 * near - x[0], 2 * far, far / 9, 0 * far])


@pytest.mark.parametrize("activation", [Relu(), Erf()])
@pytest.mark.parametrize("bias", [thorough(0.0), 0.3])
def test_one_layer_is_the_quadrature(x64, activation, bias):
    inputs, others = hard_inputs()
    found = infinite_kernels(
        [Dense(1.7, bias), activation, Dense(1.0)], *map(jnp.asarray, (inputs, others))
    )
    rule = relu_by_quadrature if isinstance(activation, Relu) else erf_by_quadrature
    with mp.workdps(DIGITS):
        rows = np.vectorize(mp.mpf, otypes=[object])(np.concatenate([inputs, others]))
        gram = mp.mpf(1.7) / 3 * (rows @ rows.T) + mp.mpf(bias)
        lengths = [mp.sqrt(gram[i, i]) for i in range(len(rows))]
        for j in range(1, len(rows)):
            product = lengths[0] * lengths[j]
            theta = mp.acos(gram[0, j] / product) if product else mp.pi
            value, slope = rule(lengths[0], lengths[j], theta)
            scale = float(product) or 1.0
            assert found.nngp[0, j - 1] == pytest.approx(float(value), rel=0, abs=8 * EPS * scale)
            tangent = float(value + slope * gram[0, j])
            assert found.tangent[0, j - 1] == pytest.approx(tangent, rel=0, abs=16 * EPS * scale)


def test_the_many_digits_are_those_of_the_quadrature():
    for p, q, theta in [(0.3, 2.0, 0.4), (1.2, 1.1, 2.9), (0.8, 0.8, 1e-5)]:
        xy = mp.mpf(p) * q * mp.cos(theta)
        for layer, rule in ((Relu(), relu_by_quadrature), (Erf(), erf_by_quadrature)):
            found = dual(layer, mp.mpf(p) ** 2, xy, mp.mpf(q) ** 2)
            expected = rule(mp.mpf(p), mp.mpf(q), mp.mpf(theta))
            # Here with 15 digits: arccos keeps half of them.
            for ours, truth in zip(found, expected, strict=True):
                assert float(ours) == pytest.approx(float(truth), rel=1e-10)


DEEP = {
    "relu": [Dense(2.0), Relu(), Dense(2.0), Relu(), Dense(2.0)],
    "relu with biases": [Dense(1.5, 0.3), Relu(), Dense(1.8, 0.1), Relu(), Dense(1.2, 0.7)],
    "erf": [Dense(1.5, 0.3), Erf(), Dense(1.8, 0.1), Erf(), Dense(1.2, 0.7)],
    "erf, then relu": [Dense(1.5, 0.1), Erf(), Dense(1.8, 0.2), Relu(), Dense(1.2, 0.7)],
    "twelve": [*[Dense(2.0, 0.05), Relu()] * 12, Dense()],
}


@pytest.mark.parametrize(
    "name", [*map(thorough, ("relu", "erf", "twelve")), "relu with biases", "erf, then relu"]
)
def test_deep_networks_keep_their_digits(x64, name):
    """Also where inputs differ by 1e-8, in angle, in length, or in both."""
    inputs, others = hard_inputs()
    assert_exact(DEEP[name], inputs, others, rtol=4 * len(DEEP[name]) * EPS)


@pytest.mark.parametrize("name", [thorough("relu with biases"), "erf, then relu"])
def test_single_precision_keeps_its_digits(name):
    x = normal(1, 3, seed=3)
    others = np.concatenate([x, x + 1e-4 * normal(2, 3, seed=4), normal(2, 3, seed=5), 2 * x])
    assert_exact(DEEP[name], x, others, 16 * float(np.finfo(np.float32).eps), jnp.float32)


def test_two_layers_are_the_kernels_of_the_hidden_and_of_the_outer_weights(x64):
    x, y = jnp.asarray(normal(4, 5)), jnp.asarray(normal(3, 5, seed=1))
    nngp, tangent = infinite_kernels([Dense(3.0), Relu(), Dense(0.7)], x, y)
    factor = 3.0 / 5 * 0.7
    outer, hidden = (
        np.asarray(jax.jit(gram)(x, y)) for gram in (kernels.activation_gram, kernels.tangent_gram)
    )
    np.testing.assert_allclose(nngp, factor * outer, rtol=1e-14)
    np.testing.assert_allclose(tangent, factor * (outer + hidden), rtol=1e-14)


def test_the_diagonal_is_exact_and_the_grams_are_positive(x64):
    x = np.concatenate([hard_inputs()[1], normal(4, 3, seed=8)])
    for dtype in (jnp.float64, jnp.float32):
        for gram in infinite_kernels(DEEP["relu"], jnp.asarray(x, dtype)):
            assert np.max(np.abs(gram - gram.T)) <= 4 * float(jnp.finfo(dtype).eps) * np.max(gram)
            floor = np.linalg.eigvalsh(np.asarray(gram, float))[0]
            assert floor >= -16 * float(jnp.finfo(dtype).eps) * float(jnp.max(gram))
        nngp, tangent = infinite_kernels(DEEP["relu"], jnp.asarray(x, dtype))
        square = np.mean(np.square(x), axis=1)  # times 2 and halved in every layer
        rtol = 16 * float(jnp.finfo(dtype).eps)
        np.testing.assert_allclose(np.diag(nngp), 2 * square, rtol=rtol)
        np.testing.assert_allclose(np.diag(tangent), 6 * square, rtol=rtol)


# Convolutions


def image_network(pooling, padding):
    return [
        Convolution((3, 2), 1.6, 0.2, padding),
        Relu(),
        Dense(0.9, 0.1),
        Erf(),
        Convolution((1, 4), 1.8, 0.1, padding),
        Relu(),
        pooling,
        Dense(1.3, 0.4),
    ]


@pytest.mark.parametrize("padding", ["zeros", thorough("periodic")])
@pytest.mark.parametrize("pooling", [thorough(Flatten()), GlobalAveragePooling()])
def test_convolutions_are_sums_over_the_filter(x64, pooling, padding):
    x, y = normal(1, 3, 2, 2), normal(1, 3, 2, 2, seed=1)
    others = np.concatenate([y, x, x + 1e-8 * y, 2 * x])
    assert_exact(image_network(pooling, padding), x, others, rtol=64 * EPS)


@pytest.mark.parametrize("padding", [thorough("zeros"), "periodic"])
def test_filters_may_be_longer_than_the_signal(x64, padding):
    layers = [Convolution((7,), 1.6, 0.2, padding), Relu(), Flatten(), Dense()]
    assert_exact(layers, normal(1, 3, 2), normal(2, 3, 2, seed=1), rtol=64 * EPS)


@pytest.mark.thorough
def test_a_filter_of_one_is_a_dense_layer_at_every_position(x64):
    x, y = jnp.asarray(normal(3, 4, 2)), jnp.asarray(normal(2, 4, 2, seed=1))
    found = infinite_kernels([Convolution((1,), 1.6, 0.2), Relu(), Flatten(), Dense()], x, y)
    dense = partial(infinite_kernels, [Dense(1.6, 0.2), Relu(), Dense()])
    apart = [dense(x[:, a], y[:, a]) for a in range(4)]
    for gram, *parts in zip(found, *apart, strict=True):
        np.testing.assert_allclose(gram, np.mean(parts, axis=0), rtol=1e-14)


@pytest.mark.parametrize(
    ("padding", "pooling"),
    [
        ("periodic", GlobalAveragePooling()),
        ("zeros", GlobalAveragePooling()),
        thorough("periodic", Flatten()),
        thorough("zeros", Flatten()),
    ],
)
def test_pooled_periodic_networks_alone_see_no_translation(x64, padding, pooling):
    x, y = normal(2, 5, 2), jnp.asarray(normal(3, 5, 2, seed=1))
    layers = [Convolution((3,), 1.6, 0.2, padding), Relu(), pooling, Dense()]
    here, there = (
        infinite_kernels(layers, jnp.asarray(each), y) for each in (x, np.roll(x, 2, axis=1))
    )
    change = max(np.max(np.abs(np.subtract(*both))) for both in zip(here, there, strict=True))
    blind = padding == "periodic" and isinstance(pooling, GlobalAveragePooling)
    assert change < 1e-14 if blind else change > 1e-3


# Programs


@pytest.mark.parametrize("limit", [thorough(1), thorough(3_000), 10_000])
def test_blocks_change_nothing(x64, monkeypatch, limit):
    x, y = jnp.asarray(normal(7, 5, 2)), jnp.asarray(normal(4, 5, 2, seed=1))
    layers = [Convolution((3,), 1.6, 0.2), Relu(), GlobalAveragePooling(), Dense()]
    whole = infinite_kernels(layers, x, y)
    monkeypatch.setattr(infinite_width, "BLOCK_BYTES", limit)
    assert (
        infinite_width._block(x, y, joint=True) == {1: (1, 1), 3000: (1, 1), 10000: (1, 3)}[limit]
    )
    infinite_width._compiled_kernels.clear_cache()
    for gram, truth in zip(infinite_kernels(layers, x, y), whole, strict=True):
        np.testing.assert_allclose(gram, truth, rtol=1e-14)
    infinite_width._compiled_kernels.clear_cache()


POOLED = [Convolution((3,), 2.0), Relu(), GlobalAveragePooling(), Dense()]


@pytest.mark.parametrize("with_gradients", [thorough(False), True])
@pytest.mark.parametrize(
    ("layers", "shape"),
    [thorough([Dense(), Relu(), Dense()], (256, 512)), (POOLED, (96, 64, 4))],
    ids=["dense", "pooled"],
)
def test_memory_is_bounded(monkeypatch, layers, shape, with_gradients):
    """Neither differences of all pairs nor positions of all pairs are held."""
    monkeypatch.setattr(infinite_width, "BLOCK_BYTES", 2**22)
    x = jax.ShapeDtypeStruct(shape, jnp.float32)
    naive = 4 * shape[0] ** 2 * (512 if len(shape) == 2 else 64**2)

    def total(x):
        return sum(map(jnp.sum, infinite_kernels(layers, x)))

    function = jax.grad(total) if with_gradients else partial(infinite_kernels, layers)
    memory = jax.jit(function).lower(x).compile().memory_analysis()
    assert memory is not None and memory.temp_size_in_bytes < naive / 4
    infinite_width._compiled_kernels.clear_cache()


@pytest.mark.parametrize("diagonal", [False, thorough(True)])
def test_gradients_are_those_of_the_exact_kernels(x64, diagonal):
    x, y, direction = normal(2, seed=2), normal(2, seed=3), normal(2, seed=4)
    layers = lambda weight: [Dense(weight, 0.1), Relu(), Dense(1.8, 0.2), Erf(), Dense(1.2)]  # noqa: E731

    def total(weight, x, y):
        given = jnp.asarray(x)[None], None if y is None else jnp.asarray(y)[None]
        nngp, tangent = infinite_kernels(layers(weight), *given)
        return nngp[0, 0] + 3 * tangent[0, 0]

    def true_total(weight, shift):
        here = [mp.mpf(a) + shift * mp.mpf(b) for a, b in zip(x, direction, strict=True)]
        nngp, tangent = exact(layers(weight), here, here if diagonal else y)
        return nngp + 3 * tangent

    slopes = jax.jit(jax.grad(total, (0, 1)))(1.5, jnp.asarray(x), None if diagonal else y)
    with mp.workdps(DIGITS):
        by_weight = mp.diff(lambda w: true_total(w, mp.mpf(0)), 1.5)
        by_input = mp.diff(lambda s: true_total(mp.mpf(1.5), s), 0)
    assert slopes[0] == pytest.approx(float(by_weight), rel=1e-12)
    assert slopes[1] @ direction == pytest.approx(float(by_input), rel=1e-12)


@pytest.mark.parametrize("name", ["relu", thorough("erf")])
def test_gradients_are_finite_where_there_are_kinks(x64, name):
    x = jnp.asarray([[1.0, 2.0], [1.0, 2.0], [-1.0, -2.0], [0.0, 0.0]])
    slopes = jax.jit(jax.grad(lambda x: sum(map(jnp.sum, infinite_kernels(DEEP[name], x)))))(x)
    assert np.all(np.isfinite(slopes))


def test_batches_of_inputs_and_of_variances(x64):
    batch, weights = jnp.asarray(normal(3, 2, 4)), jnp.asarray([0.5, 1.0, 2.0])

    def run(weight, x):
        return infinite_kernels([Dense(weight, 0.1), Relu(), Dense()], x)

    together = jax.jit(jax.vmap(run))(weights, batch)
    for i in range(3):
        for gram, truth in zip(together, run(weights[i], batch[i]), strict=True):
            np.testing.assert_allclose(gram[i], truth, rtol=1e-14)


# Bad input

SIGNAL, VECTOR = np.ones((2, 3, 4), np.float32), np.ones((2, 4), np.float32)


@pytest.mark.parametrize(
    ("layers", "inputs", "words"),
    [
        ([], VECTOR, "missing: end with the readout"),
        ([Dense(), Relu()], VECTOR, "the last layer is Relu: end with the readout"),
        ([Relu(), Dense()], VECTOR, "directly after the inputs"),
        ([Dense(), Relu(), Erf(), Dense()], VECTOR, "layer 3, Erf: .* directly after Relu"),
        ([Dense(-1.0)], VECTOR, "layer 1, Dense: weight_variance = -1.0"),
        ([Dense(1.0, float("nan"))], VECTOR, "bias_variance = nan"),
        ([Dense(np.ones(2))], VECTOR, "pass one finite number"),
        ([GlobalAveragePooling(), Dense()], VECTOR, "there are no positions"),
        ([Flatten(), Dense()], VECTOR, "there are no positions"),
        ([Convolution((3,)), Dense()], VECTOR, "there are no positions"),
        ([Flatten(), Convolution((3,)), Dense()], SIGNAL, "layer 2, Convolution: there are no"),
        ([Flatten(), Flatten(), Dense()], SIGNAL, "layer 2, Flatten: there are no positions"),
        ([Convolution((3, 3)), Flatten(), Dense()], SIGNAL, r"filter = \(3, 3\); .* 1 axes"),
        ([Convolution((0,)), Flatten(), Dense()], SIGNAL, r"filter = \(0,\)"),
        ([Convolution((3,), padding="SAME"), Flatten(), Dense()], SIGNAL, "'SAME'; choose"),
        ([Convolution((3,)), Relu(), Dense()], SIGNAL, "1 axes of positions reach the readout"),
        ([Convolution((3,)), Flatten(), Relu(), Dense()], SIGNAL, "directly after Flatten"),
        (
            [Convolution((3,)), GlobalAveragePooling(), Dense(), Relu(), Dense()],
            SIGNAL,
            "after GlobalAveragePooling is not supported; put it before",
        ),
        ([Dense()], np.ones(4, np.float32), r"inputs of shape \(4,\)"),
        ([Dense()], np.ones((2, 4), np.int32), "int32: pass floating-point"),
    ],
)
def test_what_does_not_fit_is_one_error(layers, inputs, words):
    with pytest.raises(ValueError, match=words):
        infinite_kernels(layers, jnp.asarray(inputs))


def test_what_type_checkers_refuse_is_one_error_without_them():
    with pytest.raises(ValueError, match="layer 2, str: no layer"):
        infinite_checks.check_layers([Dense(), "relu", Dense()], 0)
    convolution = Convolution((3,))
    object.__setattr__(convolution, "filter", 3)
    with pytest.raises(ValueError, match="filter = 3; pass a tuple"):
        infinite_checks.check_layers([convolution, Flatten(), Dense()], 1)


def test_others_are_like_the_inputs(x64):
    for others in (np.ones((2, 5), np.float32), np.ones((2, 4), np.float64)):
        with pytest.raises(ValueError, match="pass the same type and shape but for the first"):
            infinite_checks.check_inputs(jnp.asarray(VECTOR), jnp.asarray(others))
