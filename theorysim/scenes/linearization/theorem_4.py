"""When fine-tuning leaves a ball, against the pull; and the gap of outputs against the residual."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.scenes.kernel import kernel
from theorysim.scenes.linearization import _model as setting
from theorysim.scenes.scene import Panel, Role, Scene, Series, Slider
from theorysim.theorems.linearization import _flow as flow
from theorysim.theorems.linearization import _models as models
from theorysim.theorems.linearization.theorem_4 import theorem

SHARES = np.linspace(0.05, 0.95, 19)
RESIDUALS = np.geomspace(1e-3, 10, 17)
TIMES = 400  # at which a path is looked at
LONGEST = 10.0  # in units of 1 / lambda


class Curves(NamedTuple):
    """Times in the ball, times lambda_0, and gaps over their printed bound and the appendix's."""

    allowed: Float[Array, " shares"]
    exit: Float[Array, " shares"]
    printed: Float[Array, " residuals"]
    appendix: Float[Array, " residuals"]


@kernel()
def curves(steepest: Any, radius: Any, horizon: Any) -> Curves:
    """Exits for a residual of one; gaps to the free flow of the linearised model at lambda_0."""

    def model(residual: Any, share: Any) -> claims.Instance:
        even = setting.model(
            theorem,
            0.5,
            0.1 * steepest,
            residual,
            radius=1.0 * radius,
            share=1.0 * share,
            horizon=1.0 * horizon,
        )
        return even.replace(slope=steepest * even.slope)

    def leaves(share: Array) -> tuple[Array, Array]:
        x = model(1.0, share)
        threshold = 2 * x.residual_size * models.lipschitz(x, x.radius).f / x.radius
        times = jnp.append(0.0, jnp.geomspace(1e-2, LONGEST, TIMES)) / (share * threshold)
        path = flow.pulled_flow(x, models.start(x), share * threshold, times)
        outside = jnp.linalg.norm(path, axis=1) > x.radius
        exit = jnp.where(jnp.any(outside), times[jnp.argmax(outside)], jnp.nan)
        return -jnp.log1p(-share) / share, threshold * exit

    def gaps(residual: Array) -> tuple[Array, Array]:
        x = model(residual, 1.0)
        path, slope = theorem.simulate(x, jax.random.key(0)), theorem.primary().predict(x)[-1]
        gap = jnp.linalg.norm(path.outputs[-1] - path.straight["A"][-1])
        return gap / (residual**2 * slope), gap / (residual * slope)

    allowed, exit = jax.vmap(leaves)(jnp.asarray(SHARES))
    return Curves(allowed, exit, *jax.vmap(gaps)(jnp.asarray(RESIDUALS)))


def panels(values: Mapping[str, float]) -> Sequence[Panel]:
    """Exits, and gaps."""
    found = curves(values["steepest"], values["radius"], values["horizon"])
    return [
        Panel(
            "pull as a share of λ₀ = 2 ‖f₀ − y‖ Lip(f) / r",
            "time in the ball of radius r, times λ₀",
            [
                Series("gradient flow leaves", Role.SIMULATION, SHARES, found.exit),
                Series("ln(1 / (1 − λ/λ₀)) λ₀/λ", Role.BOUND, SHARES, found.allowed),
            ],
            title="Residual 1: the time in the ball",
        ),
        Panel(
            "residual at the start ‖f₀ − y‖",
            "distance of outputs / bound",
            [
                Series(
                    "over the printed bound, ∝ ‖f₀ − y‖²", Role.SIMULATION, RESIDUALS, found.printed
                ),
                Series(
                    "over the appendix's, ∝ ‖f₀ − y‖", Role.SIMULATION, RESIDUALS, found.appendix
                ),
                Series("allowed", Role.BOUND, RESIDUALS, np.ones(len(RESIDUALS))),
            ],
            title="Pull λ₀: distance of outputs",
            log_x=True,
            log_y=True,
        ),
    ]


scene = Scene(
    title="A strong pull keeps fine-tuning in a ball",
    caption=(
        "Left: the flow stays in the ball for as long as promised (points above the dashed line), "
        "and never leaves where points end. Right: how far "
        "outputs are from those of the linearised model without a pull. The printed bound has the "
        "square of the residual, and a flat model with a small residual exceeds it. The appendix "
        "has the residual itself, which suffices."
    ),
    panels=panels,
    sliders={
        "steepest": Slider("slope of the steepest output", 1e-3, 3.0, 0.1, log=True),
        "radius": Slider("radius r of the ball", 0.1, 2.0, 0.5, log=True),
        "horizon": Slider("time on the right, times λ₀ + 2 Lip(f)²", 0.1, 20.0, 5.0, log=True),
    },
    family=("steepest", (0.01, 0.1, 1.0)),
)
