"""Risk against the length of the source, at several depths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from theorysim.scenes.kernel import kernel
from theorysim.scenes.linear_teachers._teachers import descended, problem
from theorysim.scenes.scene import Panel, Role, Scene, Series, Slider
from theorysim.systems import deep_linear_limit as deep_limit

LENGTHS = np.geomspace(0.3, 3.0, 41)
TRAINED = LENGTHS[::5]
SHARE = 0.1


class Curves(NamedTuple):
    """Risks at the given depth, exact and trained, and at infinite depth."""

    exact: Float[Array, " lengths"]
    trained: Float[Array, " trained"]
    infinite: Float[Array, " lengths"]


@kernel(static=("depth",))
def curves(turn: Any, *, depth: int) -> Curves:
    """Target of length 1 at an angle `turn` from the source; standard normal inputs."""
    task = problem()
    target = jnp.cos(turn) * task.source + jnp.sin(turn) * task.aside

    def risk(weights: Array) -> Array:
        return jnp.sum((weights - target) ** 2)

    def exact(length: Array) -> Array:
        return risk(deep_limit.limit(task.data, length * task.source, target, depth))

    def infinite(length: Array) -> Array:
        return risk(deep_limit.infinite_depth_limit(task.data, length * task.source, target))

    def trained(length: Array) -> Array:
        return risk(descended(depth, task.data, length * task.source, target, SHARE))

    lengths = jnp.asarray(LENGTHS)
    return Curves(
        jax.vmap(exact)(lengths), jax.vmap(trained)(lengths[::5]), jax.vmap(infinite)(lengths)
    )


def panels(values: Mapping[str, float]) -> Sequence[Panel]:
    """The risk against the source's length."""
    found = curves(np.radians(values["turn"]), depth=round(values["depth"]))
    return [
        Panel(
            "length of the source ‖θₛ‖ (the target has 1)",
            "population risk R",
            [
                Series("limit of gradient flow, Eq. 5", Role.PREDICTION, LENGTHS, found.exact),
                Series("gradient descent, small steps", Role.SIMULATION, TRAINED, found.trained),
                Series("infinite depth, Eq. 7", Role.BOUND, LENGTHS, found.infinite),
            ],
            log_x=True,
        )
    ]


scene = Scene(
    title="Deep networks forget the length of the source",
    caption=(
        "A source of any length is fine-tuned to a target of length 1. A single layer keeps the "
        "source's length outside of the data, so that its risk grows with it. At infinite depth "
        "only the directions of the teachers matter (dashed). A source of the best length suits a "
        "single layer just as well."
    ),
    panels=panels,
    sliders={
        "depth": Slider("depth L", 1.0, 6.0, 1.0, steps=6),
        "turn": Slider("angle between the teachers, degrees", 5.0, 90.0, 30.0),
    },
    family=("depth", (1.0, 2.0, 3.0, 6.0)),
)
