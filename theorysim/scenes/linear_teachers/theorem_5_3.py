"""Risk against depth where the target is a multiple of the source."""

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
from theorysim.systems import linear_regression as regression

TRAINED = (1, 2, 3, 5, 8)
DEPTHS = np.geomspace(1, 1000, 61)
SHARE = 0.05


class Curves(NamedTuple):
    """Risks at every real depth, of trained networks, and Eq. 8 for one layer."""

    exact: Float[Array, " depths"]
    trained: Float[Array, " trained"]
    one_layer: Float[Array, ""]


@kernel()
def curves(alpha: Any) -> Curves:
    """theta_T = alpha theta_S, standard normal inputs."""
    task = problem()
    target = alpha * task.source

    def exact(depth: Array) -> Array:
        end = deep_limit.limit(task.data, task.source, target, depth)
        return jnp.sum((end - target) ** 2)

    ends = [descended(depth, task.data, task.source, target, SHARE) for depth in TRAINED]
    trained = jnp.stack([jnp.sum((end - target) ** 2) for end in ends])
    unseen = regression.project(regression.row_space(task.data), target).orthogonal
    one_layer = ((alpha - 1) / alpha) ** 2 * jnp.sum(unseen**2)
    return Curves(jax.vmap(exact)(jnp.asarray(DEPTHS)), trained, one_layer)


def panels(values: Mapping[str, float]) -> Sequence[Panel]:
    """The risk against L."""
    found = curves(values["alpha"])
    ends = DEPTHS[[0, -1]]
    return [
        Panel(
            "depth L",
            "population risk R",
            [
                Series("limit of gradient flow, Eq. 5", Role.PREDICTION, DEPTHS, found.exact),
                Series(
                    "gradient descent, small steps",
                    Role.SIMULATION,
                    np.array(TRAINED, float),
                    found.trained,
                ),
                Series("one layer, Eq. 8", Role.BOUND, ends, np.full(2, found.one_layer)),
            ],
            log_x=True,
            log_y=True,
        )
    ]


scene = Scene(
    title="Where teachers differ in length only, depth finds the target",
    caption=(
        "The target is α times the source. One layer keeps the source's length outside of the data "
        "and pays for it (dashed, Eq. 8). Infinite depth has no risk; the risk falls like 1 / L². "
        "At α = 1 nothing is left to learn."
    ),
    panels=panels,
    sliders={"alpha": Slider("α: target is α times the source", 0.3, 5.0, 2.0, log=True, steps=8)},
    family=("alpha", (0.5, 1.5, 2.5, 5.0)),
)
