"""The inflection point under noise against the strength of the noise: printed, corrected, found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int

from theorysim.scenes.kernel import kernel
from theorysim.scenes.overtraining._noise import COUNT, DRAWS, perturbed_losses
from theorysim.scenes.scene import Panel, Role, Scene, Series, Slider
from theorysim.systems.ideal_stages import inflection_point

# 2 d gamma^2 as a share of the largest feature; the last ones outweigh even that.
NOISES = np.geomspace(0.005, 3.0, 60)


class Curves(NamedTuple):
    """Stages counted from 1."""

    printed: Int[Array, " noises"]
    corrected: Int[Array, " noises"]
    found: Int[Array, " noises"]


@kernel()
def curves(decay: Any) -> Curves:
    """The turn of the sampled loss, and what is printed of it."""

    def at(noise: Array) -> tuple[Array, Array, Array]:
        features, losses = perturbed_losses(noise, decay)
        outweighed = noise * features[0] > features
        exists = jnp.any(outweighed)
        printed = jnp.where(exists, jnp.argmax(outweighed) + 1.0, jnp.nan)
        turn = inflection_point(jnp.diff(losses.sampled[1:])) + 1.0
        found = jnp.where(exists, turn, jnp.nan)
        return printed, jnp.maximum(printed - 1, 1), found

    return Curves(*jax.lax.map(at, jnp.asarray(NOISES)))


def panels(values: Mapping[str, float]) -> Sequence[Panel]:
    """The stage of the turn against the noise."""
    found = curves(values["decay"])
    return [
        Panel(
            "noise 2 d γ² / largest feature",
            "inflection point, stage r",
            [
                Series("corrected: the stage before", Role.PREDICTION, NOISES, found.corrected),
                Series(
                    f"where the mean of {DRAWS} draws turns", Role.SIMULATION, NOISES, found.found
                ),
                Series("printed: smallest n, 2 d γ² > σₙ", Role.BOUND, NOISES, found.printed),
            ],
            log_x=True,
        )
    ]


scene = Scene(
    title="The loss turns one stage before the printed one",
    caption=(
        f"Under Gaussian noise the loss of a network with {COUNT} features falls as long as the "
        "next feature outweighs the noise. The paper takes the first feature that does not for the "
        "inflection point; by its own Definition 4.2 it is the stage before, where the loss is "
        "least. At stage 1 the two agree. "
        "Close to a jump the draws are too few to tell."
    ),
    panels=panels,
    sliders={"decay": Slider("ratio of neighbouring features", 0.5, 0.8, 0.6)},
)
