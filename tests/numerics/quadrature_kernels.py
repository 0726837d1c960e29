"""Infinite-width kernels by quadrature, and of networks from covariances, in many digits."""

import itertools

import mpmath as mp
import numpy as np
from scipy.special import erf

from theorysim.numerics.infinite_width import (
    Convolution,
    Dense,
    Erf,
    GlobalAveragePooling,
    Relu,
)

DIGITS = 50


def normal(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


def relu_by_quadrature(p, q, theta):
    """E[s(u) s(v)] and E[s'(u) s'(v)] in polar coordinates, u = p r cos(t), v = q r cos(t - theta).

    E[r^2] = 2; both are positive for t between theta - pi/2 and pi/2.
    """
    with mp.workdps(DIGITS):
        ends = [theta - mp.pi / 2, mp.pi / 2]
        angular = mp.quad(lambda t: mp.cos(t) * mp.cos(t - theta), ends)
        return 2 * p * q * angular / (2 * mp.pi), (ends[1] - ends[0]) / (2 * mp.pi)


def erf_by_quadrature(p, q, theta):
    """The same on a grid: for analytic functions under a Gaussian it is exact to rounding."""
    line = np.linspace(-10, 10, 401)
    weight = np.exp(-(line**2) / 2)
    weight /= weight.sum()
    u = float(p) * line[:, None]
    v = float(q) * (float(mp.cos(theta)) * line[:, None] + float(mp.sin(theta)) * line[None, :])

    def mean(left, right):
        return np.sum(weight * np.sum(left * right * weight, axis=1))  # pairwise sums

    slopes = 4 / np.pi * np.exp(-(u**2)), np.exp(-(v**2))
    return mean(erf(u), erf(v)), mean(*slopes)


def dual(layer, xx, xy, yy):
    """E[s(u) s(v)] and E[s'(u) s'(v)] in closed form (Cho and Saul 2009, Williams 1997)."""
    if isinstance(layer, Erf):
        base = (1 + 2 * xx) * (1 + 2 * yy)
        return 2 / mp.pi * mp.asin(2 * xy / mp.sqrt(base)), 4 / mp.pi / mp.sqrt(base - 4 * xy**2)
    if xx * yy == 0:
        return mp.mpf(0), mp.mpf(0)
    theta = mp.acos(max(min(xy / mp.sqrt(xx * yy), 1), -1))
    value = mp.sin(theta) + (mp.pi - theta) * mp.cos(theta)
    return mp.sqrt(xx * yy) * value / (2 * mp.pi), (mp.pi - theta) / (2 * mp.pi)


def linear(layer, table, shape):
    """w/|F| sum over the filter of K[a + t, b + t], + b, from the definition."""
    sizes = layer.filter if isinstance(layer, Convolution) else (1,) * len(shape)
    shifts = list(itertools.product(*[range(-((s - 1) // 2), s // 2 + 1) for s in sizes]))
    periodic = getattr(layer, "padding", "") == "periodic"

    def at(place, shift):
        moved = tuple(i + t for i, t in zip(place, shift, strict=True))
        return tuple(i % n for i, n in zip(moved, shape, strict=True)) if periodic else moved

    return {
        (a, b): mp.mpf(layer.weight_variance)
        * sum(table.get((at(a, t), at(b, t)), mp.mpf(0)) for t in shifts)
        / len(shifts)
        for a, b in table
    }


def exact(layers, x, y, bias_is_trained=True):
    """NNGP and NTK of one pair, from covariances between all positions, in `DIGITS` digits.

    In more where a derivative asks for them.
    """
    with mp.workdps(max(DIGITS, mp.mp.dps)):
        x, y = (np.vectorize(mp.mpf, otypes=[object])(np.asarray(v)) for v in (x, y))
        shape = x.shape[:-1]
        places = list(np.ndindex(shape))
        pairs = list(itertools.product(places, places))
        tables = [{(a, b): u[a] @ v[b] / len(u[a]) for a, b in pairs} for u, v in [(x, x), (x, y)]]
        tables.append({(a, b): y[a] @ y[b] / len(y[a]) for a, b in pairs})
        tangent = dict.fromkeys(pairs, mp.mpf(0))
        for layer in layers:
            if isinstance(layer, Dense | Convolution):
                bias = mp.mpf(layer.bias_variance)
                weighted = [linear(layer, table, shape) for table in tables]
                tables = [{key: k + bias for key, k in table.items()} for table in weighted]
                gained = tables[1] if bias_is_trained else weighted[1]
                passed = linear(layer, tangent, shape)
                tangent = {key: passed[key] + gained[key] for key in passed}
            elif isinstance(layer, Relu | Erf):
                xx, xy, yy = tables
                both = {(a, b): dual(layer, xx[a, a], xy[a, b], yy[b, b]) for a, b in xy}
                tangent = {key: both[key][1] * tangent[key] for key in both}
                tables = [
                    {(a, b): dual(layer, t[a, a], t[a, b], t[b, b])[0] for a, b in t}
                    for t in (xx, yy)
                ]
                tables.insert(1, {key: value for key, (value, _) in both.items()})
            else:
                kept = pairs if isinstance(layer, GlobalAveragePooling) else zip(places, places)
                kept, shape = list(kept), ()
                *tables, tangent = (
                    {((), ()): sum(table[key] for key in kept) / len(kept)}
                    for table in (*tables, tangent)
                )
        return tables[1][(), ()], tangent[(), ()]


def exact_grams(layers, inputs, others):
    found = [[exact(layers, x, y) for y in others] for x in inputs]
    return np.array(found, float).transpose(2, 0, 1)
