"""Two-layer linear networks in many digits: balls from python-flint, scalars from mpmath.

Independent of theorysim. The flow is dQ/dt = 2 F Q - Q Q^T Q with Q = [W_1; W_2^T]; its product is
evaluated by the Riccati formula as it stands, which inverts matrices with entries of e^4000, and
its factors by Taylor series.
"""

import itertools
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import mpmath as mp
import numpy as np
from flint import arb, arb_mat, ctx

DIGITS = 60
ORDER = 30


class Problem(NamedTuple):
    """Orthogonal U and V, singular values of A = U diag V^T, start W_1 = W_2 = exp(-tau) I."""

    left: arb_mat
    singular_values: Sequence[float]
    right: arb_mat
    tau: float


def orthogonal(width: int, seed: int, determinant: int, bits: int) -> arb_mat:
    """(I - S)(I + S)^-1 diag(1, ..., 1, determinant) for a random antisymmetric rational S.

    The same matrix for every number of bits.
    """
    entries = np.random.default_rng(seed).integers(-1000, 1001, (width, width))
    entries = np.triu(entries, 1) - np.triu(entries, 1).T
    ctx.prec = bits
    identity, skew = _identity(width), arb_mat(entries.tolist()) * (arb(1) / 500)
    signs = [1] * (width - 1) + [determinant]
    return (identity + skew).solve(identity - skew) * _diagonal([arb(s) for s in signs])


def products(problem: Problem, times: Iterable[float], bits: int) -> np.ndarray:
    """W_1 W_2 at the given times from balls of this many bits; ArithmeticError if those are few."""
    ctx.prec = bits
    left, values, right, tau = problem
    small = (-arb(tau)).exp() / arb(2).sqrt()
    rising = (left.transpose() + right.transpose()) * small
    falling = (left.transpose() - right.transpose()) * small
    rates = [arb(value) for value in values]
    return np.array([_product(problem, rising, falling, rates, arb(float(t))) for t in times])


def _product(
    problem: Problem, rising: arb_mat, falling: arb_mat, rates: list[arb], time: arb
) -> np.ndarray:
    grown = _diagonal([((4 * s * time).exp() - 1) / (2 * s) for s in rates])
    decayed = _diagonal([(1 - (-4 * s * time).exp()) / (2 * s) for s in rates])
    riccati = _identity(len(rates)) + rising.transpose() * grown * rising
    riccati += falling.transpose() * decayed * falling
    rising = _diagonal([(2 * s * time).exp() for s in rates]) * rising
    falling = _diagonal([(-2 * s * time).exp() for s in rates]) * falling
    try:
        inside = (rising + falling) * riccati.solve((rising - falling).transpose())
    except ZeroDivisionError as error:
        raise ArithmeticError(f"{ctx.prec} bits are too few") from error
    # What is left has entries of order one: fewer bits do for the rotation back.
    precision, ctx.prec = ctx.prec, min(ctx.prec, 256)
    product = problem.left * inside * problem.right.transpose() * (arb(1) / 2)
    ctx.prec = precision
    return to_floats(product)


def factors(
    first: np.ndarray, second: np.ndarray, target: np.ndarray, times: Iterable[float], bits: int
) -> list[tuple[np.ndarray, np.ndarray]]:
    """(W_1, W_2) at increasing times, from any start, by Taylor series with steps of 0.04/sigma_1.

    The arguments are taken as exact. Truncation is far below the rounding of floats at 30 terms.
    """
    ctx.prec = bits
    rows, columns = target.shape
    zeros = np.zeros
    field = np.block([[zeros((rows, rows)), target], [target.T, zeros((columns, columns))]])
    double = arb_mat((2 * field).tolist())
    state = arb_mat(np.concatenate([first, second.T]).tolist())
    longest, now, path = 0.04 / np.linalg.norm(target, 2), 0.0, []
    for time in times:
        count = int(np.ceil((time - now) / longest))
        for _ in range(count):
            state = _taylor_step(double, state, (arb(float(time)) - arb(now)) / count)
        now = float(time)
        both = to_floats(state, radius=None)
        path.append((both[:rows], both[rows:].T))
    return path


def _taylor_step(double: arb_mat, state: arb_mat, step: arb) -> arb_mat:
    terms, grams = [state], []
    for k in range(ORDER):
        gram = terms[0].transpose() * terms[k]
        for i in range(1, k + 1):
            gram += terms[i].transpose() * terms[k - i]
        grams.append(gram)
        following = double * terms[k]
        for i in range(k + 1):
            following -= terms[i] * grams[k - i]
        terms.append(_middle(following * (arb(1) / (k + 1))))
    total = terms[-1]
    for term in reversed(terms[:-1]):
        total = term + total * step
    return _middle(total)


def to_floats(matrix: arb_mat, radius: float | None = 1e-25) -> np.ndarray:
    """Midpoints; ArithmeticError where a ball is wider than this share of the largest entry."""
    entries = matrix.entries()
    if radius is not None:
        largest = max(float(abs(entry).mid()) for entry in entries)
        if any(float(entry.rad()) > radius * largest for entry in entries):
            raise ArithmeticError(f"{ctx.prec} bits are too few")
    numbers = [float(entry.mid()) for entry in entries]
    return np.array(numbers).reshape(matrix.nrows(), matrix.ncols())


def _middle(matrix: arb_mat) -> arb_mat:
    return arb_mat(matrix.nrows(), matrix.ncols(), [entry.mid() for entry in matrix.entries()])


def _identity(width: int) -> arb_mat:
    return _diagonal([arb(1)] * width)


def _diagonal(entries: Sequence[arb]) -> arb_mat:
    width = len(entries)
    matrix = arb_mat(width, width)
    for i, entry in enumerate(entries):
        matrix[i, i] = entry
    return matrix


def log_growth(time: float, feature: float, tau: float) -> mp.mpf:
    """log of sigma / (1 + e^(-4 sigma t) (sigma e^(2 tau) - 1))."""
    with mp.workdps(1000):
        t, sigma, scale = mp.mpf(time), mp.mpf(feature), mp.mpf(tau)
        return mp.log(sigma / (1 + mp.exp(-4 * sigma * t) * (sigma * mp.exp(2 * scale) - 1)))


def weights(
    feature: float, anchor: float, pull_back: float, learning_rate: float, steps: int
) -> tuple[Any, Any]:
    """w_1 and w_2 of one mode after simultaneous steps of Eqs. 16 and 17 from both sqrt(anchor)."""
    with mp.workdps(DIGITS):
        goal, start, lam, eta = map(mp.mpf, (feature, anchor, pull_back, learning_rate))
        first = second = mp.sqrt(start)
        for _ in range(steps):
            slope = 2 * (first * second - goal) + 2 * lam * (first * second - start)
            first, second = first - eta * slope * second, second - eta * slope * first
        return first, second


def perturbed_loss(
    first: np.ndarray, second: np.ndarray, target: np.ndarray, deviation: float
) -> float:
    """Mean of ||(W_1 + Z_1)(W_2 + Z_2) - A||^2 over all signs of entries +-deviation.

    The loss has degree two in every entry, so signs and Gaussians have the same expectation.
    """
    total, count = 0.0, first.size + second.size
    for signs in itertools.product((-deviation, deviation), repeat=count):
        noise = np.array(signs)
        moved_first = first + noise[: first.size].reshape(first.shape)
        moved_second = second + noise[first.size :].reshape(second.shape)
        total += np.sum((moved_first @ moved_second - target) ** 2)
    return total / 2**count
