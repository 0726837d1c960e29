"""Risks with normal samples against the share of seen dimensions, and the bounds of Eqs. 9, 10."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from theorysim.scenes.kernel import kernel
from theorysim.scenes.scene import Panel, Role, Scene, Series, Slider
from theorysim.theorems.linear_teachers import _gaussian_rows as gaussian
from theorysim.theorems.linear_teachers.theorem_5_4 import theorem

DIMENSION, DRAWS = 200, 500
SAMPLES = np.unique(np.append([2, 5], np.linspace(10, DIMENSION - 2, 20).astype(int)))
RARE = 0.99


class OneRisk(NamedTuple):
    """Median and rare risk over the draws, the bound at epsilon, and without epsilon."""

    median: Float[Array, " samples"]
    rare: Float[Array, " samples"]
    bound: Float[Array, " samples"]
    centre: Float[Array, " samples"]


class Curves(NamedTuple):
    """Infinite depth (Eq. 9) and one layer (Eq. 10)."""

    deep: OneRisk
    shallow: OneRisk


@kernel()
def curves(epsilon: Any, angle: Any, length: Any) -> Curves:
    """Source of the given length, target of length 1, at an angle."""
    drawn = theorem.space.sample(jax.random.key(0), theorem.space.default_sizes())
    keys = jax.random.split(jax.random.key(1), DRAWS)
    bounds = theorem.primary().predict

    def at(samples: Array) -> Curves:
        x = drawn.replace(
            samples=samples,
            rest=DIMENSION - samples,
            angle=1.0 * angle,
            source_norm=1.0 * length,
            target_norm=jnp.ones(()),
            epsilon=1.0 * epsilon,
        )
        counts = gaussian.counts(x)
        risks = jax.vmap(lambda key: gaussian.risks(x, gaussian.from_wishart(key, *counts)))(keys)
        wide, narrow = bounds(x), bounds(x.replace(epsilon=jnp.zeros(())))

        def one(risk: Array, bound: Array, centre: Array) -> OneRisk:
            return OneRisk(jnp.median(risk), jnp.quantile(risk, RARE), bound, centre)

        return Curves(
            one(risks.deep, wide.deep, narrow.deep),
            one(risks.shallow, wide.shallow, narrow.shallow),
        )

    return jax.lax.map(at, jnp.asarray(SAMPLES, float))


def panels(values: Mapping[str, float]) -> Sequence[Panel]:
    """Infinite depth and one layer."""
    found = curves(values["epsilon"], np.radians(values["angle"]), values["length"])
    share = SAMPLES / DIMENSION

    def panel(title: str, risk: Any, bound: str) -> Panel:
        return Panel(
            "samples per dimension, n / d",
            "population risk R",
            [
                Series("bound with ε = 0", Role.PREDICTION, share, risk.centre),
                Series(f"median of {DRAWS} draws", Role.SIMULATION, share, risk.median),
                Series("99 of 100 draws stay below", Role.SIMULATION, share, risk.rare),
                Series(bound, Role.BOUND, share, risk.bound),
            ],
            title=title,
            log_y=True,
        )

    return [
        panel("Infinite depth", found.deep, "Eq. 9"),
        panel("One layer", found.shallow, "Eq. 10"),
    ]


scene = Scene(
    title="Deep networks pay for the angle, one layer for the distance",
    caption=(
        f"Risks after fine-tuning on n normal samples in dimension {DIMENSION}; the target has "
        "length 1. Both bounds hold with a probability that is near 1 where ε² n and ε² (d − n) "
        "are large. At both ends they promise little, and rare draws exceed them for small ε."
    ),
    panels=panels,
    sliders={
        "length": Slider("length of the source ‖θₛ‖", 0.3, 3.0, 1.0, log=True),
        "angle": Slider("angle between the teachers, degrees", 0.0, 180.0, 45.0),
        "epsilon": Slider("ε", 0.05, 1.0, 0.3, log=True),
    },
    family=("length", (0.5, 1.0, 2.0)),
)
