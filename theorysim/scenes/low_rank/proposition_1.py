"""The speed of the overlap: by its power series, and by differentiating the mean loss."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from theorysim.scenes.kernel import kernel
from theorysim.scenes.scene import Panel, Role, Scene, Series, Slider
from theorysim.theorems.low_rank import _problem as problems
from theorysim.theorems.low_rank.proposition_1 import theorem

OVERLAPS = np.linspace(-0.95, 0.95, 20)


class Curves(NamedTuple):
    """h(m) as printed, and -<gradient, u> / (1 - m^2) with unit neurons and with those of Eq. 4."""

    printed: Float[Array, " overlaps"]
    gradient: Float[Array, " overlaps"]
    longer: Float[Array, " overlaps"]


@kernel()
def curves(scale: Any, closeness: Any) -> Curves:
    """Three neurons and an activation of degree 4; means over inputs are exact."""
    drawn = theorem.space.sample(jax.random.key(0), theorem.space.default_sizes())
    given = drawn.replace(scale=1.0 * scale, closeness=1.0 * closeness)

    def at(overlap: Array) -> Curves:
        x = given.replace(overlap=overlap)

        def speed(name: str) -> Array:
            _, slope = theorem.reading(name).simulate(x, jax.random.key(0))
            return -jnp.dot(slope, problems.truth(x)) / (1 - overlap**2)

        h = theorem.primary().predict(x).h
        return Curves(h, speed("as printed"), speed("neurons not normalised (Eq. 4)"))

    return jax.lax.map(at, jnp.asarray(OVERLAPS))


def panels(values: Mapping[str, float]) -> Sequence[Panel]:
    """The speed against the overlap."""
    found = curves(values["scale"], values["closeness"])
    return [
        Panel(
            "overlap with the teacher's direction, m = ⟨û, u⟩",
            "speed of the overlap, h(m)",
            [
                Series("series of Proposition 1", Role.PREDICTION, OVERLAPS, found.printed),
                Series("gradient of the mean loss", Role.SIMULATION, OVERLAPS, found.gradient),
                Series(
                    "the same for Eq. 4, neurons not divided by √(1 + ξ²/k)",
                    Role.SIMULATION,
                    OVERLAPS,
                    found.longer,
                ),
            ],
        )
    ]


scene = Scene(
    title="The gradient of rank-one fine-tuning is a power series in the overlap",
    caption=(
        "Where h is positive, descent turns the student to the teacher's direction u. Circles lie "
        "on the series that Proposition 1 prints. Eq. 4 leaves the neurons longer than one; its "
        "gradient (triangles) is another one, the more so the larger the perturbation ξ."
    ),
    panels=panels,
    sliders={
        "scale": Slider("scale ξ of the perturbation", 0.1, 4.0, 1.0, log=True),
        "closeness": Slider("common part of the features", 0.0, 3.0, 1.0),
    },
    family=("scale", (0.5, 0.8, 1.2)),
)
