"""NoLips, mirror descent on relatively smooth functions, is within D_h(x*, x_0) / (gamma N).

Dragomir, Taylor, d'Aspremont and Bolte (2021), Theorem 1, after Bauschke, Bolte and Teboulle
(2017): where L h - f and f are convex and gamma <= 1 / L, the steps grad h(x_(k+1)) = grad h(x_k) -
gamma grad f(x_k) reach F(x_N) - F* <= D_h(x*, x_0) / (gamma N). No function attains it, but
h(w) = w^p / p on w >= 0 comes close as p grows, with a linear f. Here f(w) = c w + s h(w), s <= L =
1; the power p and the step are logarithmic, and w^(p - 1) is what is stored.
"""

import jax
import jax.numpy as jnp

from theorysim import claims
from theorysim.numerics.descent import iterate_to
from theorysim_classics.first_order._tight import too_small


def simulate(x: claims.Instance, key):
    """F at the end."""

    def f(w):
        return x.slope / (x.step * x.steps) * w + x.relative * w**x.power / x.power

    def step(dual):
        w = dual ** (1 / (x.power - 1))
        moved = dual - x.step * jnp.where(dual > 0, jax.grad(f)(w), 0)
        return jnp.maximum(moved, 0)  # the half-line w >= 0

    end = iterate_to(step, jnp.ones_like(x.step), x.steps)
    return f(end ** (1 / (x.power - 1)))


def predict(x: claims.Instance):
    """The factor of D_h(x*, x_0)."""
    return 1 / (x.step * x.steps)


# x* = 0 and x_0 = 1, so that D_h(x*, x_0) = 1 - 1 / p.
RATE = claims.at_most("F(x_N) - F*", lambda r: r.sim, lambda r: r.theory * (1 - 1 / r.x.power))

theorem = claims.Theorem(
    space=claims.Space(
        steps=claims.Size(5, high=30),
        power=claims.Real(2, 1e5, log=True),
        step=claims.Real(0.01, 1, log=True),
        slope=claims.Real(0, 1.5),
        relative=claims.Extremal(0, 1),
    ),
    simulate=simulate,
    predict=predict,
    claims=(RATE,),
    source=claims.Printed(
        "Dragomir, Taylor, d'Aspremont and Bolte 2021, Theorem 1",
        "F(x_N) - F* <= D_h(x*, x_0) / (gamma N)",
    ),
    mutants=(too_small(RATE),),
    instances=512,
    mutant_instances=4096,
)
