"""How far fine-tuning moves the weights, against the mismatch of the tasks and the width."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.scenes.kernel import kernel
from theorysim.scenes.scene import Panel, Role, Scene, Series, Slider
from theorysim.theorems.transferability import _problem as problem
from theorysim.theorems.transferability.theorem_2_widths import theorem

SHARES = np.linspace(-4, 4, 17)  # of the drawn mismatch
WIDTHS = (64, 256, 1024, 4096)
WIDE = 1024
FEW, MANY = 4, 16  # draws of networks, on the left and on the right
STEPS = 16  # enough for both stages to end
RATE = 0.6  # share of the largest stable learning rate


class Curves(NamedTuple):
    """||W(Q) - W(P)|| without errors and of networks, from scratch, and errors over the width."""

    predicted: Float[Array, " shares"]
    networks: Float[Array, " shares"]
    scratch: Float[Array, " shares"]
    errors: Float[Array, " widths"]


def _instance(kappa: Any, width: int) -> claims.Instance:
    """Of the first key for which the width suffices and both stages end."""
    sizes = theorem.space.default_sizes(width=width, source_steps=STEPS, target_steps=STEPS)
    drawn = theorem.space.sample(jax.random.key(1), sizes)
    return drawn.replace(kappa=1.0 * kappa, rate_share=jnp.asarray(RATE))


def _distances(x: claims.Instance, draws: int) -> Float[Array, " draws"]:
    keys = jax.random.split(jax.random.key(0), draws)
    return jax.vmap(lambda key: theorem.simulate(x, key).distance)(keys)


@kernel()
def curves(kappa: Any) -> Curves:
    """Target labels on the line through those that pretraining predicts and the drawn ones."""
    given = _instance(kappa, WIDE)
    predict = theorem.primary().predict

    def at(share: Array) -> tuple[Array, Array, Array]:
        labels = problem.transferred(given) + share * problem.mismatch(given)
        x = given.replace(target_labels=labels)
        scratch = jnp.sqrt(problem.form(problem.target_gram(x), labels))
        return predict(x).distance, jnp.mean(_distances(x, FEW)), scratch

    def error(width: int) -> Array:
        x = _instance(kappa, width)
        return jnp.sqrt(jnp.mean((_distances(x, MANY) - predict(x).distance) ** 2))

    errors = jnp.stack([error(width) for width in WIDTHS])
    predicted, networks, scratch = jax.lax.map(at, jnp.asarray(SHARES))
    return Curves(predicted, networks, scratch, errors)


def panels(values: Mapping[str, float]) -> Sequence[Panel]:
    """The distance against the mismatch, and its error against the width."""
    found = curves(values["kappa"])
    widths = np.array(WIDTHS, float)
    order = found.errors[0] * (widths / widths[0]) ** -0.25
    return [
        Panel(
            "target labels: mismatch as a share of the drawn one",
            "movement of the weights ‖W(Q) − W(P)‖",
            [
                Series("√(eᵀ H⁻¹ e), e = y_Q − y_(P→Q)", Role.PREDICTION, SHARES, found.predicted),
                Series(f"{FEW} networks of width {WIDE}", Role.SIMULATION, SHARES, found.networks),
                Series("from scratch: √(yᵀ H⁻¹ y)", Role.BOUND, SHARES, found.scratch),
            ],
            title="Fine-tuning after pretraining",
        ),
        Panel(
            "width m",
            "error of the movement",
            [
                Series(f"root mean square of {MANY}", Role.SIMULATION, widths, found.errors),
                Series("∝ m^(−1/4), the printed order", Role.BOUND, widths, order),
            ],
            title="Error at finite width",
            log_x=True,
            log_y=True,
        ),
    ]


scene = Scene(
    title="Pretraining saves movement where the tasks are alike",
    caption=(
        "A ReLU network is pretrained on one task and fine-tuned on another. Left: its weights "
        "move in proportion to what the second task's labels differ from those that the first one "
        "predicts. On the far left, where they contradict it, training from scratch (dashed) moves "
        "them as little. Right: at the drawn mismatch the error of Theorem 2 falls faster with the "
        "width than the printed order (dashed, drawn through the first point)."
    ),
    panels=panels,
    sliders={"kappa": Slider("scale κ of the initial weights", 1.0, 10.0, 3.0, log=True)},
)
