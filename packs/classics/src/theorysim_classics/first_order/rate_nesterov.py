"""Nesterov's method is within 2 L R^2 / (N^2 + 5 N + 6) of a smooth convex function's minimum.

Taylor, Hendrickx and Glineur (2017b), Table 1: x_(t+1) = y_t - grad f(y_t) / L and
y_(t+1) = x_(t+1) + t / (t + 3) (x_(t+1) - x_t) from y_0 = x_0 reach
f(x_N) - f* <= 2 L R^2 / (N^2 + 5 N + 6), attained by Huber functions. The gallery of PEPit prints
the momentum (t - 1) / (t + 2) with it and does not say where t begins: from x_0 = y_0 and t = 0,
the rate fails; its program runs t / (t + 3).
"""

import jax

from theorysim import claims
from theorysim.numerics.descent import iterate_to
from theorysim_classics.first_order import _smooth as smooth
from theorysim_classics.first_order._tight import too_small


def _run(x: claims.Instance, momentum):
    """The value after N steps with the momentum of every step."""
    f = smooth.loss(x)

    def step(state):
        t, before, y = state
        after = y - jax.grad(f)(y) / x.smoothness
        return t + 1, after, after + momentum(t) * (after - before)

    start = smooth.start(x)
    return f(iterate_to(step, (0.0, start, start), x.steps)[1])


def simulate(x: claims.Instance, key):
    return _run(x, lambda t: t / (t + 3))


def predict(x: claims.Instance):
    return 2 * x.smoothness * x.distance**2 / (x.steps**2 + 5 * x.steps + 6)


RATE = claims.at_most("f(x_N) - f*", lambda r: r.sim, lambda r: r.theory)

theorem = claims.Theorem(
    space=smooth.space(),
    simulate=simulate,
    predict=predict,
    claims=(RATE,),
    source=claims.Printed(
        "Taylor, Hendrickx and Glineur 2017b, Table 1",
        "f(x_N) - f* <= 2 L R^2 / (N^2 + 5 N + 6), y_(t+1) = x_(t+1) + t/(t+3) (x_(t+1) - x_t)",
    ),
    readings=(
        claims.Reading(
            "PEPit's gallery, t from 0",
            claims.Printed(
                "PEPit 0.5, wc_accelerated_gradient_convex_simplified",
                "the same with y_(t+1) = x_(t+1) + (t-1)/(t+2) (x_(t+1) - x_t)",
            ),
            simulate=lambda x, key: _run(x, lambda t: (t - 1) / (t + 2)),
            note="this momentum counts t from 1, where the points are counted from 0",
        ),
    ),
    mutants=(too_small(RATE),),
    instances=512,
    mutant_instances=4096,
)
