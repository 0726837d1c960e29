"""How far gradient descent ends from Eq. 5, against the learning rate."""

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

DEPTH = 2
SHARES = np.geomspace(0.02, 0.5, 12)


class Curves(NamedTuple):
    """Distances from Eq. 5, and the first of them continued in proportion to the rate."""

    distance: Float[Array, " rates"]
    first_order: Float[Array, " rates"]


@kernel()
def curves(length: Any, aside: Any) -> Curves:
    """The target is `length` times the source, and `aside` beside it."""
    task = problem()
    target = length * task.source + aside * task.aside
    limit = deep_limit.limit(task.data, task.source, target, DEPTH)

    def distance(share: Array) -> Array:
        return jnp.linalg.norm(descended(DEPTH, task.data, task.source, target, share) - limit)

    found = jax.vmap(distance)(jnp.asarray(SHARES))
    return Curves(found, found[0] * SHARES / SHARES[0])


def panels(values: Mapping[str, float]) -> Sequence[Panel]:
    """The distance against the rate."""
    found = curves(values["length"], values["aside"])
    return [
        Panel(
            "learning rate, as a share of the stability limit",
            "distance from the limit of Eq. 5",
            [
                Series("gradient descent, two layers", Role.SIMULATION, SHARES, found.distance),
                Series("in proportion to the rate", Role.BOUND, SHARES, found.first_order),
            ],
            log_x=True,
            log_y=True,
        )
    ]


scene = Scene(
    title="Gradient descent misses Eq. 5 in proportion to its step",
    caption=(
        "Gradient flow keeps a two-layer network balanced and ends where Eq. 5 says. Gradient "
        "descent, which the paper allows as well, leaves balance by an order of its learning rate: "
        "it ends beside that limit, and the distance falls with the rate, as the dashed lines do."
    ),
    panels=panels,
    sliders={
        "length": Slider("length of the target along the source", 0.3, 6.0, 2.0, log=True),
        "aside": Slider("part of the target beside the source", 0.1, 1.0, 0.5),
    },
    family=("length", (0.5, 2.0, 4.0)),
)
