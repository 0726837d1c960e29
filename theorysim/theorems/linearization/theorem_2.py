"""Fine-tuned parameters stay within 2 Lip(f) r_0 (1 - e^(-lambda t)) / lambda of their start.

Theorem 2 of Afzal et al. (2025), with r_0 the residual at the start. The statement and its
two cases have the residual at time t; the proof bounds the residuals on the way by r_0, which is
what holds: a model that has fitted its data has moved. Checked for a constant lambda_t, zero
included, with constants on a ball that holds the path; the selective scheme by descent in small
steps.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.systems.fine_tuning import regularised_descent
from theorysim.theorems.linearization import _flow as flow
from theorysim.theorems.linearization import _models as models

STEPS = 300


class Moved(NamedTuple):
    """Along the flow."""

    distance: Float[Array, " times"]
    residual: Float[Array, " times"]
    memory: Float[Array, " times"]
    """integral over s from 0 to t of e^(-lambda (t - s)) ||y(s) - y*||"""


class Selected(NamedTuple):
    """Along descent by the selective scheme."""

    distance: Float[Array, " steps"]
    residual: Float[Array, " steps"]
    bound: Float[Array, " steps"]
    """2 Lip(f) times the integral of e^(-(Lambda_t - Lambda_s))"""


class Bound(NamedTuple):
    """2 Lip(f), and that times the integral of e^(-(Lambda_t - Lambda_s))."""

    constant: Float[Array, " times"]
    bound: Float[Array, " times"]


def _strength(x: claims.Instance):
    return x.pulled * x.strength


def _end(x: claims.Instance):
    return x.horizon * flow.time_scale(x, _strength(x))


def simulate(x: claims.Instance, key) -> Moved:
    path = flow.run(x, _strength(x), _end(x))
    return Moved(path.distance, path.residual, path.memory)


def predict(x: claims.Instance) -> Bound:
    times = _end(x) * jnp.array(flow.GRID[1:])
    constant = models.lipschitz(x, flow.sure_radius(x, _strength(x), times)).f
    return Bound(2 * constant, 2 * constant * flow.faded_time(_strength(x), times))


def _learning_rate(x: claims.Instance):
    return x.share * flow.time_scale(x, x.strength)


def simulate_selective(x: claims.Instance, key) -> Selected:
    """Descent of the selective scheme, with the integral of e^(-(Lambda_t - Lambda_s))."""
    rate = _learning_rate(x)
    run = regularised_descent(models.loss(x), models.start(x), rate, x.strength, STEPS, "old")

    def later(integral, strength):
        integral = jnp.exp(-rate * strength) * integral + flow.faded_time(strength, rate)
        return integral, integral

    _, integral = jax.lax.scan(later, jnp.zeros(()), run.strength)
    distance = jnp.linalg.norm(run.path[1:], axis=1)
    errors = jax.vmap(models.outputs(x))(run.path[1:]) - models.targets(x)
    constant = models.lipschitz(x, jax.lax.cummax(distance)).f
    return Selected(distance, jnp.linalg.norm(errors, axis=1), 2 * constant * integral)


def _distance(r):
    return r.sim.distance


NAME = "||theta_t - theta_0||"
AT_TIME = claims.at_most(
    NAME,
    _distance,
    lambda r: r.sim.residual * r.theory.bound,
    statement="2 Lip(f) ||f_t - y|| int_0^t e^(-(Lambda_t - Lambda_s)) ds",
)
AT_START = claims.at_most(
    NAME,
    _distance,
    lambda r: r.x.residual_size * r.theory.bound,
    statement="2 Lip(f) ||f_0 - y|| int_0^t e^(-(Lambda_t - Lambda_s)) ds",
)
BY_MEMORY = claims.at_most(NAME, _distance, lambda r: r.theory.constant * r.sim.memory)
FROM_MEMORY = claims.at_most(
    "and at most the residual at the start",
    lambda r: r.theory.constant * r.sim.memory,
    lambda r: r.x.residual_size * r.theory.bound,
)
INERT = "the scheme hardly ever pulls after its first step, which starts at theta_0"

theorem = claims.Theorem(
    space=models.model_space(
        pulled=claims.Choice(0.0, 1.0, 1.0, 1.0),
        strength=claims.Real(0.05, 100, log=True),
        horizon=claims.Real(0.1, 20, log=True),
        share=claims.Real(0.01, 0.1, log=True),
    ),
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
                "w(t) <= 2 Lip(f) int_0^t e^(-(Lambda_t - Lambda_s)) ||y(s) - y*|| ds <= "
                "2 Lip(f) ||y(0) - y*|| int_0^t e^(-(Lambda_t - Lambda_s)) ds",
            ),
            claims=(BY_MEMORY, FROM_MEMORY),
        ),
        claims.Reading(
            "selective scheme, as printed",
            claims.Printed(
                "slides, Section 3, Theorem 2",
                "Consider the selectively regularized fine-tuning solution",
            ),
            simulate=simulate_selective,
            claims=(claims.at_most(NAME, _distance, lambda r: r.sim.residual * r.sim.bound),),
            note=f"as for the flow; {INERT}",
        ),
        claims.Reading(
            "selective scheme, residual at the start",
            claims.Corrected("the residual at the start for that at time t"),
            simulate=simulate_selective,
            claims=(claims.at_most(NAME, _distance, lambda r: r.x.residual_size * r.sim.bound),),
            note=INERT,
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
