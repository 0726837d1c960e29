"""Distance of one mode's descent to the printed fixed point and to the corrected one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float

from theorysim.numerics.descent import descend
from theorysim.scenes.kernel import kernel
from theorysim.scenes.scene import Panel, Role, Scene, Series, Slider
from theorysim.systems.linear_modes import Tuning, limit, printed_limit

STEPS, EVERY = 120, 4
ANCHOR = 1.0  # sigma_0
SHARE = 0.8  # of the step condition
SMALLEST = 1e-6  # distance that is drawn


class Curves(NamedTuple):
    """Distances along descent to both fixed points, and the printed decay from each start."""

    printed: Float[Array, " steps"]
    printed_bound: Float[Array, " steps"]
    corrected: Float[Array, " steps"]
    corrected_bound: Float[Array, " steps"]


@kernel()
def curves(lam: Any, sigma: Any) -> Curves:
    """Descent of (w_1 w_2 - sigma^2)^2 + lam (w_1 w_2 - sigma_0^2)^2 from w_1 = w_2 = sigma_0."""
    feature, anchor = sigma**2, jnp.square(ANCHOR)
    largest, smallest = jnp.maximum(feature, anchor), jnp.minimum(feature, anchor)
    rate = SHARE / ((lam + 2) * (2 * largest + lam + lam * ANCHOR / sigma))

    def loss(weights: Array) -> Array:
        product = weights[0] * weights[1]
        return (product - feature) ** 2 + lam * (product - anchor) ** 2

    start = jnp.full(2, ANCHOR, jnp.asarray(lam, float).dtype)
    path = descend(loss, start, optax.sgd(rate), STEPS, every=EVERY)[:, 0]
    decay = (1 - 2 * rate * smallest) ** (EVERY * jnp.arange(len(path)))
    tuning = Tuning(feature, anchor, lam, rate)
    distances = [jnp.abs(path - jnp.sqrt(end(tuning))) for end in (printed_limit, limit)]
    printed, corrected = distances
    return Curves(printed, decay * printed[0], corrected, decay * corrected[0])


def panels(values: Mapping[str, float]) -> Sequence[Panel]:
    """Left the printed fixed point, right the corrected one."""
    found = curves(values["lam"], values["sigma"])
    steps = EVERY * np.arange(len(found.printed), dtype=float)

    def panel(title: str, distance: np.ndarray, bound: np.ndarray) -> Panel:
        shown = np.where(distance > SMALLEST, distance, np.nan)
        return Panel(
            "step k of descent",
            "distance of the weight to σ*",
            [
                Series("gradient descent", Role.SIMULATION, steps, shown),
                Series("(1 − 2 η min)ᵏ |σ₀ − σ*|", Role.BOUND, steps, bound),
            ],
            title=title,
            log_y=True,
        )

    return [
        panel("As printed: σ* weighs σ with λ", found.printed, found.printed_bound),
        panel("Corrected: σ* weighs σ₀ with λ", found.corrected, found.corrected_bound),
    ]


scene = Scene(
    title="One mode of fine-tuning contracts, but not to the printed point",
    caption=(
        "Gradient descent of one mode with a pull-back λ to its start σ₀ = 1, and the printed "
        "bound on its distance to the fixed point σ*. Left: σ*² = (σ₀² + λ σ²) / (1 + λ), as "
        "printed; the points leave the bound. Right: σ*² = (σ² + λ σ₀²) / (1 + λ). The two agree "
        "at λ = 1 only."
    ),
    panels=panels,
    sliders={
        "lam": Slider("pull-back λ", 0.0, 5.0, 0.0),
        "sigma": Slider("target σ", 0.3, 3.0, 2.0, log=True, steps=8),
    },
    family=("lam", (0.0, 0.5, 1.0, 5.0)),
)
