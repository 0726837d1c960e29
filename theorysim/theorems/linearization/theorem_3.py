"""A fine-tuned model stays within b (t - (1 - e^(-lambda t)) / lambda) of its linearisation.

Theorem 3 of Afzal et al. (2025), b = 2 Lip(f)^2 r_0 ((4 / lambda) Lip(grad f) r_0 + 1) with r_0 the
residual at the start. The statement does not give the linearised model's flow; it holds for all
four that the slides suggest (`_flow`). Two lines of the proof, in their later copies, have lost a
sign: they bound the growth of the gap from above by something negative.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from theorysim.claims import Instance, Mutant, Printed, Reading, Real, Theorem, at_most
from theorysim.theorems.linearization import _flow as flow
from theorysim.theorems.linearization import _models as models


def _times(x: Instance):
    return x.horizon * flow.time_scale(x, x.strength) * jnp.array(flow.GRID[1:])


def simulate(x: Instance, key):
    """Outputs of the model and the linearised ones, and the proof's parts of the gap's growth."""
    path = flow.run(x, x.strength, _times(x)[-1])
    growth = [jax.vmap(part)(path.deltas, path.linear) for part in _growth(x)]
    names = ("growth", "kernel", "pull", "along")
    ends = {**path.straight, "outputs": path.outputs, "distance": path.distance}
    return {**ends, **dict(zip(names, growth))}


def _growth(x: Instance):
    """d Delta/dt along the flow, ||2 (k_0 - k_t)(y - y*)||, ||J u||, |<J u, y - y_lin>|."""
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


def predict(x: Instance):
    times = _times(x)
    c = models.lipschitz(x, flow.sure_radius(x, x.strength, times))
    r_0, fades = x.residual_size, x.strength * flow.faded_time(x.strength, times)
    bent = 4 / x.strength * c.jacobian * r_0
    b = 2 * c.f**2 * r_0 * (bent + 1)
    return {
        "bound": b * flow.excess_time(x.strength, times),
        "straight": 2 * c.f**2 * r_0 * flow.excess_time(x.strength, times),
        "growth": b * fades,
        "constants": c,
    }


def _gaps(bound) -> tuple:
    says = "||f - f_linear|| <= b (t - (1 - e^(-lambda t)) / lambda)"
    return tuple(
        at_most(f"gap to {name}", lambda r, name=name: flow.gap(r, name), bound, statement=says)
        for name in flow.READINGS
    )


def _constants(r):
    return r.theory["constants"]


def _third(r):
    """Lip(k) ||u|| 2 ||y_0 - y*|| + lambda Lip(f) ||u||, with Lip(k) = 2 Lip(f) Lip(grad f)."""
    c = _constants(r)
    bent = 4 * c.f * c.jacobian * r.x.residual_size
    return (bent + r.x.strength * c.f) * r.sim["distance"]


theorem = Theorem(
    space=models.model_space(strength=Real(0.05, 100, log=True), horizon=Real(0.03, 20, log=True)),
    simulate=simulate,
    predict=predict,
    claims=_gaps(lambda r: r.theory["bound"]),
    integrates=True,
    readings=(
        Reading(
            "proof displays",
            Printed("", ""),
            claims=(
                at_most(
                    "Q2: growth of the gap",
                    lambda r: r.sim["growth"],
                    lambda r: r.sim["kernel"] + r.x.strength * r.sim["pull"],
                ),
                at_most(
                    "Q3: by the Lipschitz constants",
                    lambda r: r.sim["kernel"] + r.x.strength * r.sim["pull"],
                    _third,
                ),
                at_most("Q4: at most b - b e^(-lambda t)", _third, lambda r: r.theory["growth"]),
            ),
        ),
        Reading(
            "proof display, triangle inequality with a minus",
            Printed("", ""),
            claims=(
                at_most(
                    "growth of the gap",
                    lambda r: r.sim["growth"],
                    lambda r: r.sim["kernel"] - r.x.strength * r.sim["along"],
                ),
            ),
            note="a norm of a difference is at most the sum of the norms",
        ),
        Reading(
            "proof display, -b (1 - e^(-lambda t))",
            Printed("", ""),
            claims=(
                at_most(
                    "growth of the gap", lambda r: r.sim["growth"], lambda r: -r.theory["growth"]
                ),
            ),
            note="the minus belongs to e^(-lambda t) alone",
        ),
    ),
    mutants=(
        Mutant(
            "a quarter of b, and without the curvature",
            claims=_gaps(lambda r: r.theory["straight"] / 4),
        ),
    ),
)
