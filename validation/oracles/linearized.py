"""Linearised training and ridge regression in many digits with mpmath. Independent of theorysim.

Everything is computed in the space of parameters: the flow from a matrix exponential, descent from
its two-step recursion, ridge regression from its normal equations. Matrices enter as NumPy arrays.
"""

import mpmath as mp
import numpy as np

DIGITS = 60


def flow(jacobian: np.ndarray, gap: np.ndarray, strength: float, time: float) -> np.ndarray:
    """u(t) of du/dt = 2 J^T (gap - J u) - strength u, u(0) = 0, from exp of the affine system."""
    with mp.workdps(DIGITS):
        j, y = mp.matrix(jacobian.tolist()), mp.matrix(gap.tolist())
        p = jacobian.shape[1]
        system = mp.zeros(p + 1)
        system[:p, :p] = -2 * (j.T * j) - mp.mpf(strength) * mp.eye(p)
        system[:p, p] = 2 * (j.T * y)
        return _array(mp.expm(mp.mpf(time) * system)[:p, p])


def descent(
    jacobian: np.ndarray, gap: np.ndarray, strength: float, learning_rate: float, steps: int
) -> np.ndarray:
    """u after steps of v = u + 2 eta J^T (gap - J u), u = v - eta strength v."""
    with mp.workdps(DIGITS):
        j, y = mp.matrix(jacobian.tolist()), mp.matrix(gap.tolist())
        rate, u = mp.mpf(learning_rate), mp.zeros(jacobian.shape[1], 1)
        for _ in range(steps):
            half = u + 2 * rate * (j.T * (y - j * u))
            u = half - rate * mp.mpf(strength) * half
        return _array(u)


def ridge(jacobian: np.ndarray, gap: np.ndarray, sigma: float) -> np.ndarray:
    """Outputs J w of the minimiser of ||J w - gap||^2 + sigma ||w||^2."""
    with mp.workdps(DIGITS):
        j, y = mp.matrix(jacobian.tolist()), mp.matrix(gap.tolist())
        w = mp.lu_solve(j.T * j + mp.mpf(sigma) * mp.eye(jacobian.shape[1]), j.T * y)
        return _array(j * w)


def generalised_eigenvalues(gram: np.ndarray, added: np.ndarray) -> np.ndarray:
    """Eigenvalues of K^(-1/2) S K^(-1/2), ascending."""
    with mp.workdps(DIGITS):
        values, basis = mp.eigsy(mp.matrix(gram.tolist()))
        whitening = basis * mp.diag([1 / mp.sqrt(value) for value in values])
        whitened = whitening.T * mp.matrix(added.tolist()) * whitening
        return _array(mp.eigsy((whitened + whitened.T) / 2, eigvals_only=True))


def _array(matrix: mp.matrix) -> np.ndarray:
    return np.array([float(entry) for entry in matrix])
