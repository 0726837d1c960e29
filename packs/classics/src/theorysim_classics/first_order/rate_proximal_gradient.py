"""The proximal gradient method is within L R^2 / (4 N) of the minimum of f + g.

Taylor, Hendrickx and Glineur (2017b), Section 4.2: with steps 1 / L, F(x_N) - F* <= L R^2 / (4 N).
Attained by a linear f on a half-line.
"""

import jax

from theorysim import claims
from theorysim.numerics.descent import iterate_to
from theorysim_classics.first_order import _composite as composite
from theorysim_classics.first_order._tight import too_small


def simulate(x: claims.Instance, key):
    """F at the end; a state is the point and what its proximal map was taken of."""
    f = composite.smooth_part(x)

    def step(state):
        w, _ = state
        z = w - jax.grad(f)(w) / x.smoothness
        return composite.prox(x, z), z

    end, z = iterate_to(step, (x.distance, x.distance), x.steps)
    return f(end) + composite.rough_value(x, z)


def predict(x: claims.Instance):
    return x.smoothness * x.distance**2 / (4 * x.steps)


RATE = claims.at_most("F(x_N) - F*", lambda r: r.sim, lambda r: r.theory)

theorem = claims.Theorem(
    space=composite.space(),
    simulate=simulate,
    predict=predict,
    claims=(RATE,),
    source=claims.Printed(
        "Taylor, Hendrickx and Glineur 2017b, Section 4.2", "F(x_N) - F* <= L R^2 / (4 N)"
    ),
    mutants=(too_small(RATE),),
    instances=512,
    mutant_instances=16384,
)
