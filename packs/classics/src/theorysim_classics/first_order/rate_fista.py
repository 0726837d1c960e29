"""The accelerated proximal gradient method is within 2 L R^2 / (N^2 + 5 N + 2) of the minimum.

Taylor, Hendrickx and Glineur (2017b), Section 4.2.2, Table 1, method FPGM1, which is FISTA with the
momentum t / (t + 3): x_(t+1) = prox(y_t - grad f(y_t) / L), y_(t+1) = x_(t+1) + t / (t + 3)
(x_(t+1) - x_t). Attained by a linear f on a half-line. Beck and Teboulle (2009), Theorem 4.4, have
2 L R^2 / (N + 1)^2, which is larger.
"""

import jax

from theorysim import claims
from theorysim.numerics.descent import iterate_to
from theorysim_classics.first_order import _composite as composite
from theorysim_classics.first_order._tight import too_small


def simulate(x: claims.Instance, key):
    """F at the end."""
    f = composite.smooth_part(x)

    def step(state):
        t, before, y, _ = state
        z = y - jax.grad(f)(y) / x.smoothness
        after = composite.prox(x, z)
        return t + 1, after, after + t / (t + 3) * (after - before), z

    _, end, _, z = iterate_to(step, (0.0, x.distance, x.distance, x.distance), x.steps)
    return f(end) + composite.rough_value(x, z)


def predict(x: claims.Instance):
    return 2 * x.smoothness * x.distance**2 / (x.steps**2 + 5 * x.steps + 2)


RATE = claims.at_most("F(x_N) - F*", lambda r: r.sim, lambda r: r.theory)

theorem = claims.Theorem(
    space=composite.space(),
    simulate=simulate,
    predict=predict,
    claims=(RATE,),
    source=claims.Printed(
        "Taylor, Hendrickx and Glineur 2017b, Table 1",
        "F(x_N) - F* <= 2 L R^2 / (N^2 + 5 N + 2)",
    ),
    mutants=(too_small(RATE),),
    instances=512,
    mutant_instances=16384,
)
