"""The loss along fine-tuning, for target inputs that are near each other, and its bound."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from theorysim.scenes.kernel import kernel
from theorysim.scenes.scene import Panel, Role, Scene, Series, Slider
from theorysim.theorems.transferability import _decay as decay
from theorysim.theorems.transferability import _problem as problem
from theorysim.theorems.transferability import _training as training
from theorysim.theorems.transferability.theorem_3_widths import ENOUGH, theorem

READING = theorem.reading("networks of a width free of lambda_Q")
WIDTHS = {"narrow": 64, "wide": 1024}
KEYS = 64
LEAST = 1e-6  # share that is shown


class Curves(NamedTuple):
    """Squared residuals as shares of the first, at eta lambda_Q k = 0, ..., ENOUGH."""

    infinite: Float[Array, " times"]
    narrow: Float[Array, " times"]
    wide: Float[Array, " times"]
    bound: Float[Array, " times"]


def _shares(norm: Float[Array, "*keys times"]) -> Float[Array, "*keys times"]:
    return (norm / norm[..., :1]) ** 2


@kernel()
def curves(spread: Any, failure: Any) -> Curves:
    """Of networks the quantile at level 1 - delta, at infinite width from outputs of zero."""
    keys = jax.random.split(jax.random.key(1), KEYS)

    def quantile(width: int) -> tuple[Any, Array]:
        drawn = theorem.space.sample(jax.random.key(0), theorem.space.default_sizes(width=width))
        x = drawn.replace(target_spread=1.0 * spread, failure=1.0 * failure)
        run = jax.vmap(lambda key: READING.simulate(x, key))(keys)
        return x, jnp.quantile(_shares(run.norm), 1 - x.failure, axis=0)

    (x, narrow), (_, wide) = (quantile(width) for width in WIDTHS.values())
    eta, eigenvalue = training.theorem_3_rate(x), problem.lambda_q(x)
    end = ENOUGH / (eta * eigenvalue)
    flow = decay.linear_decay(x, problem.joint_gram(x), jnp.zeros(x.p + x.q), end)
    bound = jnp.exp(flow.steps * jnp.log1p(-eta * eigenvalue / 2))
    return Curves(_shares(flow.norm), narrow, wide, bound)


def panels(values: Mapping[str, float]) -> Sequence[Panel]:
    """The loss against the step."""
    found = curves(values["spread"], values["failure"])
    time = np.linspace(0, ENOUGH, decay.RECORDED + 1)

    def shown(share: np.ndarray) -> np.ndarray:
        return np.where(share > LEAST, share, np.nan)

    return [
        Panel(
            "steps of fine-tuning, times η λ_Q",
            "loss ‖u_Q(k) − y_Q‖², as a share of the first",
            [
                Series("infinite width", Role.PREDICTION, time, shown(found.infinite)),
                *(
                    Series(
                        f"networks of width {width}: 1 − δ of {KEYS} are below",
                        Role.SIMULATION,
                        time,
                        shown(getattr(found, name)),
                    )
                    for name, width in WIDTHS.items()
                ),
                Series("Theorem 3: (1 − η λ_Q / 2)ᵏ", Role.BOUND, time, found.bound),
            ],
            log_y=True,
        )
    ]


scene = Scene(
    title="How wide a network must be depends on λ_Q",
    caption=(
        "The loss of pretrained ReLU networks along fine-tuning, with the learning rate of Theorem "
        "3. Where target inputs are nearly parallel, λ_Q is small, and no unit tells them apart in "
        "a network that is too narrow: points stay above the bound. The width that is printed has "
        "λ_P in place of λ_Q. Patterns are those of the start, as for large initial weights."
    ),
    panels=panels,
    sliders={
        "spread": Slider("spread of the target inputs", 1e-3, 3.0, 0.1, log=True),
        "failure": Slider("chance of failure δ", 0.15, 0.5, 0.2, log=True),
    },
    family=("spread", (1.0, 0.01, 0.001)),
)
