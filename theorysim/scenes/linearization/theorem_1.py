"""How fast the loss falls against the strength of the pull, before the data are fitted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from theorysim.scenes.kernel import kernel
from theorysim.scenes.linearization import _model as setting
from theorysim.scenes.scene import Panel, Role, Scene, Series, Slider
from theorysim.systems.fine_tuning import towards_loss
from theorysim.theorems.linearization import _models as models
from theorysim.theorems.linearization.theorem_1 import theorem

STRENGTHS = np.linspace(0, 4, 21)


class Curves(NamedTuple):
    """d/dt ||f - y||^2 by the chain rule and along the flow, and the pull at which it vanishes."""

    predicted: Float[Array, " strengths"]
    simulated: Float[Array, " strengths"]
    limit: Float[Array, ""]


@kernel()
def curves(progress: Any, slowest: Any) -> Curves:
    """At a point on the way to the fit of the linearised model."""
    model = setting.model(theorem, slowest, 0.1, 1.0)
    way = -models.first_residual(model) / model.slope
    delta = progress * jnp.pad(way, (0, models.start(model).size - way.size))
    x = model.replace(way=delta.reshape(-1, models.HIDDEN), radius=jnp.linalg.norm(delta))
    loss, strengths = models.loss(x), jnp.asarray(STRENGTHS)
    product = towards_loss(loss, models.start(x), delta)
    square = jnp.sum(jax.grad(loss)(delta) ** 2)
    simulated = jax.vmap(lambda strength: models.along_flow(x, loss, strength))(strengths)
    return Curves(-square - strengths * product, simulated, square / jnp.abs(product))


def panels(values: Mapping[str, float]) -> Sequence[Panel]:
    """The slope against the pull."""
    found = curves(values["progress"], values["slowest"])
    return [
        Panel(
            "pull λ",
            "slope of the loss, d/dt ‖f − y‖²",
            [
                Series("−‖∇R‖² − λ ⟨∇R, θ − θ₀⟩", Role.PREDICTION, STRENGTHS, found.predicted),
                Series("along the flow", Role.SIMULATION, STRENGTHS, found.simulated),
                Series(
                    "largest pull at which the loss falls",
                    Role.MARK,
                    np.array([found.limit]),
                    np.zeros(1),
                ),
                Series("the loss stands still", Role.BOUND, STRENGTHS[[0, -1]], np.zeros(2)),
            ],
        )
    ]


scene = Scene(
    title="A pull to the start need not raise the loss",
    caption=(
        "Before the data are fitted descent leads away from the start, and a pull works "
        "against it. The proof of Theorem 1 calls λ = 0 necessary there. The loss falls for all "
        "pulls left of the ring, λ < ‖∇R‖² / |⟨∇R, θ − θ₀⟩|; the ring moves to 0 only as the fit "
        "is completed."
    ),
    panels=panels,
    sliders={
        "progress": Slider("way to the fit, as a share", 0.3, 0.95, 0.5),
        "slowest": setting.SLOWEST,
    },
    family=("progress", (0.3, 0.5, 0.7, 0.9)),
)
