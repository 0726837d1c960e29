"""Loss after fine-tuning against the stage of pre-training, for several pull-backs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from theorysim.scenes.kernel import kernel
from theorysim.scenes.overtraining._spectra import (
    FEATURES,
    ft_spectrum,
    learning_rate,
    pre_spectrum,
)
from theorysim.scenes.scene import Panel, Role, Scene, Series, Slider
from theorysim.systems.ideal_stages import IdealStages, inflection_point, stages_of
from theorysim.systems.linear_modes import Tuning, limit
from theorysim.theorems.overtraining import _stages as stages

DECAY = 0.75


class Curves(NamedTuple):
    """Predicted and simulated losses at the stages, the stage at which prediction turns."""

    predicted: IdealStages
    pretraining: Float[Array, " stages"]
    fine_tuning: Float[Array, " stages"]
    turn: Int[Array, ""]


@kernel()
def curves(lam: Any, ratio: Any, steps: Any) -> Curves:
    """Limits in closed form, and descent from every ideal stage."""
    pre = pre_spectrum(DECAY)
    ft = ft_spectrum(pre, ratio)
    rate = learning_rate(pre, ft, lam)
    tuning = Tuning(ft, pre, lam, rate)
    predicted = stages_of(tuning, limit(tuning) - pre)
    modes = stages.ideal_modes(pre)
    theta = stages.fine_tuned(ft, modes, lam, rate, jnp.round(steps).astype(int))
    return Curves(
        predicted,
        stages.loss_against(theta, pre),
        stages.loss_against(theta, ft),
        inflection_point(predicted.pretraining_increments),
    )


def panels(values: Mapping[str, float]) -> Sequence[Panel]:
    """Pre-training loss and fine-tuning loss after fine-tuning."""
    found = curves(values["lam"], values["ratio"], values["steps"])
    stage = np.arange(FEATURES + 1.0)

    def pair(predicted: np.ndarray, simulated: np.ndarray) -> list[Series]:
        return [
            Series("limit (ft + λ pre) / (1 + λ)", Role.PREDICTION, stage, predicted),
            Series("gradient descent", Role.SIMULATION, stage, simulated),
        ]

    turn = stage[[found.turn]]
    lowest = found.predicted.pretraining[[found.turn]]
    rings = Series("inflection point", Role.MARK, turn, lowest)
    across = "features learned in pre-training, n"
    return [
        Panel(
            across,
            "pre-training loss ‖θ − Aᵖʳᵉ‖²",
            [*pair(found.predicted.pretraining, found.pretraining), rings],
            title="Pre-training loss, after fine-tuning",
            log_y=True,
        ),
        Panel(
            across,
            "fine-tuning loss ‖θ − Aᶠᵗ‖²",
            pair(found.predicted.fine_tuning, found.fine_tuning),
            title="Fine-tuning loss, pull-back left out",
        ),
    ]


scene = Scene(
    title="Longer pre-training helps, then harms; a pull-back delays it",
    caption=(
        "A two-layer linear network is pre-trained up to its n-th feature, then fine-tuned to "
        "another spectrum with a pull-back of strength λ. Left: from the ring on, every further "
        "feature makes the fine-tuned model worse at the old task. Right: the price of a stronger "
        "pull-back. After few steps descent has not reached its limit."
    ),
    panels=panels,
    sliders={
        "lam": Slider("pull-back λ", 0.0, 8.0, 0.0),
        "ratio": Slider("ratio of the last features, ft / pre", 1.5, 20.0, 12.0, log=True),
        "steps": Slider("steps of descent", 3.0, 3000.0, 3000.0, log=True, steps=7),
    },
    family=("lam", (0.0, 1.0, 3.0, 8.0)),
)
