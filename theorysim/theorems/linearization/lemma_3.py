"""Regularised descent follows d theta/dt = -grad R - lambda_t (theta - theta_0) in small steps.

Lemma 3 of Afzal et al. (2025), for a pull that is constant or switches at given times. The lines of
its derivation in the appendix are lemma-3-proof.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.numerics.descent import iterate_to
from theorysim.systems.fine_tuning import regularised_step
from theorysim.theorems.linearization import _flow as flow
from theorysim.theorems.linearization import _models as models

SWITCHES = (0.0, 0.2, 0.5, 0.9, 1.0)
RUNGS = (100.0, 200.0, 400.0, 800.0)


def _end(x: claims.Instance) -> Float[Array, ""]:
    return x.horizon * flow.time_scale(x, x.strength)


def _is_on(x: claims.Instance, share) -> Float[Array, ""]:
    """Whether the pull acts at a share of the time: always, or off twice, between the switches."""
    off = ((share > SWITCHES[1]) & (share < SWITCHES[2])) | (share > SWITCHES[3])
    return jnp.where(off, 1 - x.switching, 1.0)


def simulate(x: claims.Instance, key) -> models.Delta:
    """Parameters at the end of descent in x.steps steps."""
    steps = jnp.round(x.steps).astype(int)
    loss, rate = models.loss(x), _end(x) / steps

    def step(state):
        k, delta = state
        strength = x.strength * _is_on(x, (k + 0.5) / steps)
        return k + 1, regularised_step(loss, models.start(x), delta, rate, strength).params

    return iterate_to(step, (jnp.zeros(()), models.start(x)), steps)[1]


def _predict(weight: float = 1.0) -> Callable:
    """Parameters at the end of the flow, integrated from switch to switch."""

    def predict(x: claims.Instance) -> models.Delta:
        def segment(delta, ends):
            strength = x.strength * _is_on(x, jnp.mean(ends))
            return flow.pulled_flow(x, delta, strength, _end(x) * ends, weight)[-1], None

        segments = jnp.stack([jnp.array(SWITCHES[:-1]), jnp.array(SWITCHES[1:])], axis=1)
        return jax.lax.scan(segment, models.start(x), segments)[0]

    return predict


TO_FLOW = claims.tends_to(
    "descent to the flow",
    lambda r: r.sim,
    lambda r: r.theory,
    over={"steps": RUNGS},
    statement="d theta/dt = -grad R(theta)^T - lambda_t (theta - theta_0)",
)
FIRST_ORDER = claims.scales_as(
    "distance to the flow",
    lambda r: jnp.linalg.norm(r.sim - r.theory),
    over={"steps": RUNGS},
    exponent=-1,
    relation="at_most",
)

theorem = claims.Theorem(
    space=models.model_space(
        strength=claims.Real(0.05, 100, log=True),
        horizon=claims.Real(0.1, 5, log=True),
        switching=claims.Choice(0.0, 1.0),
        steps=claims.Real(100, 1000, log=True),
    ),
    simulate=simulate,
    predict=_predict(),
    claims=(TO_FLOW,),
    source=claims.Printed(
        "slides, Section 3, Lemma 3",
        "d theta_t/dt = -grad R(theta_t)^T - lambda_t (theta_t - theta_0), lambda switches at most "
        "countably often",
    ),
    readings=(
        claims.Reading(
            "of first order in the step",
            claims.Finding("how fast descent approaches the flow"),
            claims=(FIRST_ORDER,),
        ),
    ),
    mutants=(claims.Mutant("half of the gradient", predict=_predict(0.5)),),
    instances=32,
    integrates=True,
)
