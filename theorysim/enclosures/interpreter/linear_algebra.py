"""Factorisations and spectra of matrices, as JAX defines them.

Factors follow their recursions in any arithmetic. Spectra are enclosed by python-flint, in balls
only: the eigenvalues of a symmetric matrix always, an eigenvector where its eigenvalue is certainly
simple, with the sign that JAX's own run gives it; elsewhere it is undefined. What a singular or
indefinite matrix does not have is undefined, and a pivot that nothing decides is undecided.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from flint import acb_mat, arb, arb_mat

from theorysim.enclosures.arithmetic.balls import BALLS
from theorysim.enclosures.arithmetic.base import Undecided, either
from theorysim.enclosures.arithmetic.numbers import UNDEFINED
from theorysim.enclosures.interpreter.arrays import by_jax, map_entries, object_array
from theorysim.enclosures.interpreter.interpreter import Interpreter
from theorysim.enclosures.interpreter.reductions import first_extreme
from theorysim.enclosures.interpreter.rulebook import Rule, Table


def _each_matrix(factor: Callable[..., tuple]) -> Rule:
    """`factor(interpreter, parameters, matrix, ...) -> results` of every matrix of a batch."""

    def several(interpreter: Interpreter, equation: Any, *arrays: np.ndarray) -> list[np.ndarray]:
        results = [np.empty(v.aval.shape, object) for v in equation.outvars]
        for at in np.ndindex(*arrays[0].shape[:-2]):
            found = factor(interpreter, equation.params, *(array[at] for array in arrays))
            for result, value in zip(results, found, strict=True):
                result[at] = value
        return results

    return several


def _zero(interpreter: Interpreter) -> Any:
    return interpreter.floats(0).item()


def _less(interpreter: Interpreter, start: Any, a: np.ndarray, b: np.ndarray) -> Any:
    """start - a b, of two vectors."""
    functions = interpreter.arithmetic.functions
    return functools.reduce(functions["sub"], map(functions["mul"], a, b), start)


def _triangular_solve(
    interpreter: Interpreter, p: dict[str, Any], a: np.ndarray, b: np.ndarray
) -> tuple[np.ndarray]:
    """x of op(a) x = b or x op(a) = b, row by row of the unknown."""
    right = not p["left_side"]
    turned = bool(p["transpose_a"]) != right
    a, b = a.T if turned else a, b.T if right else b
    rows = list(range(len(a)))
    if p["lower"] == turned:
        rows.reverse()
    x = np.empty(b.shape, object)
    for count, row in enumerate(rows):
        done = rows[:count]
        for column in range(b.shape[1]):
            rest = _less(interpreter, b[row, column], a[row, done], x[done, column])
            divide = interpreter.arithmetic.functions["div"]
            x[row, column] = rest if p["unit_diagonal"] else divide(rest, a[row, row])
    return (x.T if right else x,)


def _cholesky(interpreter: Interpreter, p: dict[str, Any], a: np.ndarray) -> tuple[np.ndarray]:
    """The lower factor; undefined as a whole where a pivot may not be positive, as in JAX."""
    functions, zero = interpreter.arithmetic.functions, _zero(interpreter)
    factor = np.full(a.shape, zero, object)
    for i, j in zip(*np.tril_indices(len(a))):
        rest = _less(interpreter, a[i, j], factor[i, :j], factor[j, :j])
        factor[i, j] = functions["sqrt"](rest) if i == j else functions["div"](rest, factor[j, j])
        if i == j and not interpreter.compare("gt", rest, zero):
            undefined = interpreter.arithmetic.lift(UNDEFINED)
            return (np.where(np.tri(len(a), dtype=bool), undefined, zero),)
    return (factor,)


def _lu(interpreter: Interpreter, p: dict[str, Any], a: np.ndarray) -> tuple:
    """Both factors in one matrix, the pivots and the order of rows: the first largest leads."""
    divide, size = (interpreter.arithmetic.functions[name] for name in ("div", "abs"))
    a, rows, pivots = a.copy(), np.arange(len(a)), []
    for k in range(min(a.shape)):
        pivot = k + first_extreme(interpreter, "gt", map_entries(size, a[k:, k]))
        pivots.append(pivot)
        a[[k, pivot]], rows[[k, pivot]] = a[[pivot, k]], rows[[pivot, k]]
        if interpreter.compare("eq", a[k, k], _zero(interpreter)):
            continue  # so is all below it
        for i in range(k + 1, len(a)):
            a[i, k] = divide(a[i, k], a[k, k])
            for j in range(k + 1, a.shape[1]):
                a[i, j] = _less(interpreter, a[i, j], a[i, k : k + 1], a[k : k + 1, j])
    return a, pivots, rows


def _qr(interpreter: Interpreter, p: dict[str, Any], a: np.ndarray) -> tuple:
    """By Householder's reflections with the signs of LAPACK: none where there is nothing to clear.

    A reflection H = 1 - tau v v^T sends column k to beta e_k, beta of the sign opposite to its top.
    """
    interpreter.require(not p["pivoting"], "qr with pivoting")
    functions, zero = interpreter.arithmetic.functions, _zero(interpreter)
    multiply, divide, subtract = (functions[name] for name in ("mul", "div", "sub"))
    r, height = a.copy(), len(a)
    q = interpreter.floats(np.eye(height, dtype=int))
    for k in range(min(a.shape)):
        column = r[k:, k]
        nonzero = [interpreter.compare("ne", entry, zero) for entry in column[1:]]
        clears = functools.reduce(either, nonzero, False)
        if clears is None:
            raise Undecided
        if not clears:
            continue
        square = functions["neg"](_less(interpreter, zero, column, column))
        beta = functions["sqrt"](square)
        if interpreter.decide("ge", column[0], zero):
            beta = functions["neg"](beta)
        top = subtract(column[0], beta)
        v = np.array([interpreter.floats(1).item(), *(divide(x, top) for x in column[1:])], object)
        tau = functions["neg"](divide(top, beta))
        for rows in (r.T[:, k:], q[:, k:]):  # views: H acts on columns of r and on rows of q
            for row in rows:
                share = multiply(tau, functions["neg"](_less(interpreter, zero, row, v)))
                row[:] = [subtract(x, multiply(share, y)) for x, y in zip(row, v)]
        r[k, k], r[k + 1 :, k] = beta, zero
    kept = height if p["full_matrices"] else min(a.shape)
    return q[:, :kept], np.where(np.tri(kept, a.shape[1], -1, bool), zero, r[:kept])


def _eigh(interpreter: Interpreter, p: dict[str, Any], a: np.ndarray) -> tuple:
    """Eigenvectors and rising eigenvalues of the symmetric matrix with this triangle."""
    known = interpreter.arithmetic is BALLS and p["sort_eigenvalues"] and not p["subset_by_index"]
    interpreter.require(known, "eigh")
    if not a.size:
        return a, np.diag(a)
    places = np.indices(a.shape)
    low, high = places.min(0), places.max(0)
    a = a[high, low] if p["lower"] else a[low, high]
    with jax.enable_x64(True):
        middle = np.vectorize(lambda ball: float(ball.mid()), otypes=[float])(a)
        triangle = "L" if p["lower"] else "U"
        guesses = np.asarray(jnp.linalg.eigh(jnp.asarray(middle), triangle)[1])
    if _is_sorted_diagonal(interpreter, a, guesses):
        units = guesses.astype(int)
        return interpreter.floats(units), np.diag(a)[units.argmax(0)]
    values = _spectrum(a)
    vectors = [_eigenvector(a, value, guess) for value, guess in zip(values, guesses.T)]
    return object_array([x for vector in vectors for x in vector], a.shape).T, values


def _is_sorted_diagonal(interpreter: Interpreter, a: np.ndarray, vectors: np.ndarray) -> bool:
    """Whether a matrix is diagonal, and unit vectors name its entries in certainly rising order.

    Then they are eigenvectors also where eigenvalues are equal.
    """
    size = len(a)
    if not all(a[i, j] == 0 for i, j in np.ndindex(a.shape) if i != j):
        return False
    places = vectors.argmax(0)
    if not np.array_equal(vectors, np.eye(size)[:, places]):
        return False
    entries = np.diag(a)[places]
    return all(interpreter.compare("le", x, y) for x, y in itertools.pairwise(entries))


def _eigenvector(a: np.ndarray, value: arb, guess: np.ndarray) -> list[arb]:
    """The unit vector v with (a - value) v = 0 and guess . v > 0, undefined if there may be more.

    It solves (a - value) v + guess mu = 0, guess . v = 1: for a simple eigenvalue the only solution
    has mu = 0, for a multiple one the system is singular, which python-flint does not solve.
    """
    size = len(guess)
    if not np.isfinite(guess).all():
        return [UNDEFINED] * size
    shifted = a - object_array([value], (1, 1)) * np.eye(size, dtype=int)
    rows = [[*row, arb(x)] for row, x in zip(shifted.tolist(), guess.tolist())]
    system = arb_mat([*rows, [*map(arb, guess.tolist()), arb(0)]])
    try:
        solved = system.solve(arb_mat(size + 1, 1, [0] * size + [1])).entries()[:size]
    except ZeroDivisionError:
        return [UNDEFINED] * size
    length = sum((x * x for x in solved), arb(0)).sqrt()
    return [x / length for x in solved]


def _spectrum(a: np.ndarray) -> list[arb]:
    """Rising eigenvalues of a symmetric matrix of balls.

    Approximate eigenvectors Q make Q^(-1) A Q = D + F nearly diagonal. All eigenvalues lie within
    |F| of those of D (Bauer and Fike), in intervals that overlap as many as there are intervals,
    because they move continuously from those of D.

    Raises:
        Undecided: where so many bits give no basis.
    """
    if not all(ball.is_finite() for ball in a.flat):
        return [UNDEFINED] * len(a)
    matrix = arb_mat(a.tolist())
    try:
        _, vectors = acb_mat(matrix.mid()).eig(right=True, algorithm="approx")
        basis = vectors.real.mid()
        turned = np.array(basis.solve(matrix * basis).tolist(), object).reshape(a.shape)
    except (ValueError, ZeroDivisionError):
        raise Undecided from None
    middles = [ball.mid() for ball in np.diag(turned)]
    rest = turned - np.diag(middles)
    radius = functools.reduce(arb.max, (sum(map(abs, row), arb(0)).upper() for row in rest), arb(0))
    if not radius.is_finite():
        raise Undecided
    groups: list[list[arb]] = []
    for ball in (middle + radius * arb(0, 1) for middle in sorted(middles)):
        if groups and ball.overlaps(groups[-1][-1]):
            groups[-1].append(ball)
        else:
            groups.append([ball])
    return [functools.reduce(arb.union, group) for group in groups for _ in group]


def _singular_values(interpreter: Interpreter, p: dict[str, Any], a: np.ndarray) -> tuple[list]:
    """Square roots of the eigenvalues of A^T A, from the largest to the smallest."""
    interpreter.require(interpreter.arithmetic is BALLS and not p["compute_uv"], "svd with vectors")
    a = a.T if len(a) < a.shape[1] else a
    balls = arb_mat(a.tolist())
    gram = np.array((balls.transpose() * balls).tolist(), object).reshape(a.shape[1], -1)
    return ([_root(value) for value in reversed(_spectrum(gram))],)


def _root(square: arb) -> arb:
    """The root of a number that is not negative, though its ball may be."""
    ends = (end.max(arb(0)).sqrt() for end in (square.lower(), square.upper()))
    return arb.union(*ends)


def _linear_solve(interpreter: Interpreter, equation: Any, *operands: np.ndarray) -> list[Any]:
    """A solver that JAX was given for a system, applied to the right side."""
    lengths, programs = equation.params["const_lengths"], equation.params["jaxprs"]
    before = lengths.matvec + lengths.vecmat
    constants = operands[before : before + lengths.solve]
    return interpreter.call(programs.solve, [*constants, *operands[sum(lengths) :]])


LINEAR_ALGEBRA: Table = {
    "triangular_solve": {"ff>f": _each_matrix(_triangular_solve)},
    "cholesky": {"f>f": _each_matrix(_cholesky)},
    "lu": {"f>fii": _each_matrix(_lu)},
    "lu_pivots_to_permutation": {"i>i": by_jax},
    "qr": {"f>ff": _each_matrix(_qr)},
    "eigh": {"f>ff": _each_matrix(_eigh)},
    "svd": {"f>f+": _each_matrix(_singular_values)},
    "custom_linear_solve": {"[fib]+>f+": _linear_solve},
}
