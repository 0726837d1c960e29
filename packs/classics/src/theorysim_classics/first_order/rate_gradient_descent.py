"""For short steps, descent of a smooth convex function is within L R^2 / (4 N h + 2) after N steps.

Drori and Teboulle (2014), Theorem 3.1 for steps h / L with h <= 1, and Conjecture 3.1 for
0 < h < 2: f(x_N) - f* <= (L R^2 / 2) max(1 / (2 N h + 1), (1 - h)^(2 N)), attained by a Huber
function where the step is short and by a quadratic where it is long. Kim (2024) has proved the
conjecture.
"""

import jax.numpy as jnp
import optax

from theorysim import claims
from theorysim.numerics.descent import descend_to
from theorysim_classics.first_order import _smooth as smooth
from theorysim_classics.first_order._tight import too_small


def simulate(x: claims.Instance, key):
    """What is left of the function's value."""
    f = smooth.loss(x)
    return f(descend_to(f, smooth.start(x), optax.sgd(x.step / x.smoothness), x.steps))


def predict(x: claims.Instance):
    short, long = 1 / (2 * x.steps * x.step + 1), (1 - x.step) ** (2 * x.steps)
    return x.smoothness * x.distance**2 / 2 * jnp.maximum(short, long)


def _short(x: claims.Instance):
    """The rate of short steps at all steps."""
    return x.smoothness * x.distance**2 / (4 * x.steps * x.step + 2)


RATE = claims.at_most("f(x_N) - f*", lambda r: r.sim, lambda r: r.theory)

theorem = claims.Theorem(
    space=smooth.space(step=claims.Real(0.05, 1.99)),
    simulate=simulate,
    predict=predict,
    claims=(RATE,),
    source=claims.Printed(
        "Drori and Teboulle 2014, Conjecture 3.1",
        "f(x_N) - f* <= (L R^2 / 2) max(1 / (2 N h + 1), (1 - h)^(2 N))",
    ),
    mutants=(too_small(RATE), claims.Mutant("short steps' rate for all", predict=_short)),
    instances=512,
    mutant_instances=4096,
)
