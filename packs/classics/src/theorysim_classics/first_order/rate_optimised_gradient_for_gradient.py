"""OGM-G makes the squared gradient at most 2 L (f(x_0) - f*) / theta_0^2.

Kim and Fessler (2021), Theorem 6.1: with theta_N = 1, theta_t = (1 + sqrt(4 theta_(t+1)^2 + 1)) / 2
and, at the start, theta_0 = (1 + sqrt(8 theta_1^2 + 1)) / 2, the steps
y_(t+1) = x_t - grad f(x_t) / L and x_(t+1) = y_(t+1) + (2 theta_(t+1) - 1) / (2 theta_t - 1)
((theta_t - 1) / theta_t (y_(t+1) - y_t) + y_(t+1) - x_t) reach |grad f(x_N)|^2 <=
2 L (f(x_0) - f*) / theta_0^2. Attained by Huber functions.
"""

import jax
import jax.numpy as jnp
import numpy as np

from theorysim import claims
from theorysim_classics.first_order import _smooth as smooth
from theorysim_classics.first_order._tight import too_small


def thetas(steps: int) -> np.ndarray:
    """theta_0, ..., theta_N."""
    found = [1.0]
    for t in reversed(range(steps)):
        found.append((1 + np.sqrt((8 if t == 0 else 4) * found[-1] ** 2 + 1)) / 2)
    return np.array(found[::-1])


def simulate(x: claims.Instance, key):
    """The squared gradient at the end, and the function's value at the start."""
    f, weights = smooth.loss(x), thetas(x.steps)

    def step(state, pair):
        (w, before), (theta, following) = state, pair
        after = w - jax.grad(f)(w) / x.smoothness
        momentum = (theta - 1) / theta * (after - before) + after - w
        return (after + (2 * following - 1) / (2 * theta - 1) * momentum, after), None

    start = smooth.start(x)
    (end, _), _ = jax.lax.scan(step, (start, start), (weights[:-1], weights[1:]))
    return {"gradient": jnp.sum(jax.grad(f)(end) ** 2), "value": f(start)}


def predict(x: claims.Instance):
    """The factor of f(x_0) - f*."""
    return 2 * x.smoothness / thetas(x.steps)[0] ** 2


RATE = claims.at_most(
    "|grad f(x_N)|^2", lambda r: r.sim["gradient"], lambda r: r.theory * r.sim["value"]
)

theorem = claims.Theorem(
    space=smooth.space(),
    simulate=simulate,
    predict=predict,
    claims=(RATE,),
    source=claims.Printed(
        "Kim and Fessler 2021, Theorem 6.1",
        "|grad f(x_N)|^2 <= 2 L (f(x_0) - f*) / theta_0^2",
    ),
    mutants=(too_small(RATE),),
    instances=512,
    mutant_instances=65536,
)
