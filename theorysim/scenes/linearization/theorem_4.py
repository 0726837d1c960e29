"""When fine-tuning leaves a ball, against the pull; and the gap of outputs against the residual."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from theorysim.scenes.kernel import kernel
from theorysim.scenes.linearization import _model as setting
from theorysim.scenes.scene import Panel, Role, Scene, Series, Slider
from theorysim.theorems.linearization import _flow as flow
from theorysim.theorems.linearization import _models as models
from theorysim.theorems.linearization.theorem_4 import theorem

SHARES = np.linspace(0.05, 0.95, 19)
RESIDUALS = np.geomspace(1e-3, 10, 17)
TIMES = 400  # at which a path is looked at
LONGEST = 30.0


class Curves(NamedTuple):
    """Times in the ball for every share of lambda_0, and gaps for every residual."""

    allowed: Float[Array, " shares"]
    exit: Float[Array, " shares"]
    gap: Float[Array, " residuals"]
    printed: Float[Array, " residuals"]
    appendix: Float[Array, " residuals"]


@kernel()
def curves(radius: Any, bend: Any, horizon: Any) -> Curves:
    """Exits for a residual of one; gaps to the linearised model's free flow at the pull lambda_0."""

    def model(residual: Any, share: Any) -> Any:
        return setting.model(
            theorem, 0.5, bend, residual, radius=1.0 * radius, share=1.0 * share
        )

    def leaves(share: Array) -> tuple[Array, Array]:
        x = model(1.0, share)
        threshold = 2 * x.residual_size * models.lipschitz(x, x.radius).f / x.radius
        strength = share * threshold
        times = jnp.append(0.0, jnp.geomspace(1e-3, LONGEST, TIMES))
        path = flow.pulled_flow(x, models.start(x), strength, times)
        outside = jnp.linalg.norm(path, axis=1) > x.radius
        exit = jnp.where(jnp.any(outside), times[jnp.argmax(outside)], jnp.nan)
        return -jnp.log1p(-share) / strength, exit

    def gaps(residual: Array) -> tuple[Array, Array, Array]:
        x = model(residual, 1.0).replace(horizon=1.0 * horizon)
        path, slope = theorem.simulate(x, jax.random.key(0)), theorem.primary().predict(x)[-1]
        gap = jnp.linalg.norm(path.outputs[-1] - path.straight["A"][-1])
        return gap, residual**2 * slope, residual * slope

    allowed, exit = jax.vmap(leaves)(jnp.asarray(SHARES))
    return Curves(allowed, exit, *jax.vmap(gaps)(jnp.asarray(RESIDUALS)))


def panels(values: Mapping[str, float]) -> Sequence[Panel]:
    """Exits, and gaps."""
    found = curves(values["radius"], values["bend"], values["horizon"])
    return [
        Panel(
            "pull as a share of λ₀ = 2 ‖f₀ − y‖ Lip(f) / r",
            "time in the ball of radius r",
            [
                Series("gradient flow leaves", Role.SIMULATION, SHARES, found.exit),
                Series("ln(1 / (1 − λ/λ₀)) / λ", Role.BOUND, SHARES, found.allowed),
            ],
            title="Residual 1: the time in the ball",
            log_y=True,
        ),
        Panel(
            "residual at the start ‖f₀ − y‖",
            "distance of outputs from linearised model",
            [
                Series("gradient flow", Role.SIMULATION, RESIDUALS, found.gap),
                Series("as printed, ∝ ‖f₀ − y‖²", Role.BOUND, RESIDUALS, found.printed),
                Series("appendix, ∝ ‖f₀ − y‖", Role.BOUND, RESIDUALS, found.appendix),
            ],
            title="Pull λ₀: the gap at a given time",
            log_x=True,
            log_y=True,
        ),
    ]


scene = Scene(
    title="A strong pull keeps fine-tuning near its start",
    caption=(
        "Left: points are above the dashed line, so the flow stays in the ball for as long as "
        "promised; where they end it never leaves. Right: how far the model is from its "
        "linearisation without a pull, after a time 10 / (λ₀ + 2 Lip(f)²). The printed bound has "
        "the square of the residual and falls below the points where the residual is small; the "
        "appendix has the residual itself."
    ),
    panels=panels,
    sliders={
        "radius": Slider("radius r of the ball", 0.1, 2.0, 0.5, log=True),
        "bend": setting.BEND,
        "horizon": Slider("time of the gap, times λ₀ + 2 Lip(f)²", 0.1, 20.0, 10.0, log=True),
    },
    family=("radius", (0.2, 0.5, 1.0)),
)
