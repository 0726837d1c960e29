"""Linear-regression fine-tuning in many digits: the printed formulas, evaluated with mpmath.

Independent of theorysim: projections from the printed inverse, flow from a matrix exponential,
gradient descent from its recursion. Matrices enter and leave as NumPy arrays of floats.
"""

import mpmath as mp
import numpy as np

DIGITS = 60


def projection(data: np.ndarray) -> np.ndarray:
    """P_par = X^T (X X^T)^(-1) X."""
    with mp.workdps(DIGITS):
        rows = mp.matrix(data.tolist())
        return _array(rows.T * (rows * rows.T) ** -1 * rows)


def limit(data: np.ndarray, start: np.ndarray, target: np.ndarray) -> np.ndarray:
    """(I - P_par) start + P_par target."""
    with mp.workdps(DIGITS):
        rows, begin, goal = (mp.matrix(part.tolist()) for part in (data, start, target))
        inside = rows.T * (rows * rows.T) ** -1 * rows
        return _array(begin + inside * (goal - begin))[:, 0]


def flow(data: np.ndarray, start: np.ndarray, target: np.ndarray, time: float) -> np.ndarray:
    """target + exp(-(2 t/n) X^T X) (start - target)."""
    with mp.workdps(DIGITS):
        rows, begin, goal = (mp.matrix(part.tolist()) for part in (data, start, target))
        decay = mp.expm(-2 * mp.mpf(time) / rows.rows * (rows.T * rows))
        return _array(goal + decay * (begin - goal))[:, 0]


def descent(
    data: np.ndarray, start: np.ndarray, target: np.ndarray, learning_rate: float, steps: int
) -> tuple[np.ndarray, float]:
    """Weights and training loss after the recursion w <- w - (2 eta/n) X^T (X w - y)."""
    with mp.workdps(DIGITS):
        rows, weights, goal = (mp.matrix(part.tolist()) for part in (data, start, target))
        labels = rows * goal
        factor = 2 * mp.mpf(learning_rate) / rows.rows
        for _ in range(steps):
            weights -= factor * (rows.T * (rows * weights - labels))
        residual = rows * weights - labels
        return _array(weights)[:, 0], float((residual.T * residual)[0] / rows.rows)


def covariance_estimation(
    eigenvalues: np.ndarray, delta: float, samples: int, constant: float
) -> float:
    """c lambda_1 max of the four printed terms."""
    with mp.workdps(DIGITS):
        values = [mp.mpf(float(value)) for value in eigenvalues]
        ratio, share = mp.fsum(values) / (samples * max(values)), mp.mpf(delta) / samples
        terms = (mp.sqrt(ratio), ratio, mp.sqrt(share), share)
        return max(float(constant * max(values) * term) for term in terms)


def risk_bound(
    eigenvalues: np.ndarray, components: np.ndarray, estimation: float, split: int
) -> tuple[float, float]:
    """Both printed terms at one m; ``components`` of the difference in the eigenbasis."""
    with mp.workdps(DIGITS):
        squares = [mp.mpf(float(part)) ** 2 for part in components]
        g, lowest = mp.mpf(estimation), mp.mpf(float(eigenvalues[split - 1]))
        top = 2 * g**3 * mp.fsum(squares[:split]) / lowest**2
        return float(top), float(2 * g * mp.fsum(squares[split:]))


def _array(matrix: mp.matrix) -> np.ndarray:
    return np.array(matrix.tolist(), dtype=float)
