"""Fine-tuned parameters stay within 2 Lip(f) r_0 (1 - e^(-lambda t)) / lambda of their start.

Theorem 2 of Afzal et al. (2025), with r_0 the residual at the start. The statement and its
two cases have the residual at time t; the proof bounds the residuals on the way by r_0, which is
what holds: a model that has fitted its data has moved. Checked for a constant lambda_t, zero
included, with constants on a ball that just holds the path; theorem-2-selective has the scheme of
the paper, theorem-2-limit the lim sup of case 1, theorem-2-proof the lines before the integral.
Left out are weaker pulls, flatter models and longer times than those of the space, whose flows take
an integrator ever more steps; a pull of zero is in it.
"""

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.theorems.linearization import _flow as flow
from theorysim.theorems.linearization import _models as models


def _pull(x: claims.Instance):
    """The strength, and the last time."""
    strength = x.pulled * x.strength
    return strength, x.horizon * flow.time_scale(x, strength)


def simulate(x: claims.Instance, key) -> flow.Moved:
    return flow.move(x, *_pull(x))


def predict(x: claims.Instance) -> Float[Array, " times"]:
    """The integral over s from 0 to t of e^(-(Lambda_t - Lambda_s))."""
    strength, end = _pull(x)
    return flow.faded_time(strength, end * jnp.array(flow.GRID[1:]))


def _constant(r) -> Float[Array, " times"]:
    """2 Lip(f)."""
    return 2 * models.lipschitz(r.x, r.sim.radius).f


def _memory(r) -> Float[Array, " times"]:
    return _constant(r) * r.sim.memory


def _from_start(r) -> Float[Array, " times"]:
    return r.x.residual_size * _constant(r) * r.theory


AT_START = claims.at_most(
    "||theta_t - theta_0||",
    lambda r: r.sim.distance,
    _from_start,
    statement="2 Lip(f) ||f_0 - y|| int_0^t e^(-(Lambda_t - Lambda_s)) ds",
)
AT_TIME = claims.at_most(
    AT_START.name,
    AT_START.lhs,
    lambda r: r.sim.residual * _constant(r) * r.theory,
    statement="2 Lip(f) ||f_t - y|| int_0^t e^(-(Lambda_t - Lambda_s)) ds",
)
BY_MEMORY = claims.at_most(AT_START.name, AT_START.lhs, _memory)
FROM_MEMORY = claims.at_most("and at most the residual at the start", _memory, _from_start)

theorem = claims.Theorem(
    space=flow.distance_space(),
    simulate=simulate,
    predict=predict,
    claims=(AT_TIME,),
    source=claims.Printed(
        "slides, Section 3, Theorem 2 and its cases 1 and 2",
        "||theta_t - theta_0|| <= 2 Lip(f) ||f_t(x*) - y*|| int_0^t e^(-(Lambda_t - Lambda_s)) ds",
    ),
    note="a model that has fitted its data has moved, and its residual at time t is small",
    integrates=True,
    readings=(
        claims.Reading(
            "corrected",
            claims.Corrected("the residual at the start for that at time t"),
            claims=(AT_START,),
            primary=True,
            note="the residual of the start bounds those on the way, that of time t does not",
        ),
        claims.Reading(
            "proof, integral of the residual",
            claims.Printed(
                "slides, Section 3, Theorem 2, proof",
                "w(t) <= 2 Lip(f) int_0^t e^(-(Lambda_t - Lambda_s)) ||y(s) - y*|| ds",
            ),
            claims=(BY_MEMORY, FROM_MEMORY),
        ),
    ),
    mutants=(
        claims.Mutant("the factor 2 lost", claims=(AT_START.scaled(0.5),)),
        claims.Mutant(
            "the factor 2 lost in the proof",
            of=("proof, integral of the residual",),
            claims=(BY_MEMORY.scaled(0.5), FROM_MEMORY.scaled(0.5)),
        ),
    ),
)
