"""Descent along gradients with relative errors contracts as if mu and L were further apart.

De Klerk, Glineur and Taylor (2020), Theorem 5.3: directions d_k with |d_k - grad f(x_k)| <=
eps |grad f(x_k)| and steps 2 / (L_eps + mu_eps), L_eps = (1 + eps) L, mu_eps = (1 - eps) mu, reach
f(x_N) - f* <= ((L_eps - mu_eps) / (L_eps + mu_eps))^(2 N) (f(x_0) - f*). Attained by quadratics
with errors along the gradient, which are all that occur here.
"""

import jax

from theorysim import claims
from theorysim_classics.first_order import _smooth as smooth
from theorysim_classics.first_order._tight import too_small


def simulate(x: claims.Instance, key):
    """The excess value at the start and at the end."""
    f = smooth.loss(x, x.conditioning)
    widened = (1 + x.inexactness) + (1 - x.inexactness) * x.conditioning

    def step(w, error):
        slope = (1 + x.inexactness * error) * jax.grad(f)(w)
        return w - 2 / (x.smoothness * widened) * slope, None

    start = smooth.start(x)
    end, _ = jax.lax.scan(step, start, x.errors)
    return {"start": f(start), "end": f(end)}


def predict(x: claims.Instance):
    high, low = 1 + x.inexactness, (1 - x.inexactness) * x.conditioning
    return ((high - low) / (high + low)) ** (2 * x.steps)


RATE = claims.at_most("f(x_N) - f*", lambda r: r.sim["end"], lambda r: r.theory * r.sim["start"])

theorem = claims.Theorem(
    space=smooth.strongly_convex_space(
        steps=3, inexactness=claims.Real(0, 0.9), errors=claims.Extremal(-1, 1, shape="steps")
    ),
    simulate=simulate,
    predict=predict,
    claims=(RATE,),
    source=claims.Printed(
        "de Klerk, Glineur and Taylor 2020, Theorem 5.3",
        "f(x_N) - f* <= ((L_eps - mu_eps) / (L_eps + mu_eps))^(2 N) (f(x_0) - f*)",
    ),
    mutants=(too_small(RATE),),
    instances=512,
    mutant_instances=16384,
)
