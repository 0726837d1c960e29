"""A fine-tuned model stays within b (t - (1 - e^(-lambda t)) / lambda) of its linearisation.

Theorem 3 of Afzal et al. (2025), b = 2 Lip(f)^2 r_0 ((4 / lambda) Lip(grad f) r_0 + 1) with r_0 the
residual at the start. The statement does not give the linearised model's flow; it holds for all
four that the slides suggest (`_flow`). Two lines of the proof, in their later copies, have lost a
sign: they bound the growth of the gap from above by something negative.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.theorems.linearization import _flow as flow
from theorysim.theorems.linearization import _models as models


class Grown(NamedTuple):
    """Along the flow: outputs, also of the linearised models, and the parts of the gap's growth."""

    outputs: Float[Array, "times n"]
    straight: dict[str, Float[Array, "times n"]]
    distance: Float[Array, " times"]
    growth: Float[Array, " times"]
    """d Delta/dt for reading A"""
    kernel: Float[Array, " times"]
    """||2 (k_0 - k_t)(y - y*)||"""
    pull: Float[Array, " times"]
    """||J u||"""
    along: Float[Array, " times"]
    """|<J u, y - y_lin>|"""


class Bounds(NamedTuple):
    """The bound of the gap, that of its growth, and the constants in both."""

    gap: Float[Array, " times"]
    growth: Float[Array, " times"]
    constants: models.Lipschitz


def _times(x: claims.Instance):
    return x.horizon * flow.time_scale(x, x.strength) * jnp.array(flow.GRID[1:])


def simulate(x: claims.Instance, key) -> Grown:
    path = flow.run(x, x.strength, _times(x)[-1])
    parts = [jax.vmap(part)(path.deltas, path.linear) for part in _parts(x)]
    return Grown(path.outputs, path.straight, path.distance, *parts)


def _parts(x: claims.Instance) -> tuple[Callable, ...]:
    """The last four fields of `Grown` at one time."""
    f, y, start = models.outputs(x), models.targets(x), models.start(x)
    slope, jacobian = jax.grad(models.loss(x)), models.jacobian(x, start)

    def gap(delta, linear):
        return f(delta) - f(start) - jacobian @ linear

    def growth(delta, linear):
        error = f(start) + jacobian @ linear - y
        moves = (-slope(delta) - x.strength * delta, -2 * jacobian.T @ error)
        return jax.jvp(lambda d, u: jnp.linalg.norm(gap(d, u)), (delta, linear), moves)[1]

    def kernel(delta, linear):
        return jnp.linalg.norm(2 * models.gram_change(x, start, delta) @ (f(delta) - y))

    def pull(delta, linear):
        return jnp.linalg.norm(models.jacobian(x, delta) @ delta)

    def along(delta, linear):
        return jnp.abs(jnp.vdot(models.jacobian(x, delta) @ delta, gap(delta, linear)))

    return growth, kernel, pull, along


def _predict(curved: bool = True) -> Callable:
    def predict(x: claims.Instance) -> Bounds:
        times = _times(x)
        c = models.lipschitz(x, flow.sure_radius(x, x.strength, times))
        r_0, fades = x.residual_size, x.strength * flow.faded_time(x.strength, times)
        bent = curved * 4 / x.strength * c.jacobian * r_0
        b = 2 * c.f**2 * r_0 * (bent + 1)
        return Bounds(b * flow.excess_time(x.strength, times), b * fades, c)

    return predict


def _gap(name: str):
    return claims.at_most(
        f"gap to {name}",
        lambda r: flow.gap(r, name),
        lambda r: r.theory.gap,
        statement="||f - f_linear|| <= b (t - (1 - e^(-lambda t)) / lambda)",
    )


GAPS = tuple(_gap(name) for name in flow.READINGS)


def _second(r) -> Float[Array, " times"]:
    """||2 (k_0 - k_t)(y - y*)|| + lambda ||J u||."""
    return r.sim.kernel + r.x.strength * r.sim.pull


def _third(r) -> Float[Array, " times"]:
    """Lip(k) ||u|| 2 ||y_0 - y*|| + lambda Lip(f) ||u||, with Lip(k) = 2 Lip(f) Lip(grad f)."""
    c = r.theory.constants
    bent = 4 * c.f * c.jacobian * r.x.residual_size
    return (bent + r.x.strength * c.f) * r.sim.distance


SECOND = claims.at_most("Q2: growth of the gap", lambda r: r.sim.growth, _second)
THIRD = claims.at_most("Q3: by the Lipschitz constants", _second, _third)
FOURTH = claims.at_most("Q4: at most b - b e^(-lambda t)", _third, lambda r: r.theory.growth)
PROOF = "slides, Section 3, Theorem 3, proof"


theorem = claims.Theorem(
    space=models.model_space(
        strength=claims.Real(0.05, 100, log=True), horizon=claims.Real(0.03, 20, log=True)
    ),
    simulate=simulate,
    predict=_predict(),
    claims=GAPS,
    source=claims.Printed(
        "slides, Section 3, Theorem 3",
        "||f_t(x*) - f_linear(x*)|| <= b (t - (1 - e^(-lambda t)) / lambda), b = 2 Lip(f)^2 "
        "||f_0(x*) - y*|| ((4 / lambda) Lip(grad f) ||f_0(x*) - y*|| + 1)",
    ),
    integrates=True,
    readings=(
        claims.Reading(
            "proof displays",
            claims.Printed(
                PROOF,
                "dDelta/dt <= Lip(k) ||theta_t - theta_0|| ||2 (y - y*)|| + lambda Lip(f) "
                "||theta_t - theta_0|| <= b - b e^(-lambda t)",
            ),
            claims=(SECOND, THIRD, FOURTH),
        ),
        claims.Reading(
            "proof display, triangle inequality with a minus",
            claims.Printed(
                PROOF,
                "dDelta/dt <= ||(k_0 - k_t) 2 (y - y*)|| - lambda ||J (theta_t - theta_0), "
                "y - y_linear||",
            ),
            claims=(
                claims.at_most(
                    "growth of the gap",
                    lambda r: r.sim.growth,
                    lambda r: r.sim.kernel - r.x.strength * r.sim.along,
                ),
            ),
            note="a norm of a difference is at most the sum of the norms",
        ),
        claims.Reading(
            "proof display, -b (1 - e^(-lambda t))",
            claims.Printed(
                PROOF,
                "dDelta/dt <= -2 Lip(f) ||y(0) - y*|| ((2 / lambda) Lip(k) ||y(0) - y*|| + Lip(f)) "
                "(1 - e^(-lambda t))",
            ),
            claims=(
                claims.at_most(
                    "growth of the gap", lambda r: r.sim.growth, lambda r: -r.theory.growth
                ),
            ),
            note="the minus belongs to e^(-lambda t) alone",
        ),
    ),
    mutants=(
        claims.Mutant("half of b", claims=tuple(gap.scaled(0.5) for gap in GAPS)),
        claims.Mutant("the term of the curvature lost", predict=_predict(curved=False)),
        claims.Mutant(
            "the factor 2 lost in the proof",
            of=("proof displays",),
            claims=tuple(line.scaled(0.5) for line in (SECOND, THIRD, FOURTH)),
        ),
    ),
)
