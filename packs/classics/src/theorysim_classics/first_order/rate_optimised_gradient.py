"""The optimised gradient method is within L R^2 / (2 theta_N^2) of the minimum, as no other is.

Kim and Fessler (2016), Theorem 2: with theta_0 = 1, theta_t = (1 + sqrt(4 theta_(t-1)^2 + 1)) / 2
and, at the end, theta_N = (1 + sqrt(8 theta_(N-1)^2 + 1)) / 2, the steps
x_(t+1) = y_t - grad f(y_t) / L,
y_(t+1) = x_(t+1) + (theta_t - 1) / theta_(t+1) (x_(t+1) - x_t) + theta_t / theta_(t+1)
(x_(t+1) - y_t) reach f(y_N) - f* <= L R^2 / (2 theta_N^2). Attained by a Huber function and by
L w^2 / 2.
"""

import jax
import numpy as np

from theorysim import claims
from theorysim_classics.first_order import _smooth as smooth
from theorysim_classics.first_order._tight import too_small


def thetas(steps: int) -> np.ndarray:
    """theta_0, ..., theta_N."""
    found = [1.0]
    for t in range(1, steps + 1):
        found.append((1 + np.sqrt((8 if t == steps else 4) * found[-1] ** 2 + 1)) / 2)
    return np.array(found)


def simulate(x: claims.Instance, key):
    f, weights = smooth.loss(x), thetas(x.steps)

    def step(state, pair):
        (before, y), (theta, following) = state, pair
        after = y - jax.grad(f)(y) / x.smoothness
        momentum = (theta - 1) * (after - before) + theta * (after - y)
        return (after, after + momentum / following), None

    start = smooth.start(x)
    (_, end), _ = jax.lax.scan(step, (start, start), (weights[:-1], weights[1:]))
    return f(end)


def predict(x: claims.Instance):
    return x.smoothness * x.distance**2 / (2 * thetas(x.steps)[-1] ** 2)


RATE = claims.at_most("f(x_N) - f*", lambda r: r.sim, lambda r: r.theory)

theorem = claims.Theorem(
    space=smooth.space(),
    simulate=simulate,
    predict=predict,
    claims=(RATE,),
    source=claims.Printed(
        "Kim and Fessler 2016, Theorem 2", "f(x_N) - f* <= L R^2 / (2 theta_N^2)"
    ),
    mutants=(too_small(RATE),),
    instances=512,
    mutant_instances=4096,
)
