"""Polyak's step contracts a smooth strongly convex function's distance as the step itself tells.

Barre, Taylor and d'Aspremont (2020), Proposition 1: with gamma = 2 (f(x) - f*) / |grad f(x)|^2, one
step has |x_1 - x*|^2 <= (gamma L - 1) (1 - gamma mu) / (gamma (L + mu) - 1) |x_0 - x*|^2, which is
((L - mu) / (L + mu))^2 where gamma is worst. Attained by quadratics in the plane, on which it is
run here.
"""

import jax

from theorysim import claims
from theorysim_classics.first_order import _quadratic as quadratic
from theorysim_classics.first_order._tight import too_small


def simulate(x: claims.Instance, key):
    """The step, in units of 1 / L, and the squared distances."""
    f, start = quadratic.loss(x), x.distance * x.direction
    slope = jax.grad(f)(start)
    step = 2 * f(start) / (slope @ slope)
    after = start - step * slope
    return {"step": step * x.smoothness, "start": start @ start, "end": after @ after}


def _factor(r):
    """The printed factor at the step that was taken."""
    step, low = r.sim["step"], r.x.conditioning
    return (step - 1) * (1 - step * low) / (step * (1 + low) - 1)


OWN = claims.at_most(
    "|x_1 - x*|^2 by its step", lambda r: r.sim["end"], lambda r: _factor(r) * r.sim["start"]
)
WORST = claims.at_most(
    "|x_1 - x*|^2 at worst",
    lambda r: r.sim["end"],
    lambda r: r.theory * r.sim["start"],
)


def predict(x: claims.Instance):
    return ((1 - x.conditioning) / (1 + x.conditioning)) ** 2


theorem = claims.Theorem(
    space=quadratic.space(d=2),
    simulate=simulate,
    predict=predict,
    claims=(OWN, WORST),
    source=claims.Printed(
        "Barre, Taylor and d'Aspremont 2020, Proposition 1",
        "|x_1 - x*|^2 <= (gamma L - 1) (1 - gamma mu) / (gamma (L + mu) - 1) |x_0 - x*|^2",
    ),
    mutants=(too_small(OWN, WORST),),
    instances=512,
    mutant_instances=4096,
)
