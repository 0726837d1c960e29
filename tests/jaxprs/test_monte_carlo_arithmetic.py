"""Monte Carlo arithmetic: every rounding shows, in loops too, and nothing exact is moved."""

import math

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest
from drawn import every_second, thorough

from theorysim.compiled import jit
from theorysim.jaxprs import moved_operation
from theorysim.jaxprs.monte_carlo_arithmetic import perturb_rounding
from theorysim.numerics.flow import integrate

# A handful of operations, each of which errs by an ulp or two.
FEW_ROUNDINGS = 64 * float(np.finfo(float).eps)
# The same where origins are moved by 64 units and ties by 1000.
MOVED_ORIGINS = 64 * FEW_ROUNDINGS

pytestmark = pytest.mark.usefixtures("x64")


def spread(function, *inputs):
    """Results of the function in 400 directions of its roundings, less the plain one."""

    def directed(nothing, *inputs):
        return function(*inputs)

    run = jax.jit(jax.vmap(perturb_rounding(directed), (0, *[None] * len(inputs))))
    found = run(jnp.linspace(1, 2, 400), *inputs)
    return np.asarray(found) - np.asarray(function(*inputs))


def test_one_operation_errs_by_one_unit_of_the_last_place_in_both_directions():
    errors = spread(lambda a, b: a * b, jnp.asarray(1.1), jnp.asarray(1.3))
    assert set(errors / np.spacing(1.43)) == {-1.0, 1.0}
    assert abs(np.mean(np.sign(errors))) < 0.2


def test_the_same_operation_is_traced_once(monkeypatch):
    """Twenty products of numbers make one; where they differ in shape they are several."""
    traced = []
    plain = moved_operation._results
    monkeypatch.setattr(
        moved_operation, "_results", lambda *given: traced.append(given) or plain(*given)
    )

    def power(x):
        for _ in range(20):
            x = x * 1.37
        return x

    moved = jax.jit(perturb_rounding(lambda x, xs: (power(x), power(xs))))
    moved(jnp.float64(0.7), jnp.linspace(0.5, 0.7, 17))
    assert [equation.primitive.name for equation, *_ in traced] == ["mul"] * 2


def test_operations_that_differ_in_the_sign_of_a_zero_are_two():
    """Out of bounds one reads 0 and the other -0: their reciprocals are infinities apart."""

    def reciprocal(fill):
        return lambda x, place: 1 / x.at[place].get(mode="fill", fill_value=fill)

    given = jnp.asarray([0.7, 1.3]), jnp.asarray(9)
    found = [float(jax.jit(perturb_rounding(reciprocal(fill)))(*given)) for fill in (0.0, -0.0)]
    assert found == [math.inf, -math.inf]


def test_functions_of_python_that_are_equal_are_two():
    class Signed(float):
        def __call__(self, values):
            return np.copysign(values, self)

    def signed(sign):
        return lambda x: jax.pure_callback(Signed(sign), x, x, vmap_method="expand_dims")

    found = [float(jax.jit(perturb_rounding(signed(sign)))(jnp.float64(0.7))) for sign in (0, -0.0)]
    assert found[0] > 0 > found[1]


def test_a_loop_ends_though_its_last_comparison_is_a_tie():
    """Six steps of .1 come to .6, or seven; it went on for ever where the tie fell two ways."""

    def steps(x):
        def goes_on(state):
            return state[0] < jnp.round(x) / 10

        return jax.lax.while_loop(goes_on, lambda s: (s[0] + 0.1, s[1] + 1), (0.0, 0.0))[1]

    moved = jax.vmap(perturb_rounding(steps, origins=True, lanes=True), (0, None))
    found = jit(jax.vmap(moved, (None, 0)))(jnp.arange(1.0, 9), jnp.asarray([6.377357063031541]))
    assert set(np.ravel(found)) <= {6, 7}


def test_an_absorbed_addend_shows():
    """Jittered by ulps, b leaves (b + w) - b as it is; Monte Carlo arithmetic does not."""
    errors = spread(lambda b, w: (b + w) - b, jnp.asarray(1.5), jnp.asarray(1.2e-16))
    assert np.ptp(errors) >= np.spacing(1.5)


def test_errors_of_a_sum_grow_with_the_root_of_its_terms():
    """In a loop: independent errors of up to one unit in the last place of each partial sum."""
    terms = jnp.linspace(0.1, 0.2, 1000)
    total = lambda terms: jax.lax.scan(lambda s, t: (s + t, None), 0.0, terms)[0]  # noqa: E731
    partial_sums = np.cumsum(terms)
    expected = np.finfo(float).eps * np.sqrt(np.sum(partial_sums**2))
    assert np.std(spread(total, terms)) == pytest.approx(expected, rel=0.3, abs=0)


