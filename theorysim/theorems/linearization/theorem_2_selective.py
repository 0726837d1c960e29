"""Under the selective scheme parameters stay as near their start as under the pulls it chose.

Theorem 2 of Afzal et al. (2025) for "the selectively regularized fine-tuning solution", by descent
in small steps through a valley that turns back, where the scheme does act. The bound has the
residual at time t in print and holds with that of the start. The condition is that at theta_t, as
printed; where neither choice meets it (selective-update) the pull is off. With the condition at
theta_(t-1) or at the half step the same holds.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.systems.fine_tuning import Scheme
from theorysim.theorems.linearization import _flow as flow
from theorysim.theorems.linearization import _valley as valley

STEPS = 1000


class Selected(NamedTuple):
    """Along descent; the bound is 2 Lip(f) times the integral of e^(-(Lambda_t - Lambda_s))."""

    distance: Float[Array, " steps"]
    residual: Float[Array, " steps"]
    bound: Float[Array, " steps"]


def _simulate(scheme: Scheme) -> Callable:
    def simulate(x: claims.Instance, key) -> Selected:
        run, rate = valley.descent(x, scheme, STEPS), valley.rate(x)

        def later(integral, strength):
            integral = jnp.exp(-rate * strength) * integral + flow.faded_time(strength, rate)
            return integral, integral

        _, integral = jax.lax.scan(later, jnp.zeros(()), run.strength)
        distance = jnp.linalg.norm(run.path[1:], axis=1)
        errors = jax.vmap(valley.outputs(x))(run.path[1:]) - valley.targets(x)
        constant = valley.lipschitz(x, jax.lax.cummax(distance)).f
        return Selected(distance, jnp.linalg.norm(errors, axis=1), 2 * constant * integral)

    return simulate


AT_TIME = claims.at_most(
    "||theta_t - theta_0||", lambda r: r.sim.distance, lambda r: r.sim.residual * r.sim.bound
)
AT_START = AT_TIME.against(lambda r: valley.residual_size(r.x) * r.sim.bound)

theorem = claims.Theorem(
    space=valley.space(share=claims.Real(0.01, 0.3, log=True)),
    simulate=_simulate("printed"),
    claims=(AT_TIME,),
    printed="selective scheme, as printed",
    source=claims.Printed(
        "slides, Section 3, Theorem 2",
        "Consider the selectively regularized fine-tuning solution [...] ||theta - theta_0|| <= "
        "2 Lip(f) ||f_theta_t(x*) - y*|| int_0^t e^(-(Lambda_t - Lambda_s)) ds",
    ),
    note="as for the flow: a model that has fitted its data has moved",
    readings=(
        claims.Reading(
            "selective scheme, residual at the start",
            claims.Corrected("the residual at the start for that at time t"),
            claims=(AT_START,),
            primary=True,
            note="the loss does not rise along the scheme, so that the proof holds",
        ),
        claims.Reading(
            "the condition at theta_(t-1)",
            claims.Finding("the corrected bound with the condition at the point before the step"),
            simulate=_simulate("old"),
            claims=(AT_START,),
        ),
    ),
    mutants=(
        claims.Mutant(
            "a tenth of the bound",
            claims=(AT_START.scaled(0.1),),
        ),
    ),
    mutant_instances=512,
)
