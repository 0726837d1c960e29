"""How far the activation gradient is from its leading terms, over the number of target inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.scenes.kernel import kernel
from theorysim.scenes.scene import Panel, Role, Scene, Series, Slider
from theorysim.theorems.transferability.theorem_1 import theorem

SAMPLES = np.array([4.0, 8, 16, 32, 64, 128])
KEYS = 128


@kernel()
def error(closeness: Any, failure: Any) -> Float[Array, " samples"]:
    """The quantile of the error at level 1 - delta, for fixed kappa."""
    drawn = theorem.space.sample(jax.random.key(0), theorem.space.default_sizes())
    (claim,) = theorem.primary().claims
    keys = jax.random.split(jax.random.key(1), KEYS)

    def at(samples: Array) -> Array:
        # kappa is a share of its largest value, which falls as the root of n_Q.
        share = jnp.sqrt(samples / SAMPLES[-1])
        x = drawn.replace(
            samples=samples, closeness=1.0 * closeness, failure=1.0 * failure, scale_share=share
        )
        sim = jax.vmap(lambda key: theorem.simulate(x, key))(keys)
        return claim.lhs(claims.Run(x, (), sim, keys=KEYS))

    return jax.lax.map(at, jnp.asarray(SAMPLES))


def panels(values: Mapping[str, float]) -> Sequence[Panel]:
    """The error against the number of target inputs."""
    found = error(values["closeness"], values["failure"])
    return [
        Panel(
            "target inputs n_Q",
            "error of the squared gradient",
            [
                Series("1 − δ of networks are below", Role.SIMULATION, SAMPLES, found),
                Series(
                    "as printed: ∝ √n_Q",
                    Role.BOUND,
                    SAMPLES,
                    found[0] * np.sqrt(SAMPLES / SAMPLES[0]),
                ),
                Series("corrected: ∝ n_Q", Role.BOUND, SAMPLES, found[0] * SAMPLES / SAMPLES[0]),
            ],
            log_x=True,
            log_y=True,
        )
    ]


scene = Scene(
    title="The error of Theorem 1 grows as the number of target inputs",
    caption=(
        "Theorem 1 predicts the squared activation gradient of a pretrained network on new inputs. "
        "What it misses because the initial weights are not zero is printed as of order √n_Q. For "
        "networks of infinite width and target inputs that lie near each other it grows as n_Q. "
        "The lines are drawn through the first point; the scale κ of the weights stays the same."
    ),
    panels=panels,
    sliders={
        "closeness": Slider("distance of neighbouring inputs", 1e-3, 0.1, 0.03, log=True),
        "failure": Slider("chance of failure δ", 0.05, 0.5, 0.1, log=True),
    },
)