@pytest.mark.parametrize("product", [jnp.prod, lambda x: jnp.cumprod(x)[-1]])
def test_errors_of_a_product_grow_with_the_root_of_its_factors(product):
    """Of dyadic numbers, too, which nothing else moves; their logarithms' sum is the truth."""
    factors = 1 + np.random.default_rng(0).integers(-1000, 1000, 10_000) / 2.0**20
    truth = math.exp(math.fsum(map(math.log1p, factors - 1)))
    errors = spread(product, jnp.asarray(factors)) / (np.finfo(float).eps * truth)
    assert 50 < np.max(np.abs(errors)) < 500


@pytest.mark.parametrize("power", [64, 1000])
def test_a_power_errs_by_what_squaring_doubles(power):
    exact = 1 + np.arange(1, 200) / 1024
    truth = np.array([float(mpmath.mpf(float(x)) ** power) for x in exact])
    given = np.asarray(jax.lax.integer_pow(jnp.asarray(exact), power))
    moved = np.abs(spread(lambda x: jax.lax.integer_pow(x, power), jnp.asarray(exact))).max(axis=0)
    assert np.all(np.abs(given - truth) <= 4 * moved)
    assert np.any(np.abs(given - truth) > 4 * np.spacing(truth))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: jnp.exp(-x),
        thorough(lambda x: 1e-300 / x * (1 / x) ** 3),
        lambda x: 1e-300 / (x * x) ** 3,
        lambda x: jnp.prod(jnp.full(400, 1 / x)),
        thorough(lambda x: (1 / x) ** 200),
    ],
)
def test_what_underflows_is_not_known_to_be_zero(function):
    """The root of what came out zero need not be small."""
    assert function(jnp.asarray(800.0)) == 0
    assert np.max(spread(lambda x: function(x) ** (1 / 400), jnp.asarray(800.0))) > 0.1


def test_a_zero_factor_makes_an_exact_zero():
    def zeros(x):
        return jnp.stack([0.0 * jnp.sin(x), jnp.prod(jnp.stack([x, 0 * x])), (0 * x) ** 3, 0.0 / x])

    assert not np.any(spread(zeros, jnp.asarray(1.3)))


