"""The risk after fine-tuning against the number of samples, and the bound of Eq. 3."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from theorysim.scenes.kernel import kernel
from theorysim.scenes.scene import Panel, Role, Scene, Series, Slider
from theorysim.systems.linear_regression import covariance_estimation
from theorysim.theorems.linear_teachers import _covariance_bound as rows
from theorysim.theorems.linear_teachers.theorem_4_2 import theorem

COUNTS = np.arange(1, rows.MOST_SAMPLES + 1)
DRAWS = 400
DIMENSION = rows.MOST_SAMPLES + rows.MOST_SURPLUS


class Curves(NamedTuple):
    """Risk that a share of 1 - e^-delta of the draws stays below, and Eq. 3 at its best m."""

    risk: Float[Array, " counts"]
    bound: Float[Array, " counts"]
    trivial: Float[Array, " counts"]


@kernel()
def curves(delta: Any, constant: Any, decay: Any) -> Curves:
    """Normal samples with eigenvalues decay^0, ..., decay^(d-1); the teachers differ in all."""
    sizes = theorem.space.default_sizes()
    drawn = theorem.space.sample(jax.random.key(0), sizes)
    spectrum = decay ** jnp.arange(DIMENSION)
    difference = jnp.ones(DIMENSION) / jnp.sqrt(DIMENSION)
    fixed = drawn.replace(
        spectrum=spectrum,
        scale=jnp.ones(()),
        uniform=jnp.zeros(()),
        tilt=jnp.zeros(()),
        difference=difference,
    )
    keys = jax.random.split(jax.random.key(1), DRAWS)

    def at(count: Array) -> Curves:
        x = fixed.replace(samples=count, surplus=DIMENSION - count)
        risks = jax.vmap(lambda key: rows.drawn(x, key).risk)(keys)
        size = constant * covariance_estimation(spectrum, delta, count)
        return Curves(
            jnp.quantile(risks, 1 - jnp.exp(-delta)),
            jnp.min(rows.total(rows.bound_terms(x, size))),
            jnp.sum(difference**2),
        )

    return jax.lax.map(at, jnp.asarray(COUNTS))


def panels(values: Mapping[str, float]) -> Sequence[Panel]:
    """The risk and its bounds against the number of samples."""
    found = curves(values["delta"], values["constant"], values["decay"])
    counts = COUNTS.astype(float)
    return [
        Panel(
            "number of samples n",
            "population risk R",
            [
                Series(
                    "all but exp(−δ) of the draws stay below", Role.SIMULATION, counts, found.risk
                ),
                Series("Eq. 3, best m", Role.BOUND, counts, found.bound),
                Series("what any risk stays below", Role.BOUND, counts, found.trivial),
            ],
            log_y=True,
        )
    ]


scene = Scene(
    title="More samples lower the risk, and the bound far above it",
    caption=(
        f"Fine-tuning on n normal samples in dimension {DIMENSION}: the risk that only a share "
        f"exp(−δ) of {DRAWS} draws exceeds, and Eq. 3, which holds with that probability for some "
        "constant c. The constant is not printed; 5 suffices, and makes the bound larger than any "
        "risk can be. Move it down to see where the bound breaks: such a c is not large enough."
    ),
    panels=panels,
    sliders={
        "constant": Slider("constant c of the bound", 0.05, 5.0, 5.0, log=True),
        "delta": Slider("δ, of the probability 1 − exp(−δ)", 1.0, 4.0, 2.0),
        "decay": Slider("ratio of neighbouring eigenvalues", 0.4, 1.0, 0.7),
    },
    family=("constant", (0.05, 0.2, 1.0, 5.0)),
)
