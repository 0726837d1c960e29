"""The time that recovery takes against the size of the readouts, and the time that is allowed."""

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
from theorysim.theorems.low_rank.theorem_6 import SEPARATED, theorem

SIZES = np.geomspace(0.3, 3, 19)
SHAPE = {"k": 20, "ambient": 200}


class Curves(NamedTuple):
    """Time of the population's flow to u, and eta T as printed and as corrected."""

    needed: Float[Array, " sizes"]
    printed: Float[Array, " sizes"]
    corrected: Float[Array, " sizes"]


@kernel()
def curves(epsilon: Any, dimension: Any) -> Curves:
    """Readouts of growing size; gamma is the largest that the signs allow."""
    drawn = theorem.space.sample(jax.random.key(0), theorem.space.default_sizes(**SHAPE))
    at_zero = SEPARATED.start_speed(SEPARATED.problem(drawn))
    gamma = at_zero * jnp.sqrt(drawn.k) / jnp.min(drawn.readout) ** 2
    given = drawn.replace(gamma=gamma, epsilon=1.0 * epsilon, dimension=1.0 * dimension)

    def at(size: Array) -> Curves:
        x = given.replace(size=size)
        run = claims.Run(x, (), theorem.simulate(x, jax.random.key(0)))
        (printed,), (corrected,) = theorem.claims, theorem.reading("eta corrected").claims
        return Curves(run.sim, printed.rhs(run), corrected.rhs(run))

    return jax.vmap(at)(jnp.asarray(SIZES))


def panels(values: Mapping[str, float]) -> Sequence[Panel]:
    """Times against the size of the readouts."""
    found = curves(values["epsilon"], values["dimension"])
    return [
        Panel(
            "size of the readouts λᵢ",
            "time: steps times the learning rate",
            [
                Series("needed by the population's flow", Role.SIMULATION, SIZES, found.needed),
                Series("allowed, as printed: η ∝ λ_max⁴", Role.BOUND, SIZES, found.printed),
                Series("allowed, corrected: η ∝ 1 / λ_max⁴", Role.BOUND, SIZES, found.corrected),
            ],
            log_x=True,
            log_y=True,
        )
    ]


scene = Scene(
    title="With the printed learning rate small readouts run out of time",
    caption=(
        "Theorem 6 takes T steps of size η. The points are the time ηT that the direction u needs "
        "when there is no noise at all, and must lie below the line. With λ_max⁴ in the numerator "
        "of η they do not where readouts are small. In the denominator, as in Theorem 4, it makes "
        "the allowed time follow the needed one."
    ),
    panels=panels,
    sliders={
        "epsilon": Slider("error ε of the square of the overlap", 0.16, 0.4, 0.3, log=True),
        "dimension": Slider("dimension d", 24.0, 64.0, 40.0, log=True),
    },
)