def test_loops_branches_and_calls_run_as_they_are_written():
    def collatz(number):
        def step(state):
            count, value = state
            even = value % 2 == 0
            return count + 1, jax.lax.cond(even, lambda v: v // 2, lambda v: 3 * v + 1, value)

        return jax.lax.while_loop(lambda state: state[1] != 1, step, (0, number))[0]

    assert perturb_rounding(collatz)(jnp.asarray(27)) == 111
    lanes = perturb_rounding(jax.vmap(collatz))(jnp.asarray([27, 1, 6]))
    assert lanes.tolist() == [111, 0, 8]  # a lane that has come to its end stays

    def nested(x):
        reversed_rows = jax.lax.scan(lambda c, row: (c + row, c * row), 0.5, x, reverse=True)
        return (
            jnp.sort(x)[::-1],
            reversed_rows,
            jax.jit(jax.nn.relu)(x - 1),
            jax.checkpoint(jnp.sin)(x),
            jax.nn.softplus(x),
            jax.grad(jnp.dot)(x, x),
        )

    x = jnp.array([0.3, 2.7, 1.9])
    plain, moved = nested(x), perturb_rounding(nested)(x)
    assert jax.tree.structure(plain) == jax.tree.structure(moved)
    for before, after in zip(jax.tree.leaves(plain), jax.tree.leaves(moved), strict=True):
        np.testing.assert_allclose(after, before, rtol=FEW_ROUNDINGS)
    np.testing.assert_array_equal(moved[0], plain[0])
    assert jnp.all(moved[3] != plain[3])  # what is called is perturbed, too


def test_what_is_equal_or_counts_stays_so():
    x = jnp.array([0.3, 2.7, 1.9])
    assert jnp.all(perturb_rounding(lambda x: jnp.exp(x) / 3 - jnp.exp(x) / 3)(x) == 0)
    square = perturb_rounding(lambda x: jnp.outer(x, x))(x)
    np.testing.assert_array_equal(square, square.T)
    counts = perturb_rounding(lambda x: jnp.cumsum(jnp.ones_like(x)) * 2)(x)
    np.testing.assert_array_equal(counts, [2, 4, 6])


@pytest.mark.parametrize("dtype", [jnp.float32, jnp.float64])
def test_the_unit_is_that_of_the_precision(dtype):
    x = jnp.linspace(0.1, 3, 50, dtype=dtype)
    moved = perturb_rounding(jnp.exp)(x)
    assert moved.dtype == dtype
    error = jnp.abs(moved / jnp.exp(x) - 1)
    assert 0 < jnp.min(error) and jnp.max(error) <= 2 * jnp.finfo(dtype).eps


def test_what_is_no_number_stays_none():
    moved = perturb_rounding(jnp.log)(jnp.array([-1.0, 0.0, jnp.inf]))
    np.testing.assert_array_equal(moved, [jnp.nan, -jnp.inf, jnp.inf])


@pytest.mark.parametrize(
    "function",
    every_second(
        [
            lambda x: jnp.cos(1e-9 * x),
            lambda x: 1 + 1e-20 * x,
            jax.nn.sigmoid,
            lambda x: jax.scipy.special.polygamma(1, x),
            lambda x: jnp.mod(x, 0.3),
            lambda x: jax.lax.reduce_window(x, 0.0, jax.lax.add, (3,), (1,), "SAME"),
            lambda x: jax.random.gamma(jax.random.key(0), x),
            lambda x: x.astype(jnp.float32).astype(float),
            lambda x: jnp.fft.rfft(x).real,
        ]
    ),
)
def test_what_is_an_integer_by_rounding_and_what_is_unknown_moves(function):
    x = jnp.linspace(38.1, 41.3, 16)
    assert np.all(np.ptp(spread(function, x), axis=0) > 0)


def test_narrowing_errs_by_units_of_the_narrow_precision():
    errors = spread(lambda x: x.astype(jnp.float32).astype(float), jnp.asarray(1.3))
    assert set(np.abs(errors)) <= {np.finfo(np.float32).eps * k for k in (1, 2)} and np.any(errors)


def test_two_results_that_absorbed_different_addends_move_apart():
    errors = spread(lambda a, b: (1 + a) - (1 + b), jnp.asarray(1e-20), jnp.asarray(3e-20))
    assert np.ptp(errors) >= np.finfo(float).eps


def test_a_cancelling_sum_errs_by_its_terms():
    errors = spread(jnp.sum, jnp.array([1e10, 1e-10, -1e10]))
    assert np.ptp(errors) >= np.spacing(1e10)
    dots = spread(jnp.dot, jnp.array([1e10, 1e-10, -1e10]), jnp.ones(3))
    assert np.ptp(dots) >= np.spacing(1e10)


def test_integers_by_origin_are_exact_through_loops():
    def counts(x):
        tally = jax.lax.scan(lambda s, t: (s + (t > 2), None), 0.0, x)[0]
        large = jnp.float64(2**60) + tally
        return tally * 3 + jnp.sum(x > 0), jax.nn.one_hot(1, 3) @ jnp.arange(3.0), large

    x = jnp.array([0.3, 2.7, 1.9, 5.0])
    tally, dot, large = perturb_rounding(counts)(x)
    assert (tally, dot) == (10, 1)
    assert large != 2**60 + 2  # above 2^53 not every integer is a double


def test_an_integer_that_overflows_is_arbitrary():
    def powers(nothing, n):
        return n**10

    run = jax.vmap(perturb_rounding(powers), (0, None))
    lanes = jnp.linspace(1, 2, 8)
    assert set(np.asarray(run(lanes, jnp.asarray(50)))) == {50**10}
    assert len(set(np.asarray(run(lanes, jnp.asarray(90))))) > 4


@pytest.mark.thorough
def test_an_integration_with_its_checks_runs():
    def turned(x):
        return integrate(lambda z, _: jnp.array([-z[1], z[0]]), x, jnp.array([0.0, 1.0]), rtol=1e-6)

    errors = spread(turned, jnp.array([1.2, 1.5]))
    assert 0 < np.max(np.abs(errors)) < 1e-12


def origins(function, *inputs, lanes=32):
    """Results in several lanes, with the origins of numbers moved."""
    moved = jax.jit(jax.vmap(perturb_rounding(lambda lane, *given: function(*given), True)))
    return moved(jnp.arange(1.0, 1 + lanes), *(jnp.stack([jnp.asarray(i)] * lanes) for i in inputs))


def test_origins_are_inputs_rounded_constants_and_draws():
    assert len(np.unique(origins(lambda x: x, 0.7))) == 2
    assert len(np.unique(origins(lambda x: jnp.full_like(x, 0.1), 0.7))) == 2
    assert len(np.unique(origins(lambda x: jnp.full_like(x, 0.25), 0.7))) == 1
    key = jax.random.key_data(jax.random.key(0))
    draw = origins(lambda key: jax.random.normal(jax.random.wrap_key_data(key), (5,)), key)
    assert np.all(np.ptp(np.asarray(draw), axis=0) > 0)
    # What is first rounded from whole numbers, too; whole numbers themselves are known.
    assert len(np.unique(origins(lambda n: n / 1001.0, jnp.asarray(3)))) == 2
    assert len(np.unique(origins(lambda n: n * 7.0 + 2, jnp.asarray(3)))) == 1


@pytest.mark.parametrize(
    "jump",
    every_second(
        [
            lambda y, c: jnp.argmax(jnp.stack([y, c])),
            lambda y, c: jax.lax.top_k(jnp.stack([y, c]), 1)[1][0],
            lambda y, c: y == c,
            lambda y, c: jnp.sign(y - c),
            lambda y, c: y - c < 0,
            lambda y, c: (y - c).astype(bool),
            lambda y, c: jnp.diff(jnp.sort(jnp.stack([y, c])))[0] != 0,
            lambda y, c: jnp.abs(y - c) ** 0.1 > 0.01,
            lambda y, c: y % c > 0.5,
        ]
    ),
)
def test_ties_of_numbers_that_move_together_are_seen(jump):
    """c / 49 * 49 is c but for rounding."""
    for given in (1.3, jnp.asarray(3)):
        moved = origins(lambda c: jump(c / 49.0 * 49.0, c * 1.0), given, lanes=256)
        assert len(np.unique(moved)) > 1


@pytest.mark.parametrize("jump", [jnp.floor, jnp.ceil, jnp.round, lambda x: x.astype(int)])
def test_ties_jump_where_origins_move_and_whole_numbers_by_origin_do_not(jump):
    near = 3.0 - 1e-13 + (0.5 if jump is jnp.round else 0.0)
    assert len(np.unique(origins(lambda x: jump(x), near))) == 2
    assert len(np.unique(origins(lambda n: jump(n * 1.0), 3))) == 1


def test_comparisons_of_equal_numbers_are_ties():
    assert len(np.unique(origins(lambda x: jnp.where(x * 3 <= 3 * x, 1, 0), 0.3))) == 2
    assert len(np.unique(origins(lambda x: jnp.where(x != x, 1, 0), 0.3))) == 1


@pytest.mark.parametrize(
    "function",
    every_second(
        [
            lambda a, b: jnp.hypot(a, b),
            lambda a, b: jnp.where(jnp.isinf(a), 0.0, b),
            lambda a, b: 1.0 / (a + jnp.inf),
            lambda a, b: jnp.exp(a - jnp.inf),
            lambda a, b: b / (jnp.inf - a),
        ]
    ),
)
@pytest.mark.parametrize("moved", [origins, lambda *given: spread(*given) + given[0](*given[1:])])
def test_infinity_is_near_no_number_and_makes_exact_zeros(function, moved):
    """x == inf was a tie once, since their distance is no more than a part of infinity."""
    given = jnp.asarray(0.55), jnp.asarray(0.83)
    found, plain = np.asarray(moved(function, *given)), float(function(*given))
    assert np.allclose(found, plain, rtol=MOVED_ORIGINS, atol=0)


def test_of_two_numbers_that_tie_one_is_not_above_and_below_the_other():
    def both(a, b):
        return jnp.stack([(a > b) & (b > a), (a > b) | (b > a) | (a == b), a > b]) * 1.0

    never, always, above = origins(both, 1.1 * 49 / 49, np.nextafter(1.1, 2)).T
    assert not np.any(never) and np.all(always) and 0 < np.mean(above) < 1


@pytest.mark.parametrize(
    "function",
    every_second(
        [
            lambda m: jax.lax.reduce_window(
                m, 1.0, lambda a, b: a * b + 0 * a, (2, 1), (1, 1), "SAME"
            ),
            lambda m: jax.lax.reduce(m, 0.0, jnp.hypot, (0,)),
            lambda m: jax.scipy.sparse.linalg.cg(m + m.T, m[0])[0],
            lambda m: jnp.abs(jax.scipy.linalg.hessenberg(m)),
            lambda m: jax.scipy.linalg.lu(m)[2],
        ]
    ),
)
def test_operations_of_several_results_err_by_little(function):
    matrix = 2 * np.eye(4) + 0.1 * np.arange(16.0).reshape(4, 4)
    errors = spread(function, jnp.asarray(matrix))
    assert 0 < np.abs(errors).max() < 1e4 * np.finfo(float).eps
