"""Enclosures of JAX programs in balls, intervals and with slopes, against independent truths."""

import itertools
import math
import operator
from fractions import Fraction

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest
from flint import arb, ctx, fmpq

from theorysim.enclosures.arithmetic import (
    BALLS,
    INTERVALS,
    Interval,
    Sloped,
    Undecided,
    exact_number,
    literal,
    slopes_arithmetic,
)
from theorysim.enclosures.arithmetic.intervals import ONE
from theorysim.enclosures.interpreter import RULES, Interpreter, UnknownPrimitive, object_array

pytestmark = pytest.mark.usefixtures("x64")

# The truth in these tests is known to so many digits.
DIGITS = 60
# Float64 runs of the programs below: some dozen operations on numbers of order one.
FLOAT_ERROR = 1e-12


def run(function, *values, arithmetic=BALLS, lift=None):
    """Entries of the first output of a function of float arrays."""
    examples = [np.asarray(v, float) for v in values]
    interpreter = Interpreter(arithmetic, RULES, "a test")
    inputs = [interpreter.lift(v) for v in examples] if lift is None else lift(interpreter)
    output, *_ = interpreter.run(jax.make_jaxpr(function)(*examples), inputs)
    return output.ravel().tolist()


def as_mpf(ball):
    """Middle and radius in mpmath, which must be set to more digits than the ball has."""
    mid, rad = ball.mid().man_exp(), ball.rad().man_exp()
    return tuple(mpmath.ldexp(int(man), int(exp)) for man, exp in (mid, rad))


def holds(ball, truth, error=0):
    mid, rad = as_mpf(ball)
    return abs(mid - truth) <= rad + error


def encloses(ball, truth):
    """Whether a ball contains a fraction, in exact arithmetic."""
    mid, rad = (as_fraction(*part.man_exp()) for part in (ball.mid(), ball.rad()))
    return abs(mid - truth) <= rad


# Literals and instances


@pytest.mark.parametrize(
    "value, number",
    [(0.1, (1, 10)), (1e-12, (1, 10**12)), (123456789.0, (123456789, 1)), (-2.5, (-5, 2))],
)
def test_short_decimals_are_exact(value, number):
    assert exact_number(value) == fmpq(*number)
    with ctx.workprec(300):
        assert encloses(literal(value), Fraction(*number))
        assert literal(value).rad() < 1e-80


def test_long_literals_are_some_ulps_wide():
    with ctx.workprec(300):
        assert encloses(literal(1 / 3), Fraction(1, 3))
        for value, truth in ((math.pi, arb.pi()), (2**0.5, arb(2).sqrt())):
            assert literal(value).contains(truth)
            assert literal(value).contains(arb(value))
            assert literal(value).rad() < 5 * np.spacing(value)
        assert encloses(literal(np.float32(0.1)), Fraction(1, 10))
        assert encloses(literal(np.float32(2.0**-20)), Fraction(1, 2**20))
        assert encloses(literal(math.nextafter(1 / 3, 1)), Fraction(1, 3))
        assert encloses(literal((1 / 49) * 49), Fraction(1))  # 0.9999999999999999
        assert not encloses(literal(1 / 3 * (1 + 5e-15)), Fraction(1, 3))


def test_long_numbers_of_instances_are_their_bits():
    assert exact_number(0.1 + 0.2) == fmpq(*(0.1 + 0.2).as_integer_ratio())


# Programs


def test_polynomials_agree_with_fractions():
    def f(x, y):
        return (x - y) ** 5 * x / (1 + x * x) - jnp.sum(jnp.stack([x, y]) ** jnp.arange(3)[:2])

    x, y = Fraction(3, 8), Fraction(-7, 16)
    truth = (x - y) ** 5 * x / (1 + x * x) - (1 + y)
    for bits in (64, 512):
        with ctx.workprec(bits):
            (ball,) = run(f, float(x), float(y))
            assert encloses(ball, truth)
            assert ball.rel_accuracy_bits() > bits - 10


UNARY = {
    "exp": mpmath.exp,
    "sin": mpmath.sin,
    "cos": mpmath.cos,
    "tanh": mpmath.tanh,
    "arctan": mpmath.atan,
    "arcsinh": mpmath.asinh,
    "expm1": mpmath.expm1,
    "cosh": mpmath.cosh,
    "abs": abs,
    "square": lambda x: x * x,
    "negative": operator.neg,
    "cbrt": lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)),
    "exp2": lambda x: mpmath.power(2, x),
}
# Of |x| + 1/2, so that they are defined and smooth.
POSITIVE = {"sqrt": mpmath.sqrt, "log": mpmath.log, "log1p": mpmath.log1p}
BINARY = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "maximum": max,
    "minimum": min,
}


