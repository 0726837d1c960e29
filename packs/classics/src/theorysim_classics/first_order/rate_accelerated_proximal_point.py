"""Kim's accelerated proximal point method makes its steps R / N.

Kim (2021), Theorem 4.1, for maximal monotone operators with resolvent J: x_(k+1) = J y_k and
y_(k+1) = x_(k+1) + k / (k + 2) (x_(k+1) - x_k) - k / (k + 2) (x_k - y_(k-1)), from
y_0 = x_0 = y_(-1), reach |x_N - y_(N-1)|^2 <= |x_0 - x*|^2 / N^2. Attained in one variable.
"""

import jax.numpy as jnp

from theorysim import claims
from theorysim.numerics.descent import iterate_to
from theorysim_classics.first_order import _nonexpansive as maps
from theorysim_classics.first_order._tight import too_small


def simulate(x: claims.Instance, key):
    """The squared length of the last proximal step."""
    apply = maps.resolvent(x)

    def step(state):
        k, before, earlier, y = state
        after = apply(y)
        momentum = k / (k + 2) * (after - before - (before - earlier))
        return k + 1, after, y, after + momentum

    start = maps.start(x)
    *_, y = iterate_to(step, (0.0, start, start, start), x.steps - 1)
    return jnp.sum((apply(y) - y) ** 2)


def predict(x: claims.Instance):
    return x.distance**2 / x.steps**2


RATE = claims.at_most("|x_N - y_(N-1)|^2", lambda r: r.sim, lambda r: r.theory)

theorem = claims.Theorem(
    space=maps.space(),
    simulate=simulate,
    predict=predict,
    claims=(RATE,),
    source=claims.Printed("Kim 2021, Theorem 4.1", "|x_N - y_(N-1)|^2 <= |x_0 - x*|^2 / N^2"),
    mutants=(too_small(RATE),),
    instances=512,
    mutant_instances=16384,
)
