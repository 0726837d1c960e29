"""Frank-Wolfe's method is within 2 L D^2 / (N + 2) of the minimum over a compact set.

Jaggi (2013), Theorem 1: with steps 2 / (k + 2) towards the point of the set where the linear model
is least, f(x_N) - f* <= 2 L D^2 / (N + 2), D the diameter of the set. No function attains it: its
worst case has no closed form (PEPit's is about half of it), except after the first step, which ends
at a vertex: f(x_1) - f* <= L D^2 / 2. Here the set is an interval or a box and f a quadratic about
any point, in the set or not.
"""

import jax
import jax.numpy as jnp
from theorysim_classics.first_order._tight import too_small

from theorysim import claims
from theorysim.numerics.descent import iterate_to


def _run(x: claims.Instance, steps: int):
    """f - f* after so many steps, on the box [0, 1]^d scaled to the diameter."""
    side = x.diameter / jnp.sqrt(x.d)

    def f(w):
        return x.smoothness * jnp.sum(x.spread * (w - side * x.centre) ** 2) / 2

    def step(state):
        k, w = state
        vertex = jnp.where(jax.grad(f)(w) < 0, side, 0)
        return k + 1, w + 2 / (k + 2) * (vertex - w)

    _, end = iterate_to(step, (0.0, side * x.start), steps)
    return f(end) - f(side * jnp.clip(x.centre, 0, 1))


def simulate(x: claims.Instance, key):
    """What is left after N steps, and after one."""
    return {"all": _run(x, x.steps), "one": _run(x, 1)}


def predict(x: claims.Instance):
    """The print after N steps, and what holds after one, in units of L D^2."""
    unit = x.smoothness * x.diameter**2
    return {"all": 2 * unit / (x.steps + 2), "one": unit / 2}


RATE = claims.at_most("f(x_N) - f*", lambda r: r.sim["all"], lambda r: r.theory["all"])
FIRST = claims.at_most("f(x_1) - f*", lambda r: r.sim["one"], lambda r: r.theory["one"])

theorem = claims.Theorem(
    space=claims.Space(
        steps=claims.Size(5, high=30),
        d=claims.Size(1, high=8),
        smoothness=claims.Real(0.1, 10, log=True),
        diameter=claims.Real(0.1, 10, log=True),
        spread=claims.Extremal(0, 1, shape="d"),
        centre=claims.Extremal(-0.001, 1.001, shape="d"),
        start=claims.Extremal(0, 1, shape="d"),
    ),
    simulate=simulate,
    predict=predict,
    claims=(RATE,),
    source=claims.Printed("Jaggi 2013, Theorem 1", "f(x_N) - f* <= 2 L D^2 / (N + 2)"),
    readings=(
        claims.Reading(
            "one step",
            claims.Finding("the descent lemma at a step of one, sharp on intervals"),
            claims=(FIRST,),
        ),
    ),
    mutants=(
        claims.Mutant("a fifth of the constant", claims=(RATE.scaled(0.2),)),
        claims.Mutant(too_small().name, of=("one step",), claims=(FIRST.scaled(0.99),)),
    ),
    instances=512,
    mutant_instances=4096,
)
