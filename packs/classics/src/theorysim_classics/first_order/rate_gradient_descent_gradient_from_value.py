"""For short steps, convex functions' squared gradient falls to 2 L (f(x_0) - f*) / (2 N h + 1).

Rotaru, Glineur and Patrinos (2024), for convex functions: |grad f(x_N)|^2 <= 2 L (f(x_0) - f*)
max(1 / (2 N h + 1), (1 - h)^(2 N)) for steps h / L with 0 < h < 2. Attained by Huber functions and
by quadratics.
"""

import jax
import jax.numpy as jnp
import optax

from theorysim import claims
from theorysim.numerics.descent import descend_to
from theorysim_classics.first_order import _smooth as smooth
from theorysim_classics.first_order._tight import too_small


def simulate(x: claims.Instance, key):
    """The squared gradient at the end, and the function's value at the start."""
    f = smooth.loss(x)
    end = descend_to(f, smooth.start(x), optax.sgd(x.step / x.smoothness), x.steps)
    return {"gradient": jnp.sum(jax.grad(f)(end) ** 2), "value": f(smooth.start(x))}


def predict(x: claims.Instance):
    """The factor of 2 L (f(x_0) - f*)."""
    return jnp.maximum(1 / (2 * x.steps * x.step + 1), (1 - x.step) ** (2 * x.steps))


RATE = claims.at_most(
    "|grad f(x_N)|^2",
    lambda r: r.sim["gradient"],
    lambda r: 2 * r.x.smoothness * r.theory * r.sim["value"],
)

theorem = claims.Theorem(
    space=smooth.space(step=claims.Real(0.05, 1.99)),
    simulate=simulate,
    predict=predict,
    claims=(RATE,),
    source=claims.Printed(
        "Rotaru, Glineur and Patrinos 2024, convex case",
        "|grad f(x_N)|^2 <= 2 L (f(x_0) - f*) max(1 / (2 N h + 1), (1 - h)^(2 N))",
    ),
    mutants=(too_small(RATE),),
    instances=512,
    mutant_instances=4096,
)
