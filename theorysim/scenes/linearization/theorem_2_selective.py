"""Descent by the selective scheme beside descent with a constant pull, and when it pulls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim.scenes.kernel import kernel
from theorysim.scenes.linearization import _model as setting
from theorysim.scenes.scene import Panel, Role, Scene, Series
from theorysim.systems.fine_tuning import regularised_descent
from theorysim.theorems.linearization import _flow as flow
from theorysim.theorems.linearization import _models as models
from theorysim.theorems.linearization.theorem_2_selective import STEPS, Selected, theorem

EVERY = 10
SHARE = 0.05


class Curves(NamedTuple):
    """Times, the selective scheme, and the distance with the pull always on."""

    times: Float[Array, " steps"]
    selected: Selected
    always: Float[Array, " steps"]


@kernel()
def curves(strength: Any, slowest: Any, bend: Any) -> Curves:
    """Every EVERY-th step."""
    x = setting.model(
        theorem, slowest, bend, 1.0, strength=1.0 * strength, share=jnp.asarray(SHARE)
    )
    rate = x.share * flow.time_scale(x, x.strength)
    always = regularised_descent(models.loss(x), models.start(x), rate, x.strength, STEPS)
    found = Curves(
        rate * jnp.arange(1, STEPS + 1),
        theorem.simulate(x, jax.random.key(0)),
        jnp.linalg.norm(always.path[1:], axis=1),
    )
    return jax.tree.map(lambda path: path[EVERY - 1 :: EVERY], found)


def panels(values: Mapping[str, float]) -> Sequence[Panel]:
    """The distance from the start along descent."""
    found = curves(values["strength"], values["slowest"], values["bend"])
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
                Series("corrected: residual at the start", Role.BOUND, times, selected.bound),
            ],
            log_y=True,
        )
    ]


scene = Scene(
    title="The selective scheme hardly ever pulls",
    caption=(
        "Descent that pulls to the start only where the pull lowers the loss goes on "
        "until the data are fitted, whatever the strength λ; a constant pull stops it "
        "early. The bound that Theorem 2 prints for the selective scheme has the residual at time "
        "t, and falls below it as the data are fitted."
    ),
    panels=panels,
    sliders={
        "strength": setting.STRENGTH,
        "slowest": setting.SLOWEST,
        "bend": setting.BEND,
    },
)
