"""One step of stochastic gradient descent on a sum whose terms disagree at the minimiser.

Taylor, Hendrickx and Glineur (2017c), PESTO's code: for mu-convex L-smooth f_1, ..., f_n with
mean |grad f_i(x*)|^2 <= v^2, one step gamma on one term has E |x_1 - x*|^2 <= (gamma (L - mu) / 2 R
+ sqrt((1 - gamma (L + mu) / 2)^2 R^2 + gamma^2 v^2))^2. Attained by two quadratics in the plane,
whose slopes at x* are across x_0 - x*. Here the terms are two quadratics with any axes.
"""

import jax
import jax.numpy as jnp

from theorysim import claims
from theorysim_classics.first_order._tight import too_small


def _ends(x: claims.Instance, sign: float):
    """The point after a step on one of the terms; L = R = 1."""

    def f(w):
        axis = jnp.stack([jnp.cos(x.axis), sign * jnp.sin(x.axis)])
        along, across = axis @ w, axis[0] * w[1] - axis[1] * w[0]
        span = x.conditioning + (1 - x.conditioning) * x.spread
        slope = sign * x.noise * jnp.stack([jnp.cos(x.slope), jnp.sin(x.slope)])
        return (span[0] * along**2 + span[1] * across**2) / 2 + slope @ w

    start = jnp.eye(2)[0]
    return start - x.step * jax.grad(f)(start)


def simulate(x: claims.Instance, key):
    """The mean of the squared distance after the step."""
    return jnp.mean(jnp.stack([jnp.sum(_ends(x, sign) ** 2) for sign in (1.0, -1.0)]))


def predict(x: claims.Instance):
    mean, half = (1 + x.conditioning) / 2, (1 - x.conditioning) / 2
    centre = jnp.sqrt((1 - x.step * mean) ** 2 + x.step**2 * x.noise**2)
    return (x.step * half + centre) ** 2


RATE = claims.at_most("E |x_1 - x*|^2", lambda r: r.sim, lambda r: r.theory)

theorem = claims.Theorem(
    space=claims.Space(
        conditioning=claims.Real(1e-3, 0.9, log=True),
        step=claims.Real(0.05, 3),
        noise=claims.Real(0.01, 10, log=True),
        spread=claims.Extremal(0, 1, shape=2),
        axis=claims.Real(0, 3.1416),
        slope=claims.Extremal(0, 1.5708),
    ),
    simulate=simulate,
    predict=predict,
    claims=(RATE,),
    source=claims.Printed(
        "Taylor, Hendrickx and Glineur 2017c, PESTO",
        "E |x_1 - x*|^2 <= (gamma (L - mu) / 2 R + sqrt((1 - gamma (L + mu) / 2)^2 R^2 "
        "+ gamma^2 v^2))^2",
    ),
    mutants=(too_small(RATE),),
    instances=512,
    mutant_instances=16384,
)
