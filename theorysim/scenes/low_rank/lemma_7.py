"""The chance that a walk has fallen far, against how far, with both forms of Freedman's bound."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from theorysim.scenes.kernel import kernel
from theorysim.scenes.scene import Panel, Role, Scene, Series, Slider
from theorysim.theorems.low_rank.lemma_7 import STEPS, theorem

WALKS = 4000
SHOWN = 30
FEW = 10  # walks, below which a share is not shown
LEAST = 1e-5  # chance that is shown


@kernel()
def chances(moving: Any, lean: Any, time: Any) -> tuple[Float[Array, " falls"], ...]:
    """Pr[M_t <= -lambda] for lambda = 1, 2, ...: by the law of the walk, and among drawn walks."""
    x = theorem.space.sample(jax.random.key(0), theorem.space.default_sizes())
    x = x.replace(moving=1.0 * moving, lean=1.0 * lean)
    at = jnp.round(time).astype(int)
    exact = jnp.asarray(theorem.simulate(x, jax.random.key(0)))[at - 1]
    moves, up = jax.random.uniform(jax.random.key(1), (2, STEPS, WALKS), jnp.float32)
    steps = jnp.where(moves < moving, jnp.where(up < (1 + lean) / 2, 1.0, -1.0), 0.0)
    end = jnp.cumsum(steps, axis=0)[at - 1]
    falls = jnp.arange(1.0, STEPS + 1)
    return exact, jax.lax.map(lambda fall: jnp.mean(end <= -fall), falls)


def _bound(moving: float, time: float, factor: float) -> Float[np.ndarray, " falls"]:
    """exp(-lambda^2 / (factor (t V + lambda K / 3))) with K = 1."""
    fall = np.arange(1.0, STEPS + 1)
    return np.exp(-(fall**2) / (factor * (np.round(time) * moving + fall / 3)))


def panels(values: Mapping[str, float]) -> Sequence[Panel]:
    """The chance against the fall."""
    moving, time = values["moving"], values["time"]
    exact, drawn = chances(moving, values["lean"], time)
    fall = np.arange(1.0, SHOWN + 1)

    def shown(chance: np.ndarray, least: float = LEAST) -> np.ndarray:
        return np.where(chance[:SHOWN] >= least, chance[:SHOWN], np.nan)

    return [
        Panel(
            "fall λ, in steps",
            "chance of M_t ≤ −λ",
            [
                Series("exact law of the walk", Role.PREDICTION, fall, shown(exact)),
                Series(f"share of {WALKS} walks", Role.SIMULATION, fall, shown(drawn, FEW / WALKS)),
                Series(
                    "as printed: exp(−λ² / (tV + λK/3))",
                    Role.BOUND,
                    fall,
                    shown(_bound(moving, time, 1.0)),
                ),
                Series(
                    "Freedman: exp(−λ² / (2tV + 2λK/3))",
                    Role.BOUND,
                    fall,
                    shown(_bound(moving, time, 2.0)),
                ),
            ],
            log_y=True,
        )
    ]


scene = Scene(
    title="The printed bound of Freedman's inequality lacks a factor 2",
    caption=(
        "A walk takes steps of −1, 0 and 1, a step up at least as likely as one down. The printed "
        "bound falls below the chance that a fair walk has fallen by λ; with the factor 2 of "
        "Freedman's inequality it holds. A walk that leans upwards falls less often."
    ),
    panels=panels,
    sliders={
        "time": Slider("steps t", 5.0, 60.0, 60.0),
        "moving": Slider("chance V that the walk moves", 0.1, 1.0, 0.5, log=True),
        "lean": Slider("lean upwards", 0.0, 0.2, 0.0),
    },
)
