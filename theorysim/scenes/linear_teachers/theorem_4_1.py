"""Risk of linear regression along fine-tuning, for inputs that are centred and not."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from theorysim.scenes.kernel import kernel
from theorysim.scenes.linear_teachers._teachers import DIMENSION, problem
from theorysim.scenes.scene import Panel, Role, Scene, Series, Slider
from theorysim.systems import linear_regression as regression

STEPS, SHARE = 20, 0.2
SIGNS = np.array(list(itertools.product((-1.0, 1.0), repeat=DIMENSION)))


class Curves(NamedTuple):
    """Risks along descent, exact and run, and Eq. 2 with the covariance and the second moment."""

    exact: Float[Array, " times"]
    simulated: Float[Array, " times"]
    printed: Float[Array, ""]
    corrected: Float[Array, ""]


@kernel()
def curves(mean: Any, turn: Any) -> Curves:
    """Inputs are uniform on 2^d points with covariance I; `turn` is the angle of the teachers."""
    task = problem()
    target = jnp.cos(turn) * task.source + jnp.sin(turn) * task.aside
    middle = mean * jnp.ones(DIMENSION) / jnp.sqrt(DIMENSION)
    inputs = middle + jnp.asarray(SIGNS)
    rate = SHARE * regression.largest_learning_rate(task.data)

    def moment_form(missed: Array) -> Array:
        return jnp.sum(missed**2, axis=-1) + (missed @ middle) ** 2

    times = jnp.arange(STEPS + 1)
    exact = regression.gradient_descent(task.data, task.source, target, rate, times).weights
    run = regression.train(task.data, task.data @ target, task.source, rate, STEPS)
    basis = regression.row_space(task.data)
    left = regression.project(basis, target - task.source).orthogonal
    return Curves(
        moment_form(exact - target),
        jnp.mean(((run - target) @ inputs.T) ** 2, axis=-1),
        jnp.sum(left**2),
        moment_form(left),
    )


def panels(values: Mapping[str, float]) -> Sequence[Panel]:
    """The risk against the step."""
    found = curves(values["mean"], np.radians(values["turn"]))
    steps = np.arange(STEPS + 1.0)
    return [
        Panel(
            "step of fine-tuning",
            "population risk R",
            [
                Series("exact path", Role.PREDICTION, steps, found.exact),
                Series("gradient descent", Role.SIMULATION, steps, found.simulated),
                Series(
                    "Eq. 2 as printed: covariance",
                    Role.BOUND,
                    steps,
                    np.full(len(steps), found.printed),
                ),
                Series(
                    "Eq. 2 corrected: second moment",
                    Role.BOUND,
                    steps,
                    np.full(len(steps), found.corrected),
                ),
            ],
        )
    ]


scene = Scene(
    title="What the data do not show is kept from the source",
    caption=(
        "Linear regression starts from the source teacher and is fine-tuned on fewer samples than "
        "dimensions. Its risk falls to the share of the teachers' difference outside of the data. "
        "Eq. 2 prints it with the covariance of the inputs; where their mean is not zero it takes "
        "the second moment."
    ),
    panels=panels,
    sliders={
        "mean": Slider("length of the inputs' mean", 0.0, 3.0, 0.0),
        "turn": Slider("angle between the teachers, degrees", 10.0, 180.0, 90.0),
    },
    family=("mean", (0.0, 1.5, 3.0)),
)
