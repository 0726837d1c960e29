"""The loss under Gaussian noise against the stage of pre-training, for several strengths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int

from theorysim.scenes.kernel import kernel
from theorysim.scenes.overtraining._noise import COUNT, DRAWS, Perturbed, perturbed_losses
from theorysim.scenes.scene import Panel, Role, Scene, Series, Slider
from theorysim.systems.ideal_stages import inflection_point


class Curves(NamedTuple):
    """The losses, and the stage at which the exact one turns."""

    losses: Perturbed
    turn: Int[Array, ""]


@kernel()
def curves(noise: Any, decay: Any) -> Curves:
    """L~(n) and its inflection point."""
    losses = perturbed_losses(noise, decay)[1]
    return Curves(losses, inflection_point(jnp.diff(losses.exact)))


def panels(values: Mapping[str, float]) -> Sequence[Panel]:
    """The loss under noise at every stage."""
    found = curves(values["noise"], values["decay"])
    stage = np.arange(COUNT + 1.0)
    exact = found.losses.exact
    return [
        Panel(
            "features learned in pre-training, n",
            "expected loss under noise, L̃(n)",
            [
                Series("exact expectation", Role.PREDICTION, stage, exact),
                Series(f"mean of {DRAWS} draws", Role.SIMULATION, stage, found.losses.sampled),
                Series("inflection point", Role.MARK, stage[[found.turn]], exact[[found.turn]]),
            ],
            log_y=True,
        )
    ]


scene = Scene(
    title="Under Gaussian noise, longer pre-training ends up worse",
    caption=(
        "Both factors of a two-layer linear network that had learned n features are disturbed by "
        "independent Gaussian noise of variance γ². A further feature helps as long as it "
        "outweighs the noise that it amplifies, 2 d γ²; from the ring on, every one of them harms. "
        "Stronger noise moves the ring to the left."
    ),
    panels=panels,
    sliders={
        "noise": Slider("noise 2 d γ² / largest feature", 0.003, 2.0, 0.1, log=True),
        "decay": Slider("ratio of neighbouring features", 0.4, 0.9, 0.6),
    },
    family=("noise", (0.01, 0.05, 0.2, 1.0)),
)
