"""Where a learned feature ends after fine-tuning, against the strength of the pull-back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from theorysim.scenes.kernel import kernel
from theorysim.scenes.scene import Panel, Role, Scene, Series, Slider
from theorysim.systems.linear_modes import Tuning, limit, printed_limit
from theorysim.theorems.overtraining import _stages as stages

PULL_BACKS = np.append(0.0, np.geomspace(0.05, 20.0, 30))


class Curves(NamedTuple):
    """The feature after descent, the minimiser of its loss, and the printed limit."""

    simulated: Float[Array, " pull_backs"]
    corrected: Float[Array, " pull_backs"]
    printed: Float[Array, " pull_backs"]


@kernel()
def curves(pre: Any, ft: Any, steps: Any) -> Curves:
    """Descent at half of the learning rate that Assumption A.8 admits."""
    count = jnp.round(steps).astype(int)
    anchor, target = jnp.full(1, 1.0 * pre), jnp.full(1, 1.0 * ft)

    def ends(lam: Array) -> tuple[Array, Array, Array]:
        rate = 1 / (8 * (lam + 2) * jnp.maximum(pre, ft))
        weights = (jnp.sqrt(anchor), jnp.sqrt(anchor))
        first, second = stages.tuned(weights, anchor, target, lam, rate, count)
        tuning = Tuning(1.0 * ft, 1.0 * pre, lam, rate)
        return (first * second)[0], limit(tuning), printed_limit(tuning)

    return Curves(*jax.vmap(ends)(jnp.asarray(PULL_BACKS)))


def panels(values: Mapping[str, float]) -> Sequence[Panel]:
    """The end of fine-tuning against the pull-back."""
    found = curves(values["pre"], values["ft"], values["steps"])
    return [
        Panel(
            "pull-back λ",
            "feature after fine-tuning, (Uᵀ θ V)ᵢᵢ",
            [
                Series(
                    "corrected: (ft + λ pre) / (1 + λ)",
                    Role.PREDICTION,
                    PULL_BACKS,
                    found.corrected,
                ),
                Series("gradient descent", Role.SIMULATION, PULL_BACKS, found.simulated),
                Series("printed: (pre + λ ft) / (1 + λ)", Role.BOUND, PULL_BACKS, found.printed),
            ],
        )
    ]


scene = Scene(
    title="A pull-back holds a feature at its pre-trained value",
    caption=(
        "One learned feature is fine-tuned from pre to ft with a pull-back of strength λ. Descent "
        "ends at the minimiser of the regularised loss. The printed limit has the two features "
        "swapped: it would leave the model where it was without a pull-back, and move it with one. "
        "After few steps descent has not arrived."
    ),
    panels=panels,
    sliders={
        "pre": Slider("pre-trained feature, pre", 0.2, 5.0, 1.0, log=True),
        "ft": Slider("feature of the new task, ft", 0.2, 5.0, 3.0, log=True),
        "steps": Slider("steps of descent", 3.0, 3000.0, 3000.0, log=True, steps=7),
    },
)
