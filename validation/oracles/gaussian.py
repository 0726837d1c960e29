"""Gaussian expectations of activations by quadrature that splits at kinks, with NumPy and SciPy."""

from itertools import pairwise

import mpmath as mp
import numpy as np
from scipy import special

_ACTIVATIONS = {
    "relu": (lambda a: np.maximum(a, 0), lambda a: (a > 0) * 1.0),
    "abs": (np.abs, np.sign),
    "hermite_3": (lambda a: (a**3 - 3 * a) / 6**0.5, lambda a: (3 * a**2 - 3) / 6**0.5),
}
_FAR = 12.0


def _rule(low: float, high: float, nodes: int = 80) -> tuple[np.ndarray, np.ndarray]:
    points, weights = np.polynomial.legendre.leggauss(nodes)
    return low + (high - low) * (points + 1) / 2, (high - low) / 2 * weights


def coefficient(name: str, order: int) -> float:
    """mu_p = E[s(a) He_p(a)] / sqrt(p!), on both sides of a possible kink at 0."""
    value = _ACTIVATIONS[name][0]
    total = 0.0
    for low, high in ((-_FAR, 0), (0, _FAR)):
        points, weights = _rule(low, high)
        density = np.exp(-(points**2) / 2) / np.sqrt(2 * np.pi)
        polynomial = special.eval_hermitenorm(order, points) / np.sqrt(special.factorial(order))
        total += float(np.sum(weights * density * polynomial * value(points)))
    return total


def dual(name: str, correlation: float) -> float:
    """E[s(a) s(b)] for unit Gaussians of the given correlation."""
    return _pair(_ACTIVATIONS[name][0], correlation)


def tangent(name: str, correlation: float) -> float:
    """E[s'(a) s'(b)]."""
    return _pair(_ACTIVATIONS[name][1], correlation)


def relu_dual(correlation: float) -> float:
    """(sqrt(1 - r^2) + r (pi - arccos r)) / (2 pi) with 60 digits."""
    with mp.workdps(60):
        r = mp.mpf(float(correlation))
        return float((mp.sqrt(1 - r**2) + r * (mp.pi - mp.acos(r))) / (2 * mp.pi))


def _pair(function, correlation: float) -> float:
    """Over (a, b) = R (cos(t - w/2), cos(t + w/2)), cos(w) = r, R^2 ~ chi^2_2, t uniform.

    Kinks at a = 0 or b = 0 lie at known angles, where the quadrature is split.
    """
    width = np.arccos(correlation)
    kinks = [np.pi / 2 + s * width / 2 + half * np.pi for s in (-1, 1) for half in (0, 1)]
    ends = np.sort(np.concatenate([[0, 2 * np.pi], np.mod(kinks, 2 * np.pi)]))
    radii, radius_weights = _rule(0, _FAR)
    radius_weights = radius_weights * radii * np.exp(-(radii**2) / 2)
    total = 0.0
    for low, high in pairwise(ends):
        angles, weights = _rule(low, high)
        left = function(np.outer(radii, np.cos(angles - width / 2)))
        right = function(np.outer(radii, np.cos(angles + width / 2)))
        total += float(radius_weights @ (left * right) @ weights)
    return total / (2 * np.pi)
