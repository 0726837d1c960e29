"""What the noise of one sample adds to the overlap, with either sign."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim.scenes.kernel import kernel
from theorysim.scenes.scene import Panel, Role, Scene, Series, Slider
from theorysim.theorems.low_rank.equation_5_6 import theorem

SAMPLES = 40


@kernel()
def steps(overlap: Any, rate: Any) -> tuple[Float[Array, " samples"], Float[Array, " samples"]]:
    """eta <E, u>, and what a step adds beyond drift and projection; samples in order of noise."""
    drawn = theorem.space.sample(jax.random.key(0), theorem.space.default_sizes())
    x = drawn.replace(start=1.0 * overlap, rate=1.0 * rate)
    keys = jax.random.split(jax.random.key(1), SAMPLES)
    step = jax.vmap(lambda key: theorem.simulate(x, key))(keys)
    drift = theorem.primary().predict(x) * (1 - x.start**2)
    noise = x.rate * (step.slope + drift)
    order = jnp.argsort(noise)
    return noise[order], (step.next - x.start - x.rate * drift - step.rest)[order]


def panels(values: Mapping[str, float]) -> Sequence[Panel]:
    """What a step adds against the noise."""
    noise, added = steps(values["overlap"], values["rate"])
    return [
        Panel(
            "noise of the sample's gradient along u, η ⟨E, u⟩",
            "step of m beyond drift and projection",
            [
                Series("corrected: − η ⟨E, u⟩", Role.PREDICTION, noise, -noise),
                Series("steps of online SGD", Role.SIMULATION, noise, added),
                Series("Eqs. 5 and 6 as printed: + η ⟨E, u⟩", Role.BOUND, noise, noise),
            ],
        )
    ]


scene = Scene(
    title="The noise enters the overlap with the opposite sign",
    caption=(
        f"{SAMPLES} steps of online SGD from one overlap m, each with a sample of its own. From "
        "every step the drift η h(m) (1 − m²) and the projection onto the sphere are taken off; "
        "what is left is the noise E of the sample's gradient, times −η."
    ),
    panels=panels,
    sliders={
        "overlap": Slider("overlap m before the step", -0.95, 0.95, 0.3),
        "rate": Slider("learning rate η", 1e-3, 0.3, 0.05, log=True),
    },
)
