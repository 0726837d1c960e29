"""Factorisations, solutions and spectra in balls against mpmath at many more digits."""

import functools
import math

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest
from flint import arb, ctx

from theorysim.enclosures.arithmetic import BALLS, INTERVALS, Undecided, slopes_arithmetic
from theorysim.enclosures.interpreter import RULES, Interpreter, UnknownPrimitive, object_array

pytestmark = pytest.mark.usefixtures("x64")

DIGITS = 90
BITS = 200
# Balls of well-conditioned problems of this size keep at least so many bits of `BITS`.
KEPT_BITS = 120
# JAX itself, in float64, of problems with condition numbers up to ten.
FLOAT_ERROR = 1e-12


def enclosed(function, *matrices, arithmetic=BALLS):
    """Every output of a function of float matrices, entered as their exact bits."""
    interpreter = Interpreter(arithmetic, RULES, "a test")
    lifted = [
        object_array([arithmetic.lift(arb(float(x))) for x in np.ravel(m)], np.shape(m))
        for m in matrices
    ]
    return interpreter.run(jax.make_jaxpr(function)(*matrices), lifted)


def as_mpf(ball):
    return tuple(
        mpmath.mpf(int(m)) * mpmath.mpf(2) ** int(e)
        for m, e in (ball.mid().man_exp(), ball.rad().man_exp())
    )


def contains(ball, truth):
    middle, radius = as_mpf(ball)
    return abs(middle - truth) <= radius + mpmath.mpf(10) ** (10 - DIGITS)


def check(balls, truth, kept=KEPT_BITS):
    """Balls contain the true entries and are narrow."""
    for at in np.ndindex(*balls.shape):
        entry = truth[at if len(at) == 2 else at[0]]
        assert balls[at].is_finite() and contains(balls[at], entry), at
        assert balls[at].rad() <= arb(2) ** -kept


def random_matrix(seed, n=5, m=None):
    return np.random.default_rng(seed).normal(size=(m or n, n))


def positive(seed, n=5, least=0.1):
    q, _ = np.linalg.qr(random_matrix(seed, n))
    return (q * np.geomspace(least, 1, n)) @ q.T


precise = functools.partial(mpmath.workdps, DIGITS)


def symmetrised(a):
    return (mpmath.matrix(a) + mpmath.matrix(a).T) / 2


