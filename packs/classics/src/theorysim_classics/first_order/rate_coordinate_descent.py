"""Randomised coordinate descent contracts the mean squared distance by one coordinate's share.

Taylor and Bach (2019), Appendix I, Theorem 17: for mu-convex f with coordinate-wise L-smoothness
and a step gamma along a random one of d coordinates, E |x_N - x*|^2 <= max(((gamma mu - 1)^2 + d -
1) / d, ((gamma L - 1)^2 + d - 1) / d)^N R^2. Attained by multiples of |w|^2. Here f is a quadratic
with any axes, L-smooth, and all d^N runs are made: the average is exact.
"""

import itertools

import jax
import jax.numpy as jnp
import numpy as np

from theorysim import claims
from theorysim_classics.first_order._tight import too_small


def simulate(x: claims.Instance, key):
    """The mean of the squared distance at the end; L = R = 1."""
    orders = np.array(list(itertools.product(range(x.d), repeat=x.steps))).T
    span = x.conditioning + (1 - x.conditioning) * x.spread

    def f(w):
        return jnp.sum(span * (x.axes @ w) ** 2) / 2

    def step(w, chosen):
        slope = jax.vmap(jax.grad(f))(w)
        return w - x.step * slope * jnp.eye(x.d)[chosen], None

    starts = jnp.tile(x.direction, (orders.shape[1], 1))
    ends, _ = jax.lax.scan(step, starts, orders)
    return jnp.mean(jnp.sum(ends**2, axis=1))


def predict(x: claims.Instance):
    worst = jnp.maximum((x.step * x.conditioning - 1) ** 2, (x.step - 1) ** 2)
    return ((worst + x.d - 1) / x.d) ** x.steps


RATE = claims.at_most("E |x_N - x*|^2", lambda r: r.sim, lambda r: r.theory)

theorem = claims.Theorem(
    space=claims.Space(
        d=claims.Size(3, high=4),
        steps=claims.Size(3, high=4),
        conditioning=claims.Real(1e-3, 0.9, log=True),
        step=claims.Real(0.05, 1),
        spread=claims.Extremal(0, 1, shape="d"),
        axes=claims.Orthogonal("d"),
        direction=claims.UnitVector("d"),
    ),
    simulate=simulate,
    predict=predict,
    claims=(RATE,),
    source=claims.Printed(
        "Taylor and Bach 2019, Appendix I, Theorem 17",
        "E |x_1 - x*|^2 <= max(((gamma mu - 1)^2 + d - 1) / d, ((gamma L - 1)^2 + d - 1) / d) R^2",
    ),
    mutants=(
        too_small(RATE),
        claims.Mutant("every coordinate at once", predict=lambda x: predict(x) ** x.d),
    ),
    instances=512,
    mutant_instances=4096,
)
