"""How far fine-tuning moves the parameters, and the bound by the residual of then and of now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from theorysim.scenes.kernel import kernel
from theorysim.scenes.linearization import _model as setting
from theorysim.scenes.scene import Panel, Role, Scene, Series
from theorysim.theorems.linearization import _flow as flow
from theorysim.theorems.linearization import _models as models
from theorysim.theorems.linearization.theorem_2 import theorem

TIMES = np.geomspace(0.03, 30, 28)


class Curves(NamedTuple):
    """||theta_t - theta_0||, and the bound with the residual at time t and at the start."""

    distance: Float[Array, " times"]
    printed: Float[Array, " times"]
    corrected: Float[Array, " times"]


@kernel()
def curves(strength: Any, slowest: Any, bend: Any) -> Curves:
    """Along the flow with a constant pull."""
    x, pull = setting.model(theorem, slowest, bend, 1.0), jnp.asarray(strength)
    times = jnp.asarray(TIMES)
    path = flow.pulled_flow(x, models.start(x), pull, jnp.append(0.0, times))[1:]
    residual = jnp.linalg.norm(jax.vmap(models.outputs(x))(path) - models.targets(x), axis=1)
    distance = jnp.linalg.norm(path, axis=1)
    energy = jnp.append(x.residual_size**2, residual**2 + pull / 2 * distance**2)
    radius = flow.holding_radius(jnp.append(0.0, times), distance, energy)
    bound = 2 * models.lipschitz(x, radius).f * flow.faded_time(pull, times)
    return Curves(distance, residual * bound, x.residual_size * bound)


def panels(values: Mapping[str, float]) -> Sequence[Panel]:
    """The distance with either bound."""
    found = curves(values["strength"], values["slowest"], values["bend"])

    def panel(title: str, bound: str, line: np.ndarray) -> Panel:
        return Panel(
            "time t of the flow",
            "distance from the start ‖θₜ − θ₀‖",
            [
                Series("gradient flow", Role.SIMULATION, TIMES, found.distance),
                Series(bound, Role.BOUND, TIMES, line),
            ],
            title=title,
            log_x=True,
            log_y=True,
        )

    times = "2 Lip(f) (1 − exp(−λt))/λ"
    return [
        panel("As printed: the residual at time t", f"‖fₜ − y‖ · {times}", found.printed),
        panel("Corrected: the residual at the start", f"‖f₀ − y‖ · {times}", found.corrected),
    ]


scene = Scene(
    title="A model that has fitted its data has moved",
    caption=(
        "Fine-tuning by gradient flow with a pull λ to the start, on a model with a weight for "
        "every output. Left: the printed bound has the residual at time t. Without a pull it falls "
        "below the points as soon as the data are fitted. Right: with the residual at the start it "
        "holds; without a pull it goes on growing when the flow has long stopped."
    ),
    panels=panels,
    sliders={
        "strength": replace(setting.STRENGTH, default=0.0),  # where the print fails
        "slowest": setting.SLOWEST,
        "bend": setting.BEND,
    },
    family=("strength", (0.0, 0.5, 2.0, 10.0)),
)
