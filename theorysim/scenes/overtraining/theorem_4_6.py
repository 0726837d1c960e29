"""What fine-tuning adds to the pre-training loss, against the stage of pre-training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from theorysim.scenes.kernel import kernel
from theorysim.scenes.overtraining._spectra import (
    ft_spectrum,
    learning_rate,
    pre_spectrum,
)
from theorysim.scenes.scene import Panel, Role, Scene, Series, Slider
from theorysim.systems.ideal_stages import stages_of
from theorysim.systems.linear_modes import Tuning, limit
from theorysim.theorems.overtraining import _stages as stages

FEATURES, DECAY = 6, 0.6
STEPS = 400


class Curves(NamedTuple):
    """Delta_pre(n): in the limit, and by descent from the states of the flow."""

    predicted: Float[Array, " stages"]
    simulated: Float[Array, " stages"]


@kernel()
def curves(lam: Any, ratio: Any, tau: Any) -> Curves:
    """Limits from ideal stages, descent of STEPS steps from the flow's states."""
    pre = pre_spectrum(DECAY, FEATURES)
    ft = ft_spectrum(pre, ratio)
    rate = learning_rate(pre, ft, lam)
    tuning = Tuning(ft, pre, lam, rate)
    modes = stages.real_modes(pre, jnp.asarray(tau))
    theta = stages.fine_tuned(ft, modes, lam, rate, STEPS)
    change = stages.loss_change(theta, stages.diagonal(modes), pre)
    return Curves(stages_of(tuning, limit(tuning) - pre).sensitivity, change)


def panels(values: Mapping[str, float]) -> Sequence[Panel]:
    """Delta_pre(n) for n >= 1."""
    found = curves(values["lam"], values["ratio"], values["tau"])
    stage = np.arange(1.0, FEATURES + 1)
    return [
        Panel(
            "features learned in pre-training, n",
            "Δᵖʳᵉ(n): pre-training loss after, less before",
            [
                Series("limit, from ideal stages", Role.PREDICTION, stage, found.predicted[1:]),
                Series(
                    f"descent of {STEPS} steps, from gradient flow",
                    Role.SIMULATION,
                    stage,
                    found.simulated[1:],
                ),
            ],
        )
    ]


scene = Scene(
    title="The more was learned, the more fine-tuning harms it",
    caption=(
        "Δᵖʳᵉ(n) is what fine-tuning adds to the pre-training loss of a two-layer linear network "
        "that had learned n features. It grows with n. Points start from gradient flow with "
        "initial weights exp(−τ): for small τ the later features have begun to grow at stage n; "
        "fine-tuning learns them too, which helps and which the limit does not count."
    ),
    panels=panels,
    sliders={
        "lam": Slider("pull-back λ", 0.0, 8.0, 0.0),
        "ratio": Slider("ratio of the last features, ft / pre", 1.1, 12.0, 4.0, log=True),
        "tau": Slider("initial weights exp(−τ), τ", 4.0, 400.0, 400.0, log=True, steps=7),
    },
    family=("lam", (0.0, 0.5, 2.0, 8.0)),
)
