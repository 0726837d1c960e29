"""Descent by the selective scheme beside descent with a constant pull, and when it pulls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim.scenes.kernel import kernel
from theorysim.scenes.linearization import _model as setting
from theorysim.scenes.scene import Panel, Role, Scene, Series, Slider
from theorysim.theorems.linearization import _valley as valley
from theorysim.theorems.linearization.theorem_2_selective import STEPS, Selected, theorem

EVERY = 20
STEEP, LEVEL, AIM, SHARE = 3.0, 1.0, 0.6, 0.3


class Curves(NamedTuple):
    """Times, the selective scheme, the distance with the pull always on, the corrected bound."""

    times: Float[Array, " steps"]
    selected: Selected
    always: Float[Array, " steps"]
    corrected: Float[Array, " steps"]


@kernel()
def curves(strength: Any, bend: Any) -> Curves:
    """Every EVERY-th step."""
    x = theorem.space.sample(jax.random.key(0), theorem.space.default_sizes()).replace(
        steep=jnp.asarray(STEEP),
        bend=1.0 * bend,
        level=jnp.asarray(LEVEL),
        aim=jnp.asarray(AIM),
        strength=1.0 * strength,
        share=jnp.asarray(SHARE),
    )
    always = valley.descent(x, "always", STEPS)
    selected = theorem.simulate(x, jax.random.key(0))
    found = Curves(
        valley.rate(x) * jnp.arange(1, STEPS + 1),
        selected,
        jnp.linalg.norm(always.path[1:], axis=1),
        selected.bound * valley.residual_size(x),
    )
    return jax.tree.map(lambda path: path[EVERY - 1 :: EVERY], found)


def panels(values: Mapping[str, float]) -> Sequence[Panel]:
    """The distance from the start along descent."""
    found = curves(values["strength"], values["bend"])
    times, selected = found.times, found.selected
    return [
        Panel(
            "time: steps times the learning rate",
            "distance from the start ‖θₜ − θ₀‖",
            [
                Series("selective pull", Role.SIMULATION, times, selected.distance),
                Series("constant pull", Role.SIMULATION, times, found.always),
                Series(
                    "as printed: residual at time t",
                    Role.BOUND,
                    times,
                    selected.residual * selected.bound,
                ),
                Series("corrected: residual at the start", Role.BOUND, times, found.corrected),
            ],
            log_y=True,
        )
    ]


scene = Scene(
    title="The selective scheme goes nearly as far as no pull",
    caption=(
        "Descent through a curved valley that first leads away from the start and then back. The "
        "selective scheme pulls only along the way back, and goes nearly as far as without a pull, "
        "whatever the strength λ; a constant pull stops it early. The bound that Theorem 2 prints "
        "for the selective scheme has the residual at time t, and sinks as the data are fitted."
    ),
    panels=panels,
    sliders={
        "strength": setting.STRENGTH,
        "bend": Slider("bend of the valley", 0.3, 3.0, 2.0, log=True),
    },
)
