"""Frank-Wolfe's method is within 2 L D^2 / (N + 2) of the minimum over a compact set.

Jaggi (2013), Theorem 1: with steps 2 / (k + 2) towards the point of the set where the linear model
is least, f(x_N) - f* <= 2 L D^2 / (N + 2), D the diameter of the set. Nothing attains it: the worst
case has no closed form (PEPit's is about half of it at N = 5), except after the first step, which
ends at a vertex: f(x_1) - f* <= L D^2 / 2. Here the set is a polytope and f(w) = L |w - c|^2 / 2
with c in it.
"""

import jax
import jax.numpy as jnp

from theorysim import claims
from theorysim.numerics.descent import iterate_to
from theorysim_classics.first_order._tight import NAME


def _inside(weights):
    """Convex weights in proportion to these; those of the centre where all are zero."""
    shifted = weights + jnp.where(jnp.sum(weights) > 0, 0, 1)
    return shifted / jnp.sum(shifted)


def simulate(x: claims.Instance, key):
    """f - f* = f after N steps and after one; L D^2 = 1."""
    vertices = x.vertices + jnp.eye(x.corners, x.d) * 1e-3  # no polytope is a point
    widest = jnp.max(jnp.sum((vertices[:, None] - vertices) ** 2, axis=-1))
    centre = _inside(x.centre) @ vertices

    def f(w):
        return jnp.sum((w - centre) ** 2) / (2 * widest)

    def step(state):
        k, w = state
        best = vertices[jnp.argmin(vertices @ jax.grad(f)(w))]
        return k + 1, w + 2 / (k + 2) * (best - w)

    start = (0.0, _inside(x.start) @ vertices)
    return {"all": f(iterate_to(step, start, x.steps)[1]), "one": f(step(start)[1])}


def predict(x: claims.Instance):
    """The print after N steps, and what holds after one."""
    return {"all": 2 / (x.steps + 2), "one": 1 / 2}


RATE = claims.at_most("f(x_N) - f*", lambda r: r.sim["all"], lambda r: r.theory["all"])
FIRST = claims.at_most("f(x_1) - f*", lambda r: r.sim["one"], lambda r: r.theory["one"])

theorem = claims.Theorem(
    space=claims.Space(
        steps=claims.Size(5, high=30),
        d=claims.Size(2, high=8),
        corners=claims.Size(3, low=2, high=8),
        vertices=claims.Extremal(-1, 1, shape=("corners", "d")),
        centre=claims.Extremal(0, 1, shape="corners"),
        start=claims.Extremal(0, 1, shape="corners"),
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
        claims.Mutant("an eighth of the constant", claims=(RATE.scaled(0.125),)),
        claims.Mutant(NAME, of=("one step",), claims=(FIRST.scaled(0.99),)),
    ),
    instances=512,
    mutant_instances=4096,
)