PRODUCTS = {
    "two axes are summed": "kij,kijm->m",
    "two lead": "abci,abij->abcj",
    "two stay on either side": "abi,icd->abcd",
    "all of it": "aijb,acij->abc",
    "nothing is summed": "ab,cd->abcd",
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_products_of_arrays_are_those_of_numpy(name):
    axes, lengths = PRODUCTS[name], {letter: 2 + ord(letter) % 3 for letter in "abcdijkm"}
    shapes = [[lengths[letter] for letter in side] for side in axes.partition("->")[0].split(",")]
    one, other = (np.arange(1.0, 1 + math.prod(shape)).reshape(shape) for shape in shapes)
    (found,) = enclosed(lambda a, b: jnp.einsum(axes, a, b), one, other)
    assert [float(ball.mid()) for ball in found.flat] == np.ravel(
        np.einsum(axes, one, other)
    ).tolist()


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("least", [0.1, 1e-12])
def test_cholesky(seed, least):
    a = positive(seed, least=least)
    with precise(), ctx.workprec(BITS):
        (factor,) = enclosed(jnp.linalg.cholesky, a)
        check(factor, mpmath.cholesky(symmetrised(a)), 80)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("shift", [0, 1e10])
def test_solutions_and_determinants(seed, shift):
    """With a large multiple of a matrix of rank one the condition number is some 1e10."""
    a, b = random_matrix(seed) + shift, random_matrix(seed + 9, 5, 2)[:, :2]
    b = np.random.default_rng(seed).normal(size=(5, 2))
    with precise(), ctx.workprec(BITS):
        exact = mpmath.matrix(a)
        check(enclosed(jnp.linalg.solve, a, b)[0], exact**-1 * mpmath.matrix(b))
        check(enclosed(jnp.linalg.inv, a)[0], exact**-1)
        sign, logarithm = enclosed(jnp.linalg.slogdet, a)
        assert contains(logarithm.item(), mpmath.log(abs(mpmath.det(exact))))
        assert sign.item() == mpmath.sign(mpmath.det(exact))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("transpose", [0, 1])
@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("unit", [False, True])
def test_triangular_systems(seed, transpose, lower, unit):
    a, b = random_matrix(seed), random_matrix(seed + 5)
    part = np.tril(a) if lower else np.triu(a)
    np.fill_diagonal(part, 1 if unit else np.diag(part))
    for left in (True, False):

        def solve(a, b, left=left):
            return jax.lax.linalg.triangular_solve(
                a, b, left_side=left, lower=lower, transpose_a=bool(transpose), unit_diagonal=unit
            )

        with precise(), ctx.workprec(BITS):
            exact = mpmath.matrix(part.T if transpose else part) ** -1
            right = mpmath.matrix(b)
            check(enclosed(solve, a, b)[0], exact * right if left else right * exact, 100)


@pytest.mark.parametrize("shape", [(5, 3), (4, 4), (3, 5)])
@pytest.mark.parametrize("mode", ["reduced", "complete"])
def test_orthogonal_triangular_factors_have_the_signs_of_jax(shape, mode):
    a = np.random.default_rng(0).normal(size=shape)
    factor = functools.partial(jnp.linalg.qr, mode=mode)
    with precise(), ctx.workprec(BITS):
        q, r = enclosed(factor, a)
        for ours, theirs in zip((q, r), factor(a)):
            middle = np.vectorize(lambda ball: float(ball.mid()))(ours)
            np.testing.assert_allclose(middle, theirs, atol=FLOAT_ERROR)
        check(q.T @ q, mpmath.eye(q.shape[1]))
        check(q @ r, mpmath.matrix(a))


def test_nothing_to_clear_is_not_reflected():
    a = np.array([[1.0, 2, 3], [0, -4, 5], [0, 0, 6]])
    q, r = enclosed(jnp.linalg.qr, a)
    np.testing.assert_array_equal(np.asarray(jnp.linalg.qr(a)[1]), a)
    assert all(x == y for x, y in zip(r.flat, map(arb, a.ravel().tolist())))
    assert all(x == y for x, y in zip(q.flat, map(arb, np.eye(3).ravel().tolist())))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("gap", [0.3, 1e-9])
def test_symmetric_spectra(seed, gap):
    """Two eigenvalues closer than float64 resolves the vectors of are told apart by more bits."""
    q, _ = np.linalg.qr(random_matrix(seed))
    a = (q * np.array([-1, 0.5, 0.5 + gap, 2, 3])) @ q.T
    a = (a + a.T) / 2
    with precise(), ctx.workprec(2 * BITS):
        values, vectors = enclosed(jnp.linalg.eigh, a)
        true_values, true_vectors = mpmath.eigsy(mpmath.matrix(a))
        assert all(contains(ball, truth) for ball, truth in zip(values, true_values))
        for k in range(5):
            middle = [as_mpf(ball)[0] for ball in vectors[:, k]]
            sign = mpmath.sign(sum(x * y for x, y in zip(middle, true_vectors[:, k])))
            for ball, truth in zip(vectors[:, k], sign * true_vectors[:, k]):
                assert contains(ball, truth) and ball.rad() < 1e-50
        if gap > 0.1:
            signs = np.asarray(jnp.linalg.eigh(a)[1])
            middle = np.vectorize(lambda ball: float(ball.mid()))(vectors)
            np.testing.assert_allclose(middle, signs, atol=FLOAT_ERROR)


@pytest.mark.parametrize("triangle", ["L", "U"])
@pytest.mark.parametrize("x", [1.1, 1.3, 1.7])
def test_eigenvectors_have_the_signs_of_the_triangle_that_is_read(triangle, x):
    a = np.sin(x * np.outer(np.arange(1, 6), np.arange(2, 7)))
    a = a + a.T
    with precise(), ctx.workprec(BITS):
        _, vectors = enclosed(lambda a: jnp.linalg.eigh(a, triangle), a)
        signs = np.asarray(jnp.linalg.eigh(a, triangle)[1])
    middle = np.vectorize(lambda ball: float(ball.mid()))(vectors)
    np.testing.assert_allclose(middle, signs, atol=FLOAT_ERROR)


@pytest.mark.parametrize(
    "a", [np.ones((3, 3)), 1 + np.eye(3), np.array([[1.0, 2], [2, 1]]).repeat(2, 0).repeat(2, 1)]
)
def test_vectors_of_multiple_eigenvalues_are_undefined(a):
    with precise(), ctx.workprec(BITS):
        values, vectors = enclosed(jnp.linalg.eigh, a)
        truth = mpmath.eigsy(mpmath.matrix(a), eigvals_only=True)
        assert all(contains(ball, value) for ball, value in zip(values, truth))
    for k, value in enumerate(truth):
        others = [abs(value - other) for i, other in enumerate(truth) if i != k]
        defined = all(ball.is_finite() for ball in vectors[:, k])
        assert defined == (min(others) > 0.1), k


@pytest.mark.parametrize("diagonal", [[1.0, 1, 1], [2.0, 1, 1, 3], [0.0, 0, -1], [5.0]])
def test_a_diagonal_matrix_has_the_unit_vectors_of_jax(diagonal):
    a = np.diag(diagonal)
    values, vectors = enclosed(jnp.linalg.eigh, a)
    ours = np.vectorize(float)(vectors)
    np.testing.assert_array_equal(ours, jnp.linalg.eigh(a)[1])
    np.testing.assert_array_equal(a @ ours, ours * np.vectorize(float)(values))


def test_a_matrix_that_float64_takes_for_diagonal_is_none():
    a = np.array([[1.0, 1e-200], [1e-200, 2.0]])
    np.testing.assert_array_equal(jnp.linalg.eigh(a)[1], np.eye(2))
    with precise(), ctx.workprec(4 * BITS):
        _, vectors = enclosed(jnp.linalg.eigh, a)
    assert all(0 < abs(ball) < arb("1e-199") for ball in (vectors[0, 1], vectors[1, 0]))


@pytest.mark.parametrize("seed", range(4))
def test_singular_values(seed):
    a = random_matrix(seed, 3, 5)
    with precise(), ctx.workprec(BITS):
        (values,) = enclosed(functools.partial(jnp.linalg.svd, compute_uv=False), a)
        truth = sorted(mpmath.svd_r(mpmath.matrix(a), compute_uv=False), reverse=True)
        assert all(contains(ball, value) for ball, value in zip(values, truth))


def test_singular_values_that_vanish_are_enclosed():
    with precise(), ctx.workprec(BITS):
        (values,) = enclosed(functools.partial(jnp.linalg.svd, compute_uv=False), np.ones((3, 2)))
    assert contains(values[0], mpmath.sqrt(6)) and contains(values[1], 0)
    assert values[1].rad() < 1e-20


@pytest.mark.parametrize("gap", [0.0, 1e-30, 1e-12])
def test_clusters_of_eigenvalues_are_enclosed(gap):
    """Two of four eigenvalues are equal, or as good as equal at the precision of the balls."""

    def spectrum(a):
        return jnp.linalg.eigvalsh(a + gap * jnp.diag(jnp.array([0.0, 1, 0, 0])))

    for bits in (64, BITS):
        with precise(), ctx.workprec(bits):
            (values,) = enclosed(spectrum, np.ones((4, 4)))
            exact = mpmath.ones(4) + mpmath.diag([0, mpmath.mpf(str(gap)), 0, 0])
            truth = mpmath.eigsy(exact, eigvals_only=True)
            assert all(contains(ball, value) for ball, value in zip(values, truth))
            assert all(ball.rad() < 2.0 ** (20 - bits) for ball in values)


# What is singular, indefinite or tied


SINGULAR = np.array([[1.0, 2, 3], [4, 5, 6], [7, 8, 9]])


def test_singular_and_indefinite_matrices_have_no_defined_factors():
    def never_finite(function, *matrices):
        try:
            outputs = enclosed(function, *matrices)
        except Undecided:
            return True
        return not all(ball.is_finite() for ball in np.ravel(outputs[0]))

    assert never_finite(jnp.linalg.inv, SINGULAR)
    assert never_finite(jnp.linalg.inv, np.zeros((2, 2)))
    assert never_finite(jnp.linalg.solve, np.ones((3, 3)), np.eye(3))
    assert never_finite(jnp.linalg.cholesky, np.diag([1.0, -1, 1]))
    assert never_finite(jnp.linalg.cholesky, SINGULAR)
    (factor,) = enclosed(jnp.linalg.cholesky, np.diag([4.0, 1, -1]))
    assert not any(ball.is_finite() for ball in factor[np.tril_indices(3)])  # as JAX has it
    assert never_finite(jnp.linalg.inv, np.array([[np.nan]]))
    assert never_finite(jnp.linalg.eigvalsh, np.full((2, 2), np.nan))


def test_a_determinant_of_zero_is_known():
    (value,) = enclosed(jnp.linalg.det, np.array([[0.0, 2], [0, 3]]))
    assert value.item() == 0
    with ctx.workprec(BITS):
        (value,) = enclosed(jnp.linalg.det, SINGULAR)
        assert value.item().contains(0)


def test_a_pivot_that_nothing_decides_is_undecided():
    def tied(x):
        return jax.lax.linalg.lu(
            jnp.stack([jnp.stack([jnp.sin(x) ** 2, x]), jnp.stack([1 - jnp.cos(x) ** 2, -x])])
        )[0]

    with pytest.raises(Undecided):
        enclosed(tied, np.float64(0.5))


@pytest.mark.parametrize("arithmetic", [INTERVALS, slopes_arithmetic(0)])
def test_spectra_over_a_box_are_refused(arithmetic):
    with pytest.raises(UnknownPrimitive, match="eigh"):
        enclosed(jnp.linalg.eigvalsh, np.eye(2), arithmetic=arithmetic)


@pytest.mark.parametrize("arithmetic", [INTERVALS, slopes_arithmetic(0)])
def test_systems_may_be_solved_over_a_box(arithmetic):
    a = random_matrix(1, 3) + 3 * np.eye(3)
    with precise(), ctx.workprec(BITS):
        (inverse,) = enclosed(jnp.linalg.inv, a, arithmetic=arithmetic)
        balls = np.frompyfunc(arithmetic.ball, 1, 1)(inverse)
        check(balls, mpmath.matrix(a) ** -1)
