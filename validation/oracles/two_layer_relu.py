"""Two-layer ReLU networks by the formulas the papers print, and linear models with their kernel.

Independent of theorysim: networks in NumPy with the printed gradient, unit by unit; the infinite
width as a linear model in many digits, whose features are a Cholesky factor of the Gram matrix
and whose weights really take every step.
"""

import mpmath as mp
import numpy as np

DIGITS = 50


def outputs(weights: np.ndarray, signs: np.ndarray, inputs: np.ndarray) -> np.ndarray:
    """(1/sqrt(m)) sum_r a_r max(<w_r, x_i>, 0)."""
    total = np.zeros(len(inputs))
    for row, sign in zip(weights, signs, strict=True):
        total += sign * np.maximum(inputs @ row, 0)
    return total / np.sqrt(len(signs))


def descent(
    weights: np.ndarray,
    signs: np.ndarray,
    inputs: np.ndarray,
    labels: np.ndarray,
    rate: float,
    steps: int,
) -> np.ndarray:
    """Weights after steps along (1/sqrt(m)) sum_i (u_i - y_i) a_r 1{<w_r, x_i> >= 0} x_i."""
    width = len(signs)
    for _ in range(steps):
        error = outputs(weights, signs, inputs) - labels
        slopes = [
            sign * sum((e * x for e, x in zip(error, inputs, strict=True) if x @ row >= 0), 0 * row)
            for row, sign in zip(weights, signs, strict=True)
        ]
        weights = weights - rate * np.reshape(np.array(slopes) / np.sqrt(width), weights.shape)
    return weights


def gram(
    left_weights: np.ndarray, left: np.ndarray, right_weights: np.ndarray, right: np.ndarray
) -> np.ndarray:
    """(1/m) <x_i, x_j'> times the number of units active at both, counted one by one."""
    counts = np.zeros((len(left), len(right)))
    for here, there in zip(left_weights, right_weights, strict=True):
        counts += np.outer(left @ here >= 0, right @ there >= 0)
    return left @ right.T * counts / len(left_weights)


def two_stages(
    gram: np.ndarray,
    initial: np.ndarray,
    source_labels: np.ndarray,
    target_labels: np.ndarray,
    rates: tuple[float, float],
    steps: tuple[int, int],
) -> dict[str, np.ndarray | float]:
    """A linear model with the given (nonsingular) Gram matrix, trained on source, then target.

    Weights start at zero; outputs are initial + features. `rates` multiply the residual.
    """
    with mp.workdps(DIGITS):
        features = mp.cholesky(mp.matrix(gram.tolist()))  # one row per sample
        start = mp.matrix(initial.tolist())
        samples = len(source_labels)
        source, target = features[:samples, :], features[samples:, :]
        weights = mp.zeros(features.cols, 1)
        weights = _descend(
            source, start[:samples, 0], source_labels, weights, mp.mpf(rates[0]), steps[0]
        )
        pretrained = weights.copy()
        weights = _descend(
            target, start[samples:, 0], target_labels, weights, mp.mpf(rates[1]), steps[1]
        )
        return {
            "source_outputs": _array(start[:samples, 0] + source * weights),
            "target_outputs": _array(start[samples:, 0] + target * weights),
            "pretrained_target": _array(start[samples:, 0] + target * pretrained),
            "pretraining_distance": float(mp.norm(pretrained)),
            "fine_tuning_distance": float(mp.norm(weights - pretrained)),
            "distance": float(mp.norm(weights)),
        }


def quadratic_form(gram: np.ndarray, vector: np.ndarray) -> float:
    """r^T H^(-1) r."""
    with mp.workdps(DIGITS):
        right = mp.matrix(vector.tolist())
        return float((right.T * mp.lu_solve(mp.matrix(gram.tolist()), right))[0])


def _descend(
    features: mp.matrix,
    start: mp.matrix,
    labels: np.ndarray,
    weights: mp.matrix,
    rate: mp.mpf,
    steps: int,
) -> mp.matrix:
    wanted = mp.matrix(labels.tolist()) - start
    for _ in range(steps):
        weights = weights + rate * (features.T * (wanted - features * weights))
    return weights


def _array(matrix: mp.matrix) -> np.ndarray:
    return np.array(matrix.tolist(), dtype=float)[:, 0]
