"""The outputs and the loss along the flow with a pull, by the tangent kernel.

Proof of Theorem 1 of Afzal et al. (2025), (1) and (2): dy/dt = -(2 k (y - y*) + lambda J (theta -
theta_0)), half of d/dt ||y - y*||^2 = -2 <k (y - y*), y - y*> - (lambda / 2) <grad R, theta -
theta_0>, grad R = 2 (y - y*)^T J, and k is semidefinite. Checked at any point of a ball.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.theorems.linearization import _models as models


class Displays(NamedTuple):
    """dy/dt, half of d/dt ||y - y*||^2, grad R, and <k (y - y*), y - y*>."""

    outputs: Float[Array, " n"]
    half_slope: Float[Array, ""]
    gradient: Float[Array, " p"]
    form: Float[Array, ""]


class Derivatives(NamedTuple):
    """dy/dt, d/dt ||y - y*||^2 and grad R, by automatic differentiation."""

    outputs: Float[Array, " n"]
    slope: Float[Array, ""]
    gradient: Float[Array, " p"]


def simulate(x: claims.Instance, key) -> Derivatives:
    loss, outputs = models.loss(x), models.outputs(x)
    rising, moving = (models.along_flow(x, f, x.strength) for f in (loss, outputs))
    return Derivatives(moving, rising, jax.grad(loss)(models.point(x)))


def _predict(two: float = 2.0, sign: float = 1.0) -> Callable:
    """`two` is the factor that the square brings, `sign` that of the kernel."""

    def predict(x: claims.Instance) -> Displays:
        delta = models.point(x)
        j, k = models.jacobian(x, delta), sign * models.gram(x, delta)
        error = models.outputs(x)(delta) - models.targets(x)
        gradient = two * error @ j
        return Displays(
            -(two * k @ error + x.strength * j @ delta),
            -two * error @ k @ error - x.strength / 2 * gradient @ delta,
            gradient,
            error @ k @ error,
        )

    return predict


P1 = claims.equal("P1: dy/dt", lambda r: r.sim.outputs, lambda r: r.theory.outputs)
P2 = claims.equal(
    "P2: half of d/dt ||y - y*||^2", lambda r: r.sim.slope / 2, lambda r: r.theory.half_slope
)
P3 = claims.equal("P3: grad R", lambda r: r.sim.gradient, lambda r: r.theory.gradient)
P4 = claims.at_least("P4: k_t is semidefinite", lambda r: r.theory.form, lambda r: 0.0)

theorem = claims.Theorem(
    space=models.point_space(),
    simulate=simulate,
    predict=_predict(),
    claims=(P1, P2, P3, P4),
    printed="proof displays",
    source=claims.Printed(
        "slides, Section 3, Theorem 1, proof (1) and (2)",
        "dy/dt = -(2 k_t (y - y*) + lambda J (theta_t - theta_0)); (1/2) d/dt ||y - y*||^2 = "
        "-2 <k_t (y - y*), y - y*> - (lambda / 2) grad R (theta_t - theta_0), "
        "grad R = 2 (y - y*)^T J; k_t is semidefinite",
    ),
    mutants=(
        claims.Mutant("the factor 2 of the square lost", predict=_predict(1.0)),
        claims.Mutant("the sign of k_t lost", predict=_predict(sign=-1.0)),
    ),
    instances=128,
)
