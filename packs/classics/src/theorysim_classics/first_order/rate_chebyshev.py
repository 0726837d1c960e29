"""Chebyshev's iteration contracts quadratics by 1 / T_N((L + mu) / (L - mu)): the best there is.

Golub and Varga (1961): with s = (L + mu) / (L - mu), weights omega_1 = 2,
omega_(k+1) = 1 / (1 - omega_k / (4 s^2)) and x_1 = x_0 - 2 / (L + mu) grad f(x_0), the steps
x_(k+1) = omega_(k+1) (x_k - 2 / (L + mu) grad f(x_k) - x_(k-1)) + x_(k-1) reach
|x_N - x*| <= |x_0 - x*| / T_N(s), T_N Chebyshev's polynomial. Attained at either end of [mu, L].
"""

import jax
import jax.numpy as jnp

from theorysim import claims
from theorysim.numerics.descent import iterate_to
from theorysim_classics.first_order import _quadratic as quadratic
from theorysim_classics.first_order._tight import too_small


def simulate(x: claims.Instance, key):
    """The distance at the end."""
    f = quadratic.loss(x)
    rate = 2 / (x.smoothness * (1 + x.conditioning))
    s = (1 + x.conditioning) / (1 - x.conditioning)

    def step(state):
        weight, before, w = state
        weight = 1 / (1 - weight / (4 * s**2))
        return weight, w, weight * (w - rate * jax.grad(f)(w) - before) + before

    start = x.distance * x.direction
    first = start - rate * jax.grad(f)(start)
    two = jnp.full_like(x.distance, 2)
    return jnp.linalg.norm(iterate_to(step, (two, start, first), x.steps - 1)[2])


def predict(x: claims.Instance):
    s = (1 + x.conditioning) / (1 - x.conditioning)
    return x.distance / jnp.cosh(x.steps * jnp.arccosh(s))


RATE = claims.at_most("|x_N - x*|", lambda r: r.sim, lambda r: r.theory)

theorem = claims.Theorem(
    space=quadratic.space(),
    simulate=simulate,
    predict=predict,
    claims=(RATE,),
    source=claims.Printed("Golub and Varga 1961", "|x_N - x*| <= |x_0 - x*| / T_N(s)"),
    mutants=(too_small(RATE),),
    instances=512,
    mutant_instances=4096,
)