def random_formula(rng, depth=4):
    """A formula of x and y twice: for JAX and for mpmath."""
    if depth == 0:
        place = int(rng.integers(2))
        return (lambda *v: v[place]), (lambda *v: v[place])
    a, a_truth = random_formula(rng, depth - 1)
    kind = rng.choice(["unary", "positive", "binary", "quotient"])
    if kind == "unary":
        name = str(rng.choice(list(UNARY)))
        return (lambda *v: getattr(jnp, name)(jnp.tanh(a(*v)))), (
            lambda *v: UNARY[name](mpmath.tanh(a_truth(*v)))
        )
    if kind == "positive":
        name = str(rng.choice(list(POSITIVE)))
        return (lambda *v: getattr(jnp, name)(jnp.abs(a(*v)) + 0.5)), (
            lambda *v: POSITIVE[name](abs(a_truth(*v)) + mpmath.mpf(1) / 2)
        )
    b, b_truth = random_formula(rng, depth - 1)
    if kind == "quotient":
        return (lambda *v: a(*v) / (1.1 + b(*v) ** 2)), (
            lambda *v: a_truth(*v) / (mpmath.mpf(11) / 10 + b_truth(*v) ** 2)
        )
    name = str(rng.choice(list(BINARY)))
    return (lambda *v: getattr(jnp, name)(a(*v), b(*v))), (
        lambda *v: BINARY[name](a_truth(*v), b_truth(*v))
    )


@pytest.mark.parametrize("seed", range(20))
def test_random_formulas_are_enclosed(seed):
    rng = np.random.default_rng(seed)
    f, truth = random_formula(rng)
    x, y = rng.uniform(-2, 2, 2)
    with mpmath.workdps(DIGITS), ctx.workprec(160):
        (ball,) = run(f, x, y)  # long numbers: half an ulp around them
        expected = truth(mpmath.mpf(x), mpmath.mpf(y))
        assert holds(ball, expected, mpmath.mpf(10) ** (8 - DIGITS))
    with mpmath.workdps(DIGITS), ctx.workprec(160):
        exact = object_array([arb(x)], ()), object_array([arb(y)], ())
        (ball,) = run(f, x, y, lift=lambda interpreter: list(exact))
        assert holds(ball, expected, mpmath.mpf(10) ** (8 - DIGITS))
        if abs(expected) > 1e-3:
            assert ball.rel_accuracy_bits() > 100


@pytest.mark.parametrize("seed", range(20))
def test_intervals_and_slopes_enclose(seed):
    """Values at points of a box lie in the range, and slopes between points in the slopes."""
    rng = np.random.default_rng(100 + seed)
    f, truth = random_formula(rng)
    middle, reach = rng.uniform(-1, 1, 2), 10 ** rng.uniform(-3, 0, 2)
    lows, highs = middle - reach, middle + reach
    box = [Interval(arb(low), arb(high)) for low, high in zip(lows, highs)]
    slopes = (Sloped(box[0], (ONE, None)), Sloped(box[1], (None, ONE)))
    with mpmath.workdps(DIGITS), ctx.workprec(64):
        (value,) = run(
            f, *middle, arithmetic=INTERVALS, lift=lambda m: [object_array([b], ()) for b in box]
        )
        (sloped,) = run(
            f,
            *middle,
            arithmetic=slopes_arithmetic(2),
            lift=lambda m: [object_array([s], ()) for s in slopes],
        )
        low, high = (as_mpf(end)[0] for end in (value.low, value.high))
        thin = [object_array([Interval(arb(x), arb(x))], ()) for x in middle]
        (point,) = run(f, *middle, arithmetic=INTERVALS, lift=lambda m: thin)
        centre = truth(*map(mpmath.mpf, middle))
        assert as_mpf(point.low)[0] <= centre <= as_mpf(point.high)[0]
        points = [tuple(map(mpmath.mpf, rng.uniform(lows, highs))) for _ in range(20)]
        values = [truth(*point) for point in points]
        noise = mpmath.mpf(10) ** (8 - DIGITS)
        assert all(low - noise <= v <= high + noise for v in values)
        for (x, y), v in zip(points, values):
            other = points[0][0]
            for coordinate, moved in ((0, (other, y)), (1, (x, points[0][1]))):
                slope = sloped.slopes[coordinate]
                step = moved[coordinate] - (x, y)[coordinate]
                if step == 0 or (slope is not None and not slope.is_finite):
                    continue
                rise = truth(*moved) - v
                ends = (0, 0) if slope is None else (as_mpf(slope.low)[0], as_mpf(slope.high)[0])
                swing = sorted(end * step for end in ends)
                assert swing[0] - noise <= rise <= swing[1] + noise


