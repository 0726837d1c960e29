"""The risk of a model that is trained as a ridge regression, against the ridge, and its bounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from theorysim.scenes.kernel import kernel
from theorysim.scenes.scene import Panel, Role, Scene, Series, Slider
from theorysim.systems.kernel_ridge import Bounds
from theorysim.theorems.linearization.theorem_5 import theorem

RIDGES = np.geomspace(1e-2, 100, 21)
SAMPLES = 6


class Curves(NamedTuple):
    """The risk as a sum over samples, and its bounds."""

    risk: Float[Array, " ridges"]
    bounds: Bounds


@kernel()
def curves(condition: Any) -> Curves:
    """A kernel with eigenvalues from 1 down to 1 / condition, and random targets."""
    drawn = theorem.space.sample(jax.random.key(0), theorem.space.default_sizes(n=SAMPLES))
    spectrum = (1.0 * condition) ** -jnp.linspace(0, 1, SAMPLES)
    reading = theorem.primary()

    def at(sigma: Array) -> Curves:
        x = drawn.replace(spectrum=spectrum, sigma=sigma, outputs=jnp.zeros(SAMPLES))
        risk = jnp.sum((reading.simulate(x, jax.random.key(0)) - x.targets) ** 2)
        return Curves(risk, reading.predict(x).bounds)

    return jax.vmap(at)(jnp.asarray(RIDGES))


def panels(values: Mapping[str, float]) -> Sequence[Panel]:
    """The risk against the ridge."""
    found = curves(values["condition"])
    low, high = found.bounds
    return [
        Panel(
            "ridge σ = λ / 2, in units of the kernel's largest eigenvalue",
            "training risk R",
            [
                Series("trained, squares summed", Role.SIMULATION, RIDGES, found.risk),
                Series("trained, squares averaged", Role.SIMULATION, RIDGES, found.risk / SAMPLES),
                Series("lower bound, λ_max", Role.BOUND, RIDGES, low),
                Series("upper bound, λ_min", Role.BOUND, RIDGES, high),
            ],
            log_x=True,
            log_y=True,
        )
    ]


scene = Scene(
    title="The kernel's extreme eigenvalues bound the training risk",
    caption=(
        f"A linear model is trained on {SAMPLES} samples with a pull of strength λ = 2σ. The sum "
        "of squared errors (circles) lies between the bounds of Theorem 5, which meet for a strong "
        "pull and for a kernel of condition number 1. Its proof defines R as their mean "
        "(triangles), which a strong pull leaves below the lower bound."
    ),
    panels=panels,
    sliders={"condition": Slider("condition number of the kernel", 1.0, 1000.0, 10.0, log=True)},
    family=("condition", (3.0, 30.0, 1000.0)),
)
