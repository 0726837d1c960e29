"""Arc-cosine kernels in many digits, from the printed formulas and from their defining integrals.

Independent of theorysim. Inputs are vectors of floats, taken as exact.
"""

from collections.abc import Iterable
from typing import Any

import mpmath as mp

DIGITS = 100


def tangent(left: Iterable[Any], right: Iterable[Any]) -> mp.mpf:
    """<x, x'> (pi - arccos(cos)) / (2 pi), the printed formula."""
    with mp.workdps(DIGITS):
        inner, cosine, _ = _angle(left, right)
        return inner * (mp.pi - mp.acos(cosine)) / (2 * mp.pi)


def activation(left: Iterable[Any], right: Iterable[Any]) -> mp.mpf:
    """||x|| ||x'|| (sin + (pi - theta) cos) / (2 pi), the printed formula."""
    with mp.workdps(DIGITS):
        _, cosine, lengths = _angle(left, right)
        theta = mp.acos(cosine)
        return lengths * (mp.sin(theta) + (mp.pi - theta) * cosine) / (2 * mp.pi)


def supplement(left: Iterable[Any], right: Iterable[Any]) -> mp.mpf:
    """pi minus the angle."""
    with mp.workdps(DIGITS):
        return mp.pi - mp.acos(_angle(left, right)[1])


def gaussian_means(theta: float) -> tuple[float, float]:
    """E[1 1'] and E[relu relu'] for unit inputs at an angle, by quadrature over the plane.

    In polar coordinates the Gaussian weight integrates to 1 and to 2 over the radius, and both
    units are active for directions between theta - pi/2 and pi/2.
    """
    with mp.workdps(DIGITS):
        angle = mp.mpf(theta)
        window = [angle - mp.pi / 2, mp.pi / 2]
        both = mp.quad(lambda _: mp.mpf(1), window) / (2 * mp.pi)
        product = mp.quad(lambda at: mp.cos(at) * mp.cos(at - angle), window) / mp.pi
        return float(both), float(product)


def _angle(left: Iterable[Any], right: Iterable[Any]) -> tuple[mp.mpf, mp.mpf, mp.mpf]:
    """Scalar product, cosine, product of the lengths. arccos halves the digits near +-1."""
    x, y = ([mp.mpf(float(entry)) for entry in vector] for vector in (left, right))
    inner = mp.fsum(a * b for a, b in zip(x, y, strict=True))
    lengths = _length(x) * _length(y)
    return mp.mpf(inner), max(mp.mpf(-1), min(mp.mpf(1), inner / lengths)), lengths


def _length(vector: list[mp.mpf]) -> mp.mpf:
    return mp.mpf(mp.sqrt(mp.fsum(entry**2 for entry in vector)))
