"""How much of the source a network keeps outside of the data, against its depth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from theorysim.scenes.kernel import kernel
from theorysim.scenes.linear_teachers._teachers import descended, kept_factor, problem
from theorysim.scenes.scene import Panel, Role, Scene, Series, Slider
from theorysim.systems import deep_linear_limit as deep_limit

TRAINED = (1, 2, 3, 5, 8)
DEPTHS = np.geomspace(1, 1000, 61)
SHARE = 0.05


class Curves(NamedTuple):
    """k_L for every real depth, of trained networks, and for infinite depth."""

    exact: Float[Array, " depths"]
    trained: Float[Array, " trained"]
    infinite: Float[Array, ""]


@kernel()
def curves(length: Any, aside: Any) -> Curves:
    """The target is `length` times the source, and `aside` beside it."""
    task = problem()
    target = length * task.source + aside * task.aside
    lengths = deep_limit.alignment(task.data, task.source, target)
    exact = jax.vmap(deep_limit.source_coefficient, (None, 0))(lengths, jnp.asarray(DEPTHS))
    ends = [descended(depth, task.data, task.source, target, SHARE) for depth in TRAINED]
    trained = jnp.stack([kept_factor(task, end) for end in ends])
    return Curves(exact, trained, deep_limit.infinite_depth_coefficient(lengths))


def panels(values: Mapping[str, float]) -> Sequence[Panel]:
    """k_L against L."""
    found = curves(values["length"], values["aside"])
    ends = DEPTHS[[0, -1]]
    return [
        Panel(
            "depth L",
            "factor of P⊥ θₛ after fine-tuning",
            [
                Series("Eq. 5, solved", Role.PREDICTION, DEPTHS, found.exact),
                Series(
                    "gradient descent, small steps",
                    Role.SIMULATION,
                    np.array(TRAINED, float),
                    found.trained,
                ),
                Series("infinite depth, Eq. 6", Role.BOUND, ends, np.full(2, found.infinite)),
            ],
            log_x=True,
        )
    ]


scene = Scene(
    title="Depth rescales what fine-tuning keeps of the source",
    caption=(
        "A balanced deep linear network that knows θₛ is fine-tuned on half as many samples of "
        "θₜ as there are dimensions. Outside of the data one layer keeps the source as it was; "
        "deeper networks stretch or shrink it, towards the ratio of the teachers' lengths inside "
        "of the data."
    ),
    panels=panels,
    sliders={
        "length": Slider("length of the target along the source", 0.3, 6.0, 2.0, log=True),
        "aside": Slider("part of the target beside the source", 0.0, 1.0, 0.5),
    },
    family=("length", (0.5, 1.0, 2.0, 4.0)),
)
