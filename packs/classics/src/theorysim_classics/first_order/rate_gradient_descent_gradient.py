"""For short steps, the gradient of a smooth convex function falls to L R / (N h + 1) in N steps.

Taylor, Hendrickx and Glineur (2017), Section 4.1, conjecture it from numerical evidence:
|grad f(x_N)| <= L R max(1 / (N h + 1), |1 - h|^N) for steps h / L with 0 < h < 2, from the start's
distance R to the minimiser. Attained by Huber functions and by quadratics.
"""

import jax
import jax.numpy as jnp
import optax

from theorysim import claims
from theorysim.numerics.descent import descend_to
from theorysim_classics.first_order import _smooth as smooth
from theorysim_classics.first_order._tight import too_small


def simulate(x: claims.Instance, key):
    """The gradient's norm at the end."""
    f = smooth.loss(x)
    end = descend_to(f, smooth.start(x), optax.sgd(x.step / x.smoothness), x.steps)
    return jnp.linalg.norm(jax.grad(f)(end))


def predict(x: claims.Instance):
    short, long = 1 / (x.steps * x.step + 1), jnp.abs(1 - x.step) ** x.steps
    return x.smoothness * x.distance * jnp.maximum(short, long)


RATE = claims.at_most("|grad f(x_N)|", lambda r: r.sim, lambda r: r.theory)

theorem = claims.Theorem(
    space=smooth.space(step=claims.Real(0.05, 1.99)),
    simulate=simulate,
    predict=predict,
    claims=(RATE,),
    source=claims.Printed(
        "Taylor, Hendrickx and Glineur 2017, Section 4.1, conjectured",
        "|grad f(x_N)| <= L R max(1 / (N h + 1), |1 - h|^N)",
    ),
    mutants=(too_small(RATE),),
    instances=512,
    mutant_instances=65536,
)
