"""Under the selective scheme parameters stay as near their start as under a constant pull.

Theorem 2 of Afzal et al. (2025) for "the selectively regularized fine-tuning solution", by descent
in small steps: the bound has the residual at time t in print and holds with that of the start. The
scheme hardly ever pulls after its first step, which starts at theta_0.
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


class Selected(NamedTuple):
    """Along descent; the bound is 2 Lip(f) times the integral of e^(-(Lambda_t - Lambda_s))."""

    distance: Float[Array, " steps"]
    residual: Float[Array, " steps"]
    bound: Float[Array, " steps"]


def simulate(x: claims.Instance, key) -> Selected:
    rate = x.share * flow.time_scale(x, x.strength)
    run = regularised_descent(models.loss(x), models.start(x), rate, x.strength, STEPS, "old")

    def later(integral, strength):
        integral = jnp.exp(-rate * strength) * integral + flow.faded_time(strength, rate)
        return integral, integral

    _, integral = jax.lax.scan(later, jnp.zeros(()), run.strength)
    distance = jnp.linalg.norm(run.path[1:], axis=1)
    errors = jax.vmap(models.outputs(x))(run.path[1:]) - models.targets(x)
    constant = models.lipschitz(x, jax.lax.cummax(distance)).f
    return Selected(distance, jnp.linalg.norm(errors, axis=1), 2 * constant * integral)


AT_TIME = claims.at_most(
    "||theta_t - theta_0||", lambda r: r.sim.distance, lambda r: r.sim.residual * r.sim.bound
)
AT_START = AT_TIME.against(lambda r: r.x.residual_size * r.sim.bound)

theorem = claims.Theorem(
    space=flow.distance_space(),
    simulate=simulate,
    claims=(AT_TIME,),
    printed="selective scheme, as printed",
    source=claims.Printed(
        "slides, Section 3, Theorem 2",
        "Consider the selectively regularized fine-tuning solution",
    ),
    note="as for the flow: a model that has fitted its data has moved",
    readings=(
        claims.Reading(
            "selective scheme, residual at the start",
            claims.Corrected("the residual at the start for that at time t"),
            claims=(AT_START,),
            primary=True,
            note="the scheme hardly ever pulls after its first step, which starts at theta_0",
        ),
    ),
    mutants=(claims.Mutant("the factor 2 lost", claims=(AT_START.scaled(0.5),)),),
)
