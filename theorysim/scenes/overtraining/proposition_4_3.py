"""What one more feature adds to the loss under noise, against the feature's size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from theorysim.scenes.kernel import kernel
from theorysim.scenes.overtraining._noise import COUNT, DRAWS, perturbed_losses
from theorysim.scenes.scene import Panel, Role, Scene, Series, Slider


class Curves(NamedTuple):
    """Features, L~(n) - L~(n - 1) as a mean over draws, and the right side of Eq. 2."""

    features: Float[Array, " features"]
    sampled: Float[Array, " features"]
    predicted: Float[Array, " features"]


@kernel()
def curves(noise: Any, decay: Any) -> Curves:
    """(2 d gamma^2 - sigma_n) sigma_n beside the difference of sampled losses."""
    features, losses = perturbed_losses(noise, decay)
    predicted = (noise * features[0] - features) * features
    return Curves(features, jnp.diff(losses.sampled), predicted)


def panels(values: Mapping[str, float]) -> Sequence[Panel]:
    """The price of every feature."""
    found = curves(values["noise"], values["decay"])
    stage = np.arange(1.0, COUNT + 1)
    return [
        Panel(
            "feature n",
            "L̃(n) − L̃(n − 1)",
            [
                Series("(2 d γ² − σₙ) σₙ, Eq. 2", Role.PREDICTION, stage, found.predicted),
                Series(f"difference of {DRAWS} draws", Role.SIMULATION, stage, found.sampled),
                Series("no change", Role.BOUND, stage, np.zeros(COUNT)),
            ],
        )
    ]


scene = Scene(
    title="Each further feature has a price under noise",
    caption=(
        "What learning the n-th feature adds to the expected loss of a two-layer linear network "
        "under Gaussian noise of variance γ² in both factors. Below zero the feature pays off. "
        "Points are means over the same draws at all stages; lines the printed lower bound, which "
        "is attained."
    ),
    panels=panels,
    sliders={
        "noise": Slider("noise 2 d γ² / largest feature", 0.003, 2.0, 0.5, log=True),
        "decay": Slider("ratio of neighbouring features", 0.4, 0.9, 0.6),
    },
    family=("noise", (0.01, 0.2, 0.5, 1.0)),
)
