"""Polyak's heavy ball contracts quadratics by rho^N (1 + N (1 - rho^2) / (1 + rho^2)).

Polyak (1964); the constant is printed by Pedregosa (2021, "Momentum: when Chebyshev meets
Chebyshev"): on quadratics with curvatures in [mu, L], the step 4 / (sqrt L + sqrt mu)^2 and the
momentum rho^2, rho = (sqrt L - sqrt mu) / (sqrt L + sqrt mu), after a first step of descent with
2 / (L + mu), give |x_N - x*| <= rho^N (1 + 2 sqrt(L mu) / (L + mu) N) |x_0 - x*|. Attained at
either end of [mu, L].
"""

import jax
import jax.numpy as jnp

from theorysim import claims
from theorysim.numerics.descent import iterate_to
from theorysim_classics.first_order import _quadratic as quadratic
from theorysim_classics.first_order._tight import too_small


def _contraction(x: claims.Instance):
    root = jnp.sqrt(x.conditioning)
    return (1 - root) / (1 + root)


def simulate(x: claims.Instance, key):
    """The distance at the end."""
    f = quadratic.loss(x)
    rate = 4 / (x.smoothness * (1 + jnp.sqrt(x.conditioning)) ** 2)
    momentum = _contraction(x) ** 2

    def step(state):
        before, w = state
        return w, w - rate * jax.grad(f)(w) + momentum * (w - before)

    start = x.distance * x.direction
    first = start - 2 / (x.smoothness * (1 + x.conditioning)) * jax.grad(f)(start)
    return jnp.linalg.norm(iterate_to(step, (start, first), x.steps - 1)[1])


def predict(x: claims.Instance):
    slow = 2 * jnp.sqrt(x.conditioning) / (1 + x.conditioning)
    return _contraction(x) ** x.steps * (1 + slow * x.steps) * x.distance


RATE = claims.at_most("|x_N - x*|", lambda r: r.sim, lambda r: r.theory)

theorem = claims.Theorem(
    space=quadratic.space(),
    simulate=simulate,
    predict=predict,
    claims=(RATE,),
    source=claims.Printed(
        "Pedregosa 2021, Momentum",
        "|x_N - x*| <= rho^N (1 + 2 sqrt(L mu) / (L + mu) N) |x_0 - x*|",
    ),
    mutants=(
        too_small(RATE),
        claims.Mutant("the power alone", predict=lambda x: _contraction(x) ** x.steps * x.distance),
    ),
    instances=512,
    mutant_instances=4096,
)
