"""Deep linear networks: many-digit roots with mpmath, flows with SciPy. Independent of theorysim.

The end-to-end ODE is integrated as printed, in R^d; the network's flow with hand-written
gradients of all matrices.
"""

from collections.abc import Sequence
from typing import Any

import mpmath as mp
import numpy as np
from scipy.integrate import solve_ivp

DIGITS = 60
TOLERANCES: dict[str, Any] = {"method": "DOP853", "rtol": 1e-12, "atol": 1e-14}


Number = float | mp.mpf


def log_norm_ratio(inside: Number, outside: Number, reached: Number, depth: Number) -> mp.mpf:
    """ln x for the positive root of x^2 = c_perp^2 x^(2-2/L) + tau^2, to all digits.

    ``inside`` and ``outside`` are the lengths of the source's parts, ``reached`` that of the
    target's part, in any common unit. Bisection on 2 ln x = ln(right side).
    """
    with mp.workdps(DIGITS):
        length = mp.sqrt(mp.mpf(inside) ** 2 + mp.mpf(outside) ** 2)
        c, tau, layers = mp.mpf(outside) / length, mp.mpf(reached) / length, mp.mpf(depth)

        def excess(log_x: mp.mpf) -> mp.mpf:
            return 2 * log_x - mp.log(c**2 * mp.exp((2 - 2 / layers) * log_x) + tau**2)

        lower, upper = mp.log(tau) - 1, mp.mpf(1)
        while excess(upper) < 0:
            upper *= 2
        for _ in range(4 * DIGITS):
            middle = (lower + upper) / 2
            lower, upper = (middle, upper) if excess(middle) < 0 else (lower, middle)
        return (lower + upper) / 2


def log_norm_ratio_derivative(
    lengths: tuple[float, float, float], depth: float, wanted: int
) -> float:
    """Central difference, in many digits, of ln x in one of the lengths, or (3) in the depth."""
    with mp.workdps(DIGITS):
        arguments = [mp.mpf(part) for part in (*lengths, depth)]
        step = arguments[wanted] * mp.mpf(10) ** (-DIGITS // 3)
        ends = []
        for sign in (1, -1):
            moved = list(arguments)
            moved[wanted] += sign * step
            ends.append(log_norm_ratio(*moved))
        return float((ends[0] - ends[1]) / (2 * step))


def end_to_end_flow(
    data: np.ndarray,
    source: np.ndarray,
    target: np.ndarray,
    depth: float,
    times: np.ndarray,
    options: dict[str, Any] = TOLERANCES,
) -> np.ndarray:
    """d beta/dt = -||beta||^(2-2/L) (grad + (L-1) b b^T grad), grad = (2/n) X^T (X beta - y)."""

    def field(_: float, beta: np.ndarray) -> np.ndarray:
        gradient = 2 / len(data) * data.T @ (data @ (beta - target))
        norm = np.linalg.norm(beta)
        unit = beta / norm
        return -(norm ** (2 - 2 / depth)) * (gradient + (depth - 1) * unit * (unit @ gradient))

    return solve_ivp(field, times[[0, -1]], source, t_eval=times, **options).y.T


def network_flow(
    layers: Sequence[np.ndarray],
    data: np.ndarray,
    target: np.ndarray,
    times: np.ndarray,
    frozen: int = 0,
) -> list[list[np.ndarray]]:
    """Layers at each time under dW_j/dt = -(W_1..W_{j-1})^T grad (W_{j+1}..W_L)^T."""
    shapes = [layer.shape for layer in layers]
    ends = np.cumsum([layer.size for layer in layers])[:-1]

    def unpack(state: np.ndarray) -> list[np.ndarray]:
        return [
            part.reshape(shape) for part, shape in zip(np.split(state, ends), shapes, strict=True)
        ]

    def field(_: float, state: np.ndarray) -> np.ndarray:
        slopes = layer_gradients(unpack(state), data, target)
        return -np.concatenate(
            [slope.ravel() * (index >= frozen) for index, slope in enumerate(slopes)]
        )

    start = np.concatenate([layer.ravel() for layer in layers])
    states = solve_ivp(field, times[[0, -1]], start, t_eval=times, **TOLERANCES).y.T
    return [unpack(state) for state in states]


def layer_gradients(
    layers: Sequence[np.ndarray], data: np.ndarray, target: np.ndarray
) -> list[np.ndarray]:
    """Gradients of (1/n) ||X W_1 ... W_L - X target||^2 in all layers."""
    after = [np.ones((1, 1))]
    for layer in reversed(layers):
        after.append(layer @ after[-1])
    after.reverse()
    gradient = 2 / len(data) * data.T @ (data @ (after[0][:, 0] - target))
    before, slopes = gradient[None, :], []
    for layer, rest in zip(layers, after[1:], strict=True):
        slopes.append(before.T @ rest.T)
        before = before @ layer
    return slopes


def frozen_scale(
    data: np.ndarray, source: np.ndarray, target: np.ndarray, depth: int, frozen: int, time: float
) -> float:
    """c(t) of dc/dt = -(2K/n) ||source||^(-2/L) ||X source||^2 c^(2-2/K) (c - c*), c(0) = 1."""
    trained, outputs = depth - frozen, data @ source
    best = outputs @ (data @ target) / (outputs @ outputs)
    rate = 2 * trained / len(data) * np.linalg.norm(source) ** (-2 / depth) * (outputs @ outputs)

    def field(_: float, scale: np.ndarray) -> np.ndarray:
        return -rate * scale ** (2 - 2 / trained) * (scale - best)

    return float(solve_ivp(field, (0.0, time), [1.0], **TOLERANCES).y[0, -1])
