"""How far a fine-tuned model is from its linearisation, against time, and the bound."""

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
from theorysim.theorems.linearization.theorem_3 import theorem

TIMES = np.geomspace(0.03, 30, 14)


class Curves(NamedTuple):
    """Gaps to the linearised model of a flow of its own and at the same parameters, and bounds."""

    trained: Float[Array, " times"]
    expanded: Float[Array, " times"]
    bound: Float[Array, " times"]
    trivial: Float[Array, " times"]
    """||f - y|| + ||f_linear - y||"""


@kernel()
def curves(strength: Any, bend: Any, residual: Any) -> Curves:
    """The last state of runs up to every time."""
    model = setting.model(theorem, 0.5, bend, residual, strength=1.0 * strength)

    def at(time: Array) -> Curves:
        x = model.replace(horizon=time / flow.time_scale(model, model.strength))
        path = theorem.simulate(x, jax.random.key(0))
        trained, expanded = (_gap(path, name) for name in "BD")
        ends = path.outputs[-1], path.straight["B"][-1]
        trivial = sum(jnp.linalg.norm(end - models.targets(x)) for end in ends)
        b = flow.gap_factor(x, models.lipschitz(x, path.radius), x.strength)
        bound = (b * theorem.predict(x))[-1]
        return Curves(trained, expanded, bound, jnp.asarray(trivial))

    return jax.vmap(at)(jnp.asarray(TIMES))


def _gap(path: flow.Path, name: str) -> Float[Array, ""]:
    """||f - f_linear|| at the last time, for one flow of the linearised model."""
    return jnp.linalg.norm(path.outputs[-1] - path.straight[name][-1])


def panels(values: Mapping[str, float]) -> Sequence[Panel]:
    """The gaps against time."""
    found = curves(values["strength"], values["bend"], values["residual"])
    return [
        Panel(
            "time t of the flow",
            "distance of outputs, model from linearised model",
            [
                Series("linearised model tuned itself", Role.SIMULATION, TIMES, found.trained),
                Series("linearised model at θₜ", Role.SIMULATION, TIMES, found.expanded),
                Series("b (t − (1 − exp(−λt))/λ)", Role.BOUND, TIMES, found.bound),
                Series("both residuals together", Role.BOUND, TIMES, found.trivial),
            ],
            log_x=True,
            log_y=True,
        )
    ]


scene = Scene(
    title="The linearised model stays near; its bound grows for ever",
    caption=(
        "A model with a weight for every output and its linearisation are fine-tuned with a pull λ "
        "to the start. Their distance settles, while the bound of Theorem 3 grows as t in the end. "
        "Where it is above the sum of both residuals (dotted) it says nothing that the triangle "
        "inequality would not say."
    ),
    panels=panels,
    sliders={
        "strength": replace(setting.STRENGTH, low=0.05, default=2.0, log=True),
        "bend": setting.BEND,
        "residual": setting.RESIDUAL,
    },
    family=("bend", (0.01, 0.1, 1.0)),
)
