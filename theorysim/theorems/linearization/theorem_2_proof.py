"""The distance from the start grows by at most 2 Lip(f) ||y - y*|| less the pull: line by line.

Proof of Theorem 2 of Afzal et al. (2025) up to its differential inequality, at any point of a ball.
One reason in it has lost a gradient: ||f_theta(x*)|| <= Lip(f), where ||grad f_theta(x*)|| is
meant. theorem-2 has the integral of the last line.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.theorems.linearization import _models as models


class Moving(NamedTuple):
    """dw/dt by automatic differentiation, ||y - y*||, ||f|| for an f_0 of x.size, and ||J||."""

    growth: Float[Array, ""]
    residual: Float[Array, ""]
    outputs: Float[Array, ""]
    jacobian: Float[Array, ""]


class Displays(NamedTuple):
    """-u^ J^T (y - y*), ||u||, Lip(f)."""

    along: Float[Array, ""]
    distance: Float[Array, ""]
    constant: Float[Array, ""]


def simulate(x: claims.Instance, key) -> Moving:
    delta = models.point(x)
    outputs = models.outputs(x)(delta)
    whole = x.size * x.first + outputs
    return Moving(
        models.along_flow(x, jnp.linalg.norm, x.strength),
        jnp.linalg.norm(outputs - models.targets(x)),
        jnp.linalg.norm(whole),
        jnp.linalg.norm(models.jacobian(x, delta), ord=2),
    )


def predict(x: claims.Instance) -> Displays:
    delta = models.point(x)
    error = models.outputs(x)(delta) - models.targets(x)
    slope = jax.grad(lambda d: jnp.vdot(error, models.outputs(x)(d)))(delta)
    distance = jnp.linalg.norm(delta)
    constant = models.lipschitz(x, x.radius).f
    return Displays(-jnp.vdot(delta, slope) / distance, distance, constant)


def _steepest(r) -> Float[Array, ""]:
    """Lip(f) ||y - y*||."""
    return r.theory.constant * r.sim.residual


def _back(r) -> Float[Array, ""]:
    return r.x.strength * r.theory.distance


PLACE = "slides, Section 3, Theorem 2, proof"
GROWTH = claims.equal("dw/dt", lambda r: r.sim.growth, lambda r: 2 * r.theory.along - _back(r))
ALONG = claims.at_most("-u^ J^T (y - y*)", lambda r: r.theory.along, _steepest)
INEQUALITY = claims.at_most(
    "dw/dt + lambda w", lambda r: r.sim.growth + _back(r), lambda r: 2 * _steepest(r)
)
OUTPUTS = claims.at_most(
    "the norm in the reason", lambda r: r.sim.outputs, lambda r: r.theory.constant
)

theorem = claims.Theorem(
    space=models.model_space(
        radius=claims.Real(0.01, 10, log=True),
        way=claims.Gaussian("n", models.HIDDEN),
        strength=claims.Real(1e-2, 100, log=True),
        first=claims.UnitVector("n"),
        size=claims.Real(0.1, 10, log=True),
    ),
    simulate=simulate,
    predict=predict,
    claims=(GROWTH, ALONG, INEQUALITY),
    printed="proof displays",
    source=claims.Printed(
        PLACE,
        "dw/dt = -2 u^_t^T J^T (y - y*) - lambda_t w, -u^_t^T J^T (y - y*) <= Lip(f) ||y - y*||, "
        "dw/dt + lambda_t w <= 2 Lip(f) ||y - y*||",
    ),
    readings=(
        claims.Reading(
            "reason, without the gradient",
            claims.Printed(PLACE, "||f_theta_t(x*)|| <= Lip(f)"),
            claims=(OUTPUTS,),
            note="the gradient is bounded by Lip(f), the outputs are not",
        ),
        claims.Reading(
            "reason, corrected",
            claims.Corrected("||grad f_theta_t(x*)|| <= Lip(f)"),
            simulate=lambda x, key: simulate(x, key)._replace(outputs=simulate(x, key).jacobian),
            claims=(OUTPUTS,),
            note="the norm of the gradient of f",
        ),
    ),
    mutants=(
        claims.Mutant(
            "the factor 2 lost",
            claims=(
                GROWTH.against(lambda r: r.theory.along - _back(r)),
                ALONG.scaled(0.5),
                INEQUALITY.scaled(0.5),
            ),
        ),
    ),
    mutant_instances=512,
)
