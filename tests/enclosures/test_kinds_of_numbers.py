"""Integers, booleans and complex numbers: exact, three-valued, refused; never taken for reals."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from theorysim.enclosures import Outcome, certify_box
from theorysim.enclosures.arithmetic import BALLS
from theorysim.enclosures.interpreter import RULES, Interpreter
from theorysim.errors import UsageError

pytestmark = pytest.mark.usefixtures("x64")

BOX = {"x": (0.0, 1.0)}


def run(function, *values):
    interpreter = Interpreter(BALLS, RULES, "a test")
    examples = [np.asarray(value) for value in values]
    inputs = [interpreter.lift(value) for value in examples]
    output, *_ = interpreter.run(jax.make_jaxpr(function)(*examples), inputs)
    return output


@pytest.mark.parametrize(
    "scale",
    [
        lambda x: jax.lax.reduce_and(jnp.array([6, 3]), (0,)),  # 6 & 3 = 2
        lambda x: jax.lax.reduce_or(jnp.array([6, 3]), (0,)) / 7 * 2,  # 7
        lambda x: jnp.bitwise_and(6, 3),
        lambda x: jnp.bitwise_and.reduce(jnp.array([6, 3])),
    ],
)
def test_logic_on_integers_is_that_of_their_bits(scale):
    found = certify_box(lambda x: scale(x) * x, lambda x: x, BOX)
    assert found.outcome is Outcome.VIOLATED  # 2 x <= x
    found = certify_box(lambda x: scale(x) * x, lambda x: 2 * x + 1e-9, BOX)
    assert found.outcome is Outcome.CERTIFIED


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize(
    "function",
    [
        lambda x: x + 5j,
        lambda x: abs(x + 0j),
        lambda x: jnp.sum(jnp.stack([x + 1j, x])),
        lambda x: jnp.dot(jnp.stack([x, x]), jnp.array([1j, 1])),
        lambda x: jnp.exp(1j * x),
        lambda x: jnp.real(x + 3j),
        lambda x: jnp.array(2.5j) * 1.0,
        lambda x: np.complex128(2.5j),
        lambda x: jnp.fft.fft(jnp.stack([x, x]))[0],
    ],
)
def test_complex_numbers_are_refused(function, reverse):
    sides = function, lambda x: 0.0
    with pytest.raises(UsageError, match="complex"):
        certify_box(*(sides[::-1] if reverse else sides), BOX)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: jnp.uint8(200) + jnp.uint8(100),
        lambda x: jnp.uint8(1) - jnp.uint8(2),
        lambda x: -jnp.uint8(1),
        lambda x: jnp.prod(jnp.arange(1, 26)),
        lambda x: jnp.cumprod(jnp.arange(1, 26))[-1],
        lambda x: jnp.sum(jnp.full(3, 100, jnp.int8), dtype=jnp.int8),
        lambda x: jnp.dot(jnp.full(3, 10, jnp.int8), jnp.full(3, 10, jnp.int8)),
        lambda x: jnp.array(10) ** 19,
        lambda x: jax.lax.integer_pow(jnp.array(10), 19),
        lambda x: (jnp.array(300) + 0).astype(jnp.uint8),
        lambda x: (jnp.array(2**40) + 0).astype(jnp.int32),
        lambda x: (x + 300).astype(jnp.uint8),
        lambda x: (x - 3).astype(jnp.uint32),
        lambda x: jnp.left_shift(jnp.int32(1), jnp.int32(31)),
        lambda x: jnp.abs(jnp.int8(-128)),
        lambda x: jnp.iinfo(jnp.int64).max + jnp.array(1),
        lambda x: jax.lax.fori_loop(0, 70, lambda i, a: 2 * a, jnp.array(1)),
        lambda x: (
            jnp.zeros(2, jnp.int8)
            .at[0]
            .add(jnp.array([100, 100], jnp.int8).sum(dtype=int).astype(jnp.int8))
        ),
        lambda x: jnp.zeros(2, jnp.uint8).at[jnp.array([0, 0])].add(jnp.uint8(200))[0],
    ],
)
def test_what_wraps_around_is_refused(function):
    with pytest.raises(UsageError, match="cannot hold"):
        certify_box(lambda x: function(x), lambda x: 50.0, BOX)


@pytest.mark.parametrize(
    "function",
    [
        lambda n: jnp.prod(jnp.arange(1, n + 1)),
        lambda n: jnp.cumprod(jnp.arange(1, n + 1))[-1],
        lambda n: jax.lax.fori_loop(1, n + 1, lambda i, a: a * i, jnp.array(1)),
    ],
)
@pytest.mark.parametrize("n", range(1, 26))
def test_factorials_are_exact_or_refused(function, n):
    if math.factorial(n) < 2**63:
        assert int(run(lambda x: function(n), 0.0)) == math.factorial(n)
    else:
        with pytest.raises(UsageError, match="int64 cannot hold"):
            run(lambda x: function(n), 0.0)


@pytest.mark.parametrize("seed", range(10))
def test_integers_agree_with_jax_where_nothing_wraps(seed):
    rng = np.random.default_rng(seed)
    a, b = rng.integers(-50, 50, (2, 6))
    b[b == 0] = 7

    def f(a, b):
        wide = jnp.stack([a // b, a % b, jax.lax.rem(a, b), jax.lax.div(a, b), jnp.sign(a) * b])
        bits = jnp.stack(
            [a & b, a | b, a ^ b, ~a, a >> 2, jnp.bitwise_count(jnp.abs(a)).astype(a.dtype)]
        )
        order = jnp.stack([jnp.sort(a), jnp.argsort(a), jnp.clip(a, -3, b), jax.lax.top_k(a, 6)[1]])
        more = jnp.stack([jnp.cumsum(a), jnp.maximum(a, b), a * b - a, a**2, jnp.abs(a) ** 3])
        return jnp.concatenate([wide, bits, order, more])

    np.testing.assert_array_equal(run(f, a, b), f(a, b))


def test_division_by_zero_and_negative_shifts_are_refused():
    for function in (
        lambda x: jnp.array(1) // jnp.array(0),
        lambda x: jax.lax.rem(jnp.array(1), jnp.array(0)),
        lambda x: jnp.left_shift(jnp.array(1), jnp.array(-1)),
        lambda x: jnp.left_shift(jnp.array(1), jnp.array(10**12)),
    ):
        with pytest.raises(UsageError, match="certify does not know"):
            run(function, 0.0)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x * (jnp.bfloat16(0.1) + jnp.bfloat16(1)).astype(float),
        lambda x: x.astype(jnp.bfloat16).astype(float),
        lambda x: jax.lax.dot(jnp.arange(3), jnp.stack([x, x, x]), preferred_element_type=float),
        lambda x: jax.lax.bitcast_convert_type(x, jnp.int64),
        lambda x: jnp.zeros(2).at[jnp.array([0, 0])].set(jnp.stack([x, -x]))[0],
        lambda x: jax.random.gamma(jax.random.key(0), x + 1.0),
        lambda x: jax.lax.reduce_precision(x, 8, 7),
        lambda x: jnp.linalg.svd(jnp.eye(2) * x)[0].sum(),
    ],
)
def test_what_has_no_rule_is_refused(function):
    with pytest.raises(UsageError, match="certify does not know"):
        run(function, 0.5)


def test_what_is_missing_in_an_array_is_undefined():
    (missing,) = run(lambda x: x.at[jnp.array([5])].get(mode="fill"), [0.5, 1.0])
    assert not missing.is_finite()
    (filled,) = run(lambda x: x.at[jnp.array([5])].get(mode="fill", fill_value=3.0), [0.5, 1.0])
    assert filled == 3
    number = run(lambda x: jnp.arange(3).at[5].get(mode="fill"), 0.5)
    assert int(number) == np.iinfo(np.int64).min


@pytest.mark.parametrize("x", [-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 0.49, -3.7, 3.0, 7.25])
def test_rounding_remainders_and_tables_agree_with_jax(x):
    def f(x):
        table = jnp.array([-3.0, -1.0, 0.25, 2.0])
        return jnp.stack(
            [
                jnp.round(x),
                jax.lax.round(x),
                jnp.floor_divide(x, 0.75),
                jnp.remainder(x, 2.0),
                jnp.fmod(x, -0.75),
                jax.lax.rem(x, 1.5),
                jnp.interp(x, table, table**2),
                jnp.searchsorted(table, x).astype(float),
                jax.lax.top_k(jnp.stack([x, -x, 0.1]), 2)[0][1],
                jax.lax.top_k(jnp.stack([x, x, 0.1]), 2)[1][1].astype(float),
            ]
        )

    found = [float(ball.mid()) for ball in run(f, x)]
    few_roundings = 64 * np.finfo(float).eps
    np.testing.assert_allclose(found, f(x), rtol=few_roundings, atol=0)


def test_a_function_rounded_over_a_box_takes_both_sides_of_a_jump():
    found = certify_box(lambda x: jnp.round(2 * x), lambda x: 1.5, BOX)
    assert found.outcome is Outcome.VIOLATED
    assert certify_box(lambda x: jnp.round(x), lambda x: x + 0.6, BOX).outcome is Outcome.CERTIFIED


@pytest.mark.parametrize("place", [0, jnp.array([1])])
def test_a_function_applied_at_places_is_refused(place):
    """JAX makes it a scatter whose updates are unused: read as updates they would be zeros."""
    with pytest.raises(UsageError, match="apply"):
        certify_box(lambda x: jnp.stack([x, x]).at[place].apply(jnp.exp).sum(), lambda x: x, BOX)


def test_a_single_entry_is_gathered_as_an_array():
    def taken(x):
        return jax.random.choice(jax.random.key(0), jnp.stack([x, x])) + 0.5

    assert certify_box(taken, lambda x: x + 0.5, BOX).outcome is Outcome.CERTIFIED
    assert certify_box(taken, lambda x: x + 0.4, BOX).outcome is Outcome.VIOLATED


@pytest.mark.parametrize("condition", [lambda x: x > 2, lambda x: jnp.array([True, False])])
def test_a_condition_that_is_true_or_false_is_refused(condition):
    """False would count as zero, which meets a margin."""
    with pytest.raises(UsageError, match="true or false"):
        certify_box(lambda x: x + 1, lambda x: x, BOX, given={"never": condition})
