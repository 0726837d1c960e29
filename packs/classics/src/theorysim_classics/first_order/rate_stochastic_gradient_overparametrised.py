"""Where all terms share a minimiser, stochastic gradient descent contracts as descent does.

Taylor, Hendrickx and Glineur (2017c), PESTO's code: for mu-convex L-smooth f_1, ..., f_n with one
minimiser, E |x_N - x*|^2 <= max(1 - gamma mu, gamma L - 1)^(2 N) R^2. Attained by equal quadratics.
Here two functions of one variable are drawn in all 2^N orders: the average is exact.
"""

import jax
import jax.numpy as jnp
import numpy as np

from theorysim import claims
from theorysim.numerics import piecewise_linear as pl
from theorysim_classics.first_order._tight import too_small


def simulate(x: claims.Instance, key):
    """The mean of the squared distance at the end; L = R = 1."""
    orders = np.array(np.meshgrid(*[[0, 1]] * x.steps)).reshape(x.steps, -1)
    other = x.profile + x.difference * (x.other - x.profile)

    def f(w, i):
        curved = jnp.where(i == 0, pl.integral(x.profile, w), pl.integral(other, w))
        return x.conditioning * w**2 / 2 + (1 - x.conditioning) * curved

    def step(w, chosen):
        return w - x.step * jax.vmap(jax.grad(f))(w, chosen), None

    ends, _ = jax.lax.scan(step, jnp.ones(orders.shape[1]), orders)
    return jnp.mean(ends**2)


def predict(x: claims.Instance):
    return jnp.maximum(1 - x.step * x.conditioning, x.step - 1) ** (2 * x.steps)


RATE = claims.at_most("E |x_N - x*|^2", lambda r: r.sim, lambda r: r.theory)

theorem = claims.Theorem(
    space=claims.Space(
        steps=claims.Size(3, high=8),
        knots=claims.Size(1, high=8),
        conditioning=claims.Real(1e-3, 0.9, log=True),
        step=claims.Real(0.05, 1.95),
        profile=claims.PiecewiseLinear("knots", 0, 1),
        other=claims.PiecewiseLinear("knots", 0, 1),
        difference=claims.Extremal(0, 1),
    ),
    simulate=simulate,
    predict=predict,
    claims=(RATE,),
    source=claims.Printed(
        "Taylor, Hendrickx and Glineur 2017c, PESTO",
        "E |x_1 - x*|^2 <= max(1 - gamma mu, gamma L - 1)^2 |x_0 - x*|^2",
    ),
    mutants=(too_small(RATE),),
    instances=512,
    mutant_instances=4096,
)
