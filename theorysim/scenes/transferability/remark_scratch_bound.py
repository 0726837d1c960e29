"""How far training from scratch moves the weights, and the bound with and without its root."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from theorysim.scenes.kernel import kernel
from theorysim.scenes.scene import Panel, Role, Scene, Series, Slider
from theorysim.systems import two_layer_relu as relu
from theorysim.theorems.transferability import _problem as problem
from theorysim.theorems.transferability.remark_scratch_bound import theorem

WIDTH = 1024
STEPS = 2 ** np.arange(12)  # those of the statement
RUN = 256


class Curves(NamedTuple):
    """||W(k) - W(0)|| of infinite width and of a network, and y^T H^(-1) y."""

    infinite: Float[Array, " times"]
    network: Float[Array, " steps"]
    form: Float[Array, ""]


@kernel()
def curves(size: Any, spread: Any) -> Curves:
    """Labels of a given size, of either sign."""
    drawn = theorem.space.sample(jax.random.key(0), theorem.space.default_sizes())
    labels = size * drawn.target_labels / jnp.max(jnp.abs(drawn.target_labels))
    x = drawn.replace(target_labels=labels, target_spread=1.0 * spread, rate_share=jnp.asarray(0.1))
    start = relu.initialise_silent(jax.random.key(1), WIDTH, x.d, 10.0)

    def moved(now: relu.Network) -> Array:
        return jnp.linalg.norm(now.weights - start.weights)

    network = relu.train(
        start,
        problem.target(x),
        problem.stable_rates(x)[1],
        RUN,
        normalisation=problem.NORMALISATION,
        record=moved,
    )
    infinite = theorem.simulate(x, jax.random.key(0))
    return Curves(infinite, network[1:], problem.form(problem.target_gram(x), labels))


def panels(values: Mapping[str, float]) -> Sequence[Panel]:
    """The distance against the step."""
    found = curves(values["size"], values["spread"])
    steps = STEPS.astype(float)
    shown = STEPS[STEPS <= RUN]
    return [
        Panel(
            "step k of training from scratch",
            "movement of the weights ‖W(k) − W(0)‖",
            [
                Series("infinite width", Role.PREDICTION, steps, found.infinite),
                Series(
                    f"network of width {WIDTH}",
                    Role.SIMULATION,
                    shown.astype(float),
                    found.network[shown - 1],
                ),
                Series(
                    "as printed: yᵀ H⁻¹ y",
                    Role.BOUND,
                    steps,
                    np.full(len(steps), found.form),
                ),
                Series(
                    "corrected: √(yᵀ H⁻¹ y)",
                    Role.BOUND,
                    steps,
                    np.full(len(steps), np.sqrt(found.form)),
                ),
            ],
            log_x=True,
            log_y=True,
        )
    ]


scene = Scene(
    title="From scratch the weights move by a root",
    caption=(
        "A ReLU network learns a task from scratch. Its movement ends at √(yᵀ H⁻¹ y), as Theorem 2 "
        "has it. The text below the theorem leaves the root out: where labels are small (dark) the "
        "form without its root is less than what the weights move by."
    ),
    panels=panels,
    sliders={
        "size": Slider("largest label |y|", 0.05, 1.0, 0.3, log=True),
        "spread": Slider("spread of the inputs", 0.3, 30.0, 3.0, log=True),
    },
    family=("size", (0.1, 0.3, 1.0)),
)
