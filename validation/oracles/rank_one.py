"""Rank-one fine-tuning by loops and printed sums in NumPy, sharing nothing with the package."""

import numpy as np

DERIVATIVES = {
    "relu": (lambda a: np.maximum(a, 0), lambda a: (a > 0) * 1.0),
    "square": (lambda a: (a**2 - 1) / 2**0.5, lambda a: 2 * a / 2**0.5),
    "third": (lambda a: (a**3 - 3 * a) / 6**0.5, lambda a: (3 * a**2 - 3) / 6**0.5),
}


def speed(gram, readout, teacher, student, scale, m, expectation) -> float:
    """2 scale^2 / A sum_ij l_i l_j c_i c^_j E[s'(a) s'(b)], one pair of neurons at a time."""
    k = len(readout)
    a = 1 + scale**2 / k
    total = 0.0
    for i in range(k):
        for j in range(k):
            kick = teacher[i] * student[j]
            total += (
                readout[i] * readout[j] * kick * expectation((gram[i, j] + scale**2 * kick * m) / a)
            )
    return 2 * scale**2 / a * total


def sgd(
    features, readout, teacher, student, scale, truth, start, rate, samples, name
) -> np.ndarray:
    """Overlaps <u^, u> of one run of Eq. 4 on given samples (rows), with the gradient by hand."""
    value, derivative = DERIVATIVES[name]
    root = np.sqrt(1 + scale**2 / len(readout))
    basis = np.linalg.qr(features.T)[0]
    goal_rows = (features + scale * np.outer(teacher, truth)) / root
    direction, overlaps = np.array(start), [start @ truth]
    for x in samples:
        rows = (features + scale * np.outer(student, direction)) / root
        gap = readout @ value(goal_rows @ x) - readout @ value(rows @ x)
        gradient = -2 * gap * np.sum(readout * scale * student / root * derivative(rows @ x)) * x
        gradient = gradient - basis @ (basis.T @ gradient)
        gradient = gradient - direction * (direction @ gradient)
        direction = direction - rate * gradient
        direction = direction / np.linalg.norm(direction)
        overlaps.append(direction @ truth)
    return np.array(overlaps)
