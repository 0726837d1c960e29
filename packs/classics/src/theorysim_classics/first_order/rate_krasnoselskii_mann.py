"""Averaged iterations make the residual of a nonexpansive map fall like 1 / sqrt(N).

Lieder (2018), Theorem 4.9: x_(k+1) = (1 - gamma) x_k + gamma T x_k reaches
|x_N - T x_N|^2 / 4 <= (1 / (N + 1)) (N / (N + 1))^N / (4 gamma (1 - gamma)) R^2 for gamma in
[1/2, (1 + sqrt(N / (N + 1))) / 2], and (2 gamma - 1)^(2 N) R^2 above. Attained by rotations, and by
T = -I. The gallery of PEPit prints (gamma - 1)^(2 N) for the latter; its program has it right.
"""

import jax.numpy as jnp

from theorysim import claims
from theorysim.numerics.descent import iterate_to
from theorysim_classics.first_order import _nonexpansive as maps
from theorysim_classics.first_order._tight import too_small


def simulate(x: claims.Instance, key):
    """A quarter of the squared residual at the end."""
    apply = maps.operator(x)
    end = iterate_to(lambda w: (1 - x.weight) * w + x.weight * apply(w), maps.start(x), x.steps)
    return jnp.sum((end - apply(end)) ** 2) / 4


def _bound(x: claims.Instance, long_steps):
    """The rate of short steps, and that of long ones in their place."""
    n = x.steps
    short = (n / (n + 1)) ** n / (n + 1) / (4 * x.weight * (1 - x.weight))
    is_short = x.weight <= (1 + jnp.sqrt(n / (n + 1))) / 2
    return jnp.where(is_short, short, long_steps ** (2 * n)) * x.distance**2


RATE = claims.at_most("|x_N - T x_N|^2 / 4", lambda r: r.sim, lambda r: r.theory)

theorem = claims.Theorem(
    space=maps.space(weight=claims.Real(0.5, 0.999)),
    simulate=simulate,
    predict=lambda x: _bound(x, x.weight - 1),
    claims=(RATE,),
    printed="PEPit's gallery",
    source=claims.Printed(
        "PEPit 0.5, wc_krasnoselskii_mann_constant_step_sizes",
        "|x_N - T x_N|^2 / 4 <= (gamma - 1)^(2 N) R^2 for large gamma",
    ),
    note="a factor two is lost: T = -I contracts by 2 gamma - 1 per step",
    readings=(
        claims.Reading(
            "Lieder",
            claims.Printed(
                "Lieder 2018, Theorem 4.9",
                "|x_N - T x_N|^2 / 4 <= (2 gamma - 1)^(2 N) R^2 for large gamma",
            ),
            predict=lambda x: _bound(x, 2 * x.weight - 1),
            primary=True,
        ),
    ),
    mutants=(too_small(RATE),),
    instances=512,
    mutant_instances=4096,
)
