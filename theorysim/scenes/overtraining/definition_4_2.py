"""Two definitions of the inflection point on a loss that turns more than once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from theorysim.scenes.kernel import kernel
from theorysim.scenes.overtraining._spectra import FEATURES, learning_rate, pre_spectrum
from theorysim.scenes.scene import Panel, Role, Scene, Series, Slider
from theorysim.systems.ideal_stages import inflection_point, last_descent, stages_of
from theorysim.systems.linear_modes import Tuning, limit
from theorysim.theorems.overtraining import _stages as stages

DECAY, STEPS = 0.85, 10_000
MOVED = 3  # the feature that is misaligned by itself
LATE = 7  # from here on features are misaligned


class Curves(NamedTuple):
    """The pre-training loss after fine-tuning, and where either definition puts its turn."""

    predicted: Float[Array, " stages"]
    simulated: Float[Array, " stages"]
    first_rise: Int[Array, ""]
    last_fall: Int[Array, ""]


@kernel()
def curves(early: Any, lam: Any) -> Curves:
    """One early feature is `early` times as large in the new task, the last ones four times."""
    pre = pre_spectrum(DECAY)
    place = jnp.arange(FEATURES) + 1
    ft = pre * jnp.where(place == MOVED, early, jnp.where(place > LATE, 4.0, 1.2))
    rate = learning_rate(pre, ft, lam)
    tuning = Tuning(ft, pre, lam, rate)
    predicted = stages_of(tuning, limit(tuning) - pre)
    theta = stages.fine_tuned(ft, stages.ideal_modes(pre), lam, rate, STEPS)
    rises = predicted.pretraining_increments
    simulated = stages.loss_against(theta, pre)
    return Curves(predicted.pretraining, simulated, inflection_point(rises), last_descent(rises))


def panels(values: Mapping[str, float]) -> Sequence[Panel]:
    """The loss with both inflection points."""
    found = curves(values["early"], values["lam"])
    stage = np.arange(FEATURES + 1.0)

    def ring(label: str, place: np.ndarray) -> Series:
        return Series(label, Role.MARK, stage[[place]], found.predicted[[place]])

    return [
        Panel(
            "features learned in pre-training, n",
            "pre-training loss after fine-tuning",
            [
                Series("limit (ft + λ pre) / (1 + λ)", Role.PREDICTION, stage, found.predicted),
                Series("gradient descent", Role.SIMULATION, stage, found.simulated),
                ring("Definition 4.2: before the first rise", found.first_rise),
                ring("Theorem A.25: after the last fall", found.last_fall),
            ],
        )
    ]


scene = Scene(
    title="A loss that turns twice has two inflection points",
    caption=(
        f"Pre-training loss after fine-tuning to features in no order: the {MOVED}rd one is far "
        f"larger in the new task, then all after the {LATE}th. The paper defines the inflection "
        "point twice. Where the loss turns once both definitions agree; move the early feature "
        "below 2 + λ times its old size to see it."
    ),
    panels=panels,
    sliders={
        "early": Slider("early feature, ft / pre", 1.0, 4.0, 3.0),
        "lam": Slider("pull-back λ", 0.0, 3.0, 0.0),
    },
)