@pytest.mark.parametrize("seed", range(10))
def test_intervals_round_outwards(seed):
    """With fewer bits than the numbers have, ends move outwards, never inwards."""
    rng = np.random.default_rng(seed)
    ends = np.sort(rng.normal(size=(2, 2)), axis=1)
    exact = [[Fraction(end) for end in pair] for pair in ends.tolist()]
    with ctx.workprec(100):
        a, b = (Interval(arb(low), arb(high)) for low, high in ends.tolist())
    operations = {"add": operator.add, "sub": operator.sub, "mul": operator.mul}
    if exact[1][0] * exact[1][1] > 0:
        operations["div"] = operator.truediv
    with ctx.workprec(24):
        results = {name: INTERVALS.functions[name](a, b) for name in operations}
        powers = {n: INTERVALS.power(a, n) for n in (2, 3)}
    for name, operation in operations.items():
        for x, y in itertools.product(*exact):
            assert between(results[name], operation(x, y))
    for n, result in powers.items():
        assert all(between(result, x**n) for x in (*exact[0], sum(exact[0]) / 2))


def between(interval, truth):
    low, high = (as_fraction(*end.man_exp()) for end in (interval.low, interval.high))
    return low <= truth <= high


def as_fraction(man, exp):
    return Fraction(int(man)) * Fraction(2) ** int(exp)


def program_of_everything(x):
    w = jnp.stack([x, 2 * x, 3 - x])
    square = jnp.outer(w, w) + jnp.eye(3)
    yield jnp.linalg.norm(w) + jnp.sum(jnp.sort(w)) + jax.nn.relu(x - 2) + jax.nn.softplus(x)
    yield jnp.clip(x, 0, 1) + jnp.where(x > 0, x, 0.0) + w[jnp.argmax(w)] + w[jnp.argsort(-w)[1]]
    yield (
        jnp.cumsum(w)[-1] + jnp.cumprod(w)[1] + jnp.max(w) - jnp.min(w) + jnp.mean(w) + jnp.prod(w)
    )
    yield jax.lax.cond(x > 0, lambda a: a, lambda a: -a, x) + jax.lax.fori_loop(
        0, 4, lambda i, a: a * x, x
    )
    yield jax.lax.while_loop(lambda s: s < 20, lambda s: s * x, x)
    yield jax.vmap(lambda a: jax.lax.while_loop(lambda s: s < 7, lambda s: s + a, a))(w).sum()
    yield jax.lax.scan(lambda c, a: (c * a, c + a), x, w, reverse=True)[1].sum()
    yield jax.grad(lambda v: v[0] * jnp.sum(v**2) / v[1])(w).sum() + jnp.linspace(
        0, 1, 5
    ) @ jnp.arange(5.0)
    yield jnp.take(w, 1) + jnp.take(w, jnp.array([2, 0])).sum() + w.at[0].set(3.0)[0]
    yield w.at[jnp.array([0, 0, 1])].add(jnp.array([1.0, 2.0, 0.5])).prod()
    yield (
        jnp.einsum("ij,jk,ik->", square, square, square)
        + jnp.tril(square).sum()
        + jnp.trace(square)
    )
    yield jnp.diag(w).sum() + jnp.diff(w).sum() + jnp.roll(w, 1)[0] + jnp.pad(w, 1)[2] + w[::-1] @ w
    yield jax.nn.sigmoid(x) + jnp.log2(x) + jnp.hypot(x, x) + jnp.sign(x) + jnp.logaddexp(x, 2 * x)
    yield (
        jnp.power(x, 0.3)
        + jnp.power(x, 3)
        + x**-2
        + jnp.sum(w ** jnp.arange(3))
        + jnp.arctan2(x, w[1])
    )
    yield jnp.arcsin(x / 4) + jnp.arccos(x / 4) + jnp.arctanh(x / 4) + jnp.arccosh(x) + jnp.tan(x)
    yield jax.scipy.special.erf(x) + jax.scipy.special.erfc(x) + jax.lax.rsqrt(x) + jnp.sinc(x)
    yield jnp.floor(x) + jnp.ceil(x) + jnp.ceil(x).astype(int) + jnp.sum((w > 2).astype(x.dtype))
    yield jnp.all(w > 0).astype(x.dtype) + jnp.any(w < 0) + jnp.logical_xor(x > 0, x > 1)
    yield jnp.linalg.norm(square, ord=2) + jnp.linalg.norm(square[:2], ord=2)
    yield (
        jax.checkpoint(jnp.sin)(x)
        + jnp.split(w, 3)[1][0]
        + jnp.concatenate([w, w])[4]
        + w.reshape(3, 1)[2, 0]
    )
    key = jax.random.key(3)
    yield jax.random.normal(key, dtype=x.dtype) + jax.random.uniform(key, (3,), x.dtype).sum()


