"""The step sizes and numbers of steps of the convergence theorems, as they print them.

All are Theorem 7's, for a signal S and a variance V: delta = min(C S epsilon^3 / L^2, 1), eta =
delta / (d V), alpha = L / (epsilon delta S), T = alpha d V, with L = log(lambda_max^4 d k^2).
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims


class Order(NamedTuple):
    """S and V of a theorem, as functions of the instance."""

    signal: Callable
    variance: Callable


class Schedule(NamedTuple):
    """eta, T (not rounded up), and L."""

    rate: Float[Array, ""]
    steps: Float[Array, ""]
    logarithm: Float[Array, ""]


def schedule_space() -> claims.Space:
    """The numbers that schedules depend on; lambda_max = 1.

    delta < 1 for all of them, as the theorems' small C_delta makes it.
    """
    return claims.Space(
        k=claims.Real(4, 512, log=True),
        dimension=claims.Real(20, 1e5, log=True),
        epsilon=claims.Real(0.01, 0.5, log=True),
        gamma=claims.Real(0.01, 0.5, log=True),
        least=claims.Real(0.1, 1, log=True),
        xi_bar=claims.Real(0.1, 1, log=True),
        constant=claims.Real(1e-4, 1e-2, log=True),
    )


def schedule(x: claims.Instance, order: Order, largest: Any = 1.0) -> Schedule:
    """eta and T for lambda_max = `largest`."""
    logarithm = jnp.log(largest**4 * x.dimension * x.k**2)
    signal, variance = order.signal(x), order.variance(x)
    delta = jnp.minimum(x.constant * signal * x.epsilon**3 / logarithm**2, 1.0)
    alpha = logarithm / (x.epsilon * delta * signal)
    return Schedule(delta / (x.dimension * variance), alpha * x.dimension * variance, logarithm)


LADDERS = {
    "k": (8.0, 32.0, 128.0, 512.0),
    "dimension": (1e2, 1e3, 1e4, 1e5),
    "epsilon": (0.5, 0.25, 0.125, 0.0625),
    "gamma": (0.5, 0.25, 0.125, 0.0625),
}


def steps_scale(
    label: str, order: Order, exponent: float, *, over: str = "k", relation: str = "equal"
) -> claims.Claim:
    """T over L^3 as a power of one variable."""

    def steps(r: claims.Run):
        made = schedule(r.x, order)
        return made.steps / made.logarithm**3

    return claims.scales_as(
        label, steps, over={over: LADDERS[over]}, exponent=exponent, relation=relation
    )


def rate_scales(label: str, order: Order, exponent: float) -> claims.Claim:
    """1 / eta over L^2 as a power of k."""

    def rate(r: claims.Run):
        made = schedule(r.x, order)
        return 1 / (made.rate * made.logarithm**2)

    return claims.scales_as(label, rate, over={"k": LADDERS["k"]}, exponent=exponent)
