"""The overlap along a fixed number of steps, in more and more dimensions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from theorysim.scenes.kernel import kernel
from theorysim.scenes.scene import Panel, Role, Scene, Series, Slider
from theorysim.systems import rank_one_chain as chain
from theorysim.systems.rank_one_overlap import overlap_flow
from theorysim.theorems.low_rank.theorem_5 import EVEN, theorem

STEPS, EVERY, RUNS = 2000, 100, 8


class Curves(NamedTuple):
    """<u^, u> along the population's flow, and along runs."""

    flow: Float[Array, " times"]
    runs: Float[Array, " times"]


@kernel()
def curves(dimension: Any, scale: Any) -> Curves:
    """|a| on orthonormal features; STEPS steps take the flow past an overlap of 0.95."""
    drawn = theorem.space.sample(jax.random.key(0), theorem.space.default_sizes())
    x = drawn.replace(dimension=1.0 * dimension, xi_bar=1.0 * scale)
    given, activation = EVEN.setting.reduced(x), EVEN.setting.activation()
    first = 1 / jnp.sqrt(x.dimension)
    duration = EVEN.setting.flow_time(x, first, 0.95)
    times = jnp.linspace(0, duration, STEPS // EVERY + 1)
    flow = jnp.tanh(overlap_flow(EVEN.setting.problem(x), activation, jnp.arctanh(first), times))

    def run(key: Array) -> Array:
        start, rate = chain.begin(given, first), duration / STEPS
        path = chain.run(given, activation.value, start, x.dimension, rate, STEPS, key, every=EVERY)
        return path.overlap

    runs = jax.vmap(run)(jax.random.split(jax.random.key(1), RUNS))
    return Curves(flow, jnp.median(runs, axis=0))


def panels(values: Mapping[str, float]) -> Sequence[Panel]:
    """The overlap against the step."""
    found = curves(values["dimension"], values["scale"])
    steps = EVERY * np.arange(STEPS // EVERY + 1.0)
    return [
        Panel(
            "step of online SGD",
            "overlap with the teacher's direction, ⟨û, u⟩",
            [
                Series("population's flow", Role.PREDICTION, steps, found.flow),
                Series(f"median of {RUNS} runs", Role.SIMULATION, steps, found.runs),
            ],
        )
    ]


scene = Scene(
    title="Recovery takes a number of steps that grows with the dimension",
    caption=(
        f"Rank-one fine-tuning by {STEPS} steps of online SGD, whose learning rate is such that "
        "the population's flow gets to an overlap of 0.95. Where steps outnumber dimensions by "
        "far, runs follow the flow. In too many dimensions the noise of single samples keeps them "
        "from the direction: more, smaller steps are needed, in proportion to d."
    ),
    panels=panels,
    sliders={
        "dimension": Slider("dimension d", 8.0, 1000.0, 30.0, log=True),
        "scale": Slider("scale of the perturbation, ξ / √k", 0.35, 0.6, 0.5),
    },
    family=("dimension", (8.0, 30.0, 100.0, 400.0)),
)
