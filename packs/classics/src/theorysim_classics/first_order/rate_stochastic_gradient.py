"""Stochastic gradient descent contracts to a ball that the noise keeps it from leaving.

The recursion of textbooks for constant steps and additive noise: with a mu-convex and L-smooth
f, independent noise of mean zero and variance at most sigma^2, a constant step 0 < h < 2 / L and
rho = max(|1 - h mu|, |1 - h L|), E |x_N - x*|^2 <= rho^(2 N) R^2 + h^2 sigma^2 (1 - rho^(2 N)) /
(1 - rho^2). Attained by quadratics. Here the noise is +-sigma in one variable, and all 2^N runs are
made: the average is exact.
"""

import jax
import jax.numpy as jnp
import numpy as np

from theorysim import claims
from theorysim.numerics import piecewise_linear as pl
from theorysim_classics.first_order._tight import too_small


def simulate(x: claims.Instance, key):
    """The mean of the squared distance at the end; L = R = 1."""
    signs = np.array(np.meshgrid(*[[-1.0, 1.0]] * x.steps)).reshape(x.steps, -1)

    def f(w):
        return x.conditioning * w**2 / 2 + (1 - x.conditioning) * pl.integral(x.profile, w)

    def step(w, noise):
        return w - x.step * (jax.vmap(jax.grad(f))(w) + x.noise * noise), None

    ends, _ = jax.lax.scan(step, jnp.ones(signs.shape[1]), signs)
    return jnp.mean(ends**2)


def predict(x: claims.Instance):
    factor = jnp.maximum(jnp.abs(1 - x.step * x.conditioning), jnp.abs(1 - x.step)) ** 2
    left = factor**x.steps
    return left + x.step**2 * x.noise**2 * (1 - left) / (1 - factor)


RATE = claims.at_most("E |x_N - x*|^2", lambda r: r.sim, lambda r: r.theory)

theorem = claims.Theorem(
    space=claims.Space(
        steps=claims.Size(4, high=8),
        knots=claims.Size(2, high=8),
        conditioning=claims.Real(0.01, 0.9, log=True),
        step=claims.Real(0.05, 1.9),
        noise=claims.Real(0.01, 10, log=True),
        profile=claims.PiecewiseLinear("knots", 0, 1, far=10.0),
    ),
    simulate=simulate,
    predict=predict,
    claims=(RATE,),
    source=claims.Printed(
        "textbooks, constant steps and additive noise",
        "E |x_N - x*|^2 <= rho^(2 N) R^2 + h^2 sigma^2 (1 - rho^(2 N)) / (1 - rho^2)",
    ),
    mutants=(too_small(RATE),),
    instances=512,
    mutant_instances=4096,
)