@pytest.mark.parametrize("place", range(21))
def test_the_operations_of_jax_are_known(place):
    def f(x):
        return jnp.asarray(list(program_of_everything(x))[place], x.dtype)

    with jax.numpy_dtype_promotion("standard"), ctx.workprec(128), mpmath.workdps(DIGITS):
        (ball,) = run(f, 1.5)
        expected = mpmath.mpf(float(jax.jit(f)(np.float64(1.5))))
        assert ball.is_finite()
        assert holds(ball, expected, FLOAT_ERROR * max(abs(expected), 1))
        assert as_mpf(ball)[1] <= FLOAT_ERROR * max(abs(expected), 1)


# What is not certain


def test_comparisons_are_three_valued():
    def f(x):
        return jnp.stack(
            [jnp.where(x > 0, 2.0, 1.0), jnp.where(jnp.logical_or(x > 0, x <= 1), 2.0, 1.0)]
        )

    wide = lambda interpreter: [object_array([arb(0, 0.5)], ())]  # noqa: E731
    either, certain = run(f, 0.0, lift=wide)
    assert either.contains(1) and either.contains(2)
    assert certain == 2
    for branching in (
        lambda x: jax.lax.cond(x > 0, lambda: 1.0, lambda: 2.0),
        lambda x: jax.lax.while_loop(lambda s: s > 0, lambda s: s - 1, x),
        lambda x: jnp.argmax(jnp.stack([x, -x])).astype(float),
        lambda x: jnp.sort(jnp.stack([x, -x]))[0],
    ):
        with pytest.raises(Undecided):
            run(branching, 0.0, lift=wide)


@pytest.mark.parametrize("arithmetic", [BALLS, INTERVALS, slopes_arithmetic(0)])
def test_what_is_undefined_stays_undefined(arithmetic):
    """Arb encloses the sine of NaN by [-1, 1]: |sin(log x)| <= 1 must not pass for x < 0."""
    for f in (
        lambda x: jnp.sin(jnp.log(x)),
        lambda x: jnp.tanh(1 / (x + 1)) ** 0,
        lambda x: jnp.minimum(jnp.sqrt(x), 3.0),
        lambda x: 0 * jnp.arccosh(x),
        lambda x: jnp.sign(x**0.5),
    ):
        (number,) = run(f, -1.0, arithmetic=arithmetic)
        assert not arithmetic.is_finite(number)
        assert arithmetic.at_most(number, arithmetic.lift(arb(9))) is None
        assert arithmetic.at_most(number, number) is None


def test_the_same_number_is_known_to_be_the_same():
    """A tie of inexact numbers is decided where both sides do the same, and nowhere else."""

    def f(x):
        distance = jnp.abs(jnp.exp(x) - 0.3)
        other = jnp.abs(jnp.exp(x) - 0.3)
        return jnp.stack([distance - 1 * other, x / x, distance - jnp.exp(x) + 0.3])

    same, one, unknown = run(f, 0.7)
    assert same == 0 and one == 1
    assert unknown.contains(0) and not unknown.is_exact()


def test_two_unknown_choices_are_not_the_same():
    def f(x):
        first, second = x > 0, -x > 0
        floats = first.astype(float) - second.astype(float)
        return jnp.stack([floats, jnp.where(first, 1.0, 0.0) - jnp.where(second, 1.0, 0.0)])

    for difference in run(f, 0.0, lift=lambda interpreter: [object_array([arb(0, 0.5)], ())]):
        assert difference.contains(1) and difference.contains(-1)


# What is not known


@pytest.mark.parametrize(
    "function, name",
    [
        (lambda x: jnp.linalg.svd(jnp.outer(x, x))[0].sum(), "svd with vectors"),
        (lambda x: jax.random.gamma(jax.random.key(0), x[0]), "gamma"),
        (lambda x: jax.lax.reduce_precision(x[0], 8, 7), "reduce_precision"),
        (lambda x: jax.pure_callback(np.sin, jax.ShapeDtypeStruct((), float), x[0]), "callback"),
    ],
)
def test_an_unknown_operation_is_named(function, name):
    with pytest.raises(UnknownPrimitive, match=f"{name}.*a test"):
        run(function, [1.0, 2.0])
