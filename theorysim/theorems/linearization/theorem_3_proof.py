"""The gap between a fine-tuned model and its linearisation grows by at most b - b e^(-lambda t).

Proof of Theorem 3 of Afzal et al. (2025), with its b, for the linearised flow without a pull. Two
lines of the proof, in their later copies, have lost a sign: they bound the growth of the gap from
above by something negative.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.theorems.linearization import _flow as flow
from theorysim.theorems.linearization import _models as models


class Grown(NamedTuple):
    """Along the flow: ||u||, ||y - y*||, d Delta/dt, and the parts of its bounds.

    ||2 (k_0 - k_t)(y - y*)||, ||J u||, |<J u, y - y_lin>|.
    """

    distance: Float[Array, " times"]
    residual: Float[Array, " times"]
    growth: Float[Array, " times"]
    kernel: Float[Array, " times"]
    pull: Float[Array, " times"]
    along: Float[Array, " times"]


class Bounds(NamedTuple):
    """The bound of the gap's growth, and the constants in it."""

    growth: Float[Array, " times"]
    constants: models.Lipschitz


def simulate(x: claims.Instance, key) -> Grown:
    path = flow.run(x, x.strength, flow.growth_times(x)[-1])
    f, y, start = models.outputs(x), models.targets(x), models.start(x)
    slope, jacobian = jax.grad(models.loss(x)), models.jacobian(x, start)

    def gap(delta, linear):
        return f(delta) - f(start) - jacobian @ linear

    def parts(delta, linear):
        error = f(start) + jacobian @ linear - y
        moves = (-slope(delta) - x.strength * delta, -2 * jacobian.T @ error)
        moved = models.jacobian(x, delta) @ delta
        return (
            jax.jvp(lambda d, u: jnp.linalg.norm(gap(d, u)), (delta, linear), moves)[1],
            jnp.linalg.norm(2 * models.gram_change(x, start, delta) @ (f(delta) - y)),
            jnp.linalg.norm(moved),
            jnp.abs(jnp.vdot(moved, gap(delta, linear))),
        )

    return Grown(path.distance, path.residual, *jax.vmap(parts)(path.deltas, path.linear))


def predict(x: claims.Instance) -> Bounds:
    b, constants = flow.gap_factor(x)
    fades = x.strength * flow.faded_time(x.strength, flow.growth_times(x))
    return Bounds(b * fades, constants)


def _second(r) -> Float[Array, " times"]:
    """||2 (k_0 - k_t)(y - y*)|| + lambda ||J u||."""
    return r.sim.kernel + r.x.strength * r.sim.pull


def _third(r, residual) -> Float[Array, " times"]:
    """Lip(k) ||u|| 2 ||residual|| + lambda Lip(f) ||u||, with Lip(k) = 2 Lip(f) Lip(grad f)."""
    c = r.theory.constants
    bent = 4 * c.f * c.jacobian * residual
    return (bent + r.x.strength * c.f) * r.sim.distance


PLACE = "slides, Section 3, Theorem 3, proof"
SECOND = claims.at_most("Q2: growth of the gap", lambda r: r.sim.growth, _second)
THIRD = claims.at_most(
    "Q3: by the Lipschitz constants", _second, lambda r: _third(r, r.sim.residual)
)
# In print the residual at the start replaces the other first, by Theorem 1.
FOURTH = claims.at_most(
    "Q4: at most b - b e^(-lambda t)",
    lambda r: _third(r, r.x.residual_size),
    lambda r: r.theory.growth,
)
MINUS = claims.at_most(
    "growth of the gap",
    lambda r: r.sim.growth,
    lambda r: r.sim.kernel - r.x.strength * r.sim.along,
)

theorem = claims.Theorem(
    space=flow.growth_space(),
    simulate=simulate,
    predict=predict,
    claims=(SECOND, THIRD, FOURTH),
    printed="proof displays",
    source=claims.Printed(
        PLACE,
        "dDelta/dt <= Lip(k) ||theta_t - theta_0|| ||2 (y - y*)|| + lambda Lip(f) "
        "||theta_t - theta_0|| <= 2 Lip(k) ||theta_t - theta_0|| ||y(0) - y*|| + lambda Lip(f) "
        "||theta_t - theta_0||; dDelta/dt <= b - b e^(-lambda t)",
    ),
    integrates=True,
    readings=(
        claims.Reading(
            "proof display, triangle inequality with a minus",
            claims.Printed(
                PLACE,
                "||(k_0 - k_t) 2 (y - y*)|| - lambda ||J (theta_t - theta_0), y - y_linear||",
            ),
            claims=(MINUS,),
            note="a norm of a difference is at most the sum of the norms",
        ),
        claims.Reading(
            "proof display, -b (1 - e^(-lambda t))",
            claims.Printed(
                PLACE,
                "-2 Lip(f) ||y(0) - y*|| ((2 / lambda) Lip(k) ||y(0) - y*|| + Lip(f)) "
                "(1 - e^(-lambda t))",
            ),
            claims=(MINUS.against(lambda r: -r.theory.growth),),
            note="the minus belongs to e^(-lambda t) alone",
        ),
    ),
    mutants=(
        claims.Mutant(
            "the factor 2 lost in the proof",
            claims=tuple(line.scaled(0.5) for line in (SECOND, THIRD, FOURTH)),
        ),
    ),
)
