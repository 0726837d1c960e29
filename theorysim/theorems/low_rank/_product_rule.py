"""Means over Gaussian inputs that are exact for the polynomial activations of the instances."""

from functools import reduce

import numpy as np

from theorysim.theorems.low_rank._problem import DEGREES


def product_rule(d: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes and weights of the product rule, exact for polynomials of degree 2 DEGREES - 1."""
    points, weights = np.polynomial.hermite_e.hermegauss(DEGREES)
    grid = np.stack(np.meshgrid(*d * [points], indexing="ij"), axis=-1).reshape(-1, d)
    shares = reduce(np.multiply.outer, d * [weights / weights.sum()])
    return grid, shares.ravel()
