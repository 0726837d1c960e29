"""Steps until the direction is found, against the dimension and the error."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from theorysim.scenes.kernel import kernel
from theorysim.scenes.scene import Panel, Role, Scene, Series
from theorysim.theorems.low_rank._recovery_time import DIMENSION, EPSILON, Recovery
from theorysim.theorems.low_rank.theorem_4 import EVEN, ODD, theorem

DIMENSIONS = np.array([8.0, 11.0, 16.0, 23.0, 32.0, 45.0, 64.0])
EPSILONS = np.array([0.22, 0.26, 0.3, 0.35, 0.4])
RUNS = 5


class Curves(NamedTuple):
    """Steps at every dimension or error: of the population's flow, and of runs."""

    flow: Float[Array, " values"]
    runs: Float[Array, " values"]


@kernel()
def curves() -> dict[str, tuple[Curves, Curves]]:
    """Over the dimension and over the error, at the printed learning rates."""
    # The first key with signs for which |h(0)| is not small, of either activation.
    drawn = theorem.space.sample(jax.random.key(1), theorem.space.default_sizes())
    keys = jax.random.split(jax.random.key(0), RUNS)

    def at(recovery: Recovery, dimension: Any, epsilon: Any) -> Curves:
        x = drawn.replace(epsilon=1.0 * epsilon, dimension=1.0 * dimension)
        first, last = 1 / jnp.sqrt(x.dimension), jnp.sqrt(1 - x.epsilon)
        flow = recovery.setting.flow_time(x, first, last) / recovery.rate(x)
        return Curves(flow, jnp.median(jax.vmap(lambda key: recovery.steps(x, key))(keys)))

    def both(recovery: Recovery) -> tuple[Curves, Curves]:
        return (
            jax.vmap(lambda d: at(recovery, d, EPSILON))(jnp.asarray(DIMENSIONS)),
            jax.vmap(lambda e: at(recovery, DIMENSION, e))(jnp.asarray(EPSILONS)),
        )

    return {"ReLU": both(ODD), "|a|": both(EVEN)}


once = cache(curves)  # it takes runs of 10^4 steps, and no numbers


def _panel(label: str, x: np.ndarray, found: Mapping[str, Curves], law: Series) -> Panel:
    series = [
        entry
        for name, curves in found.items()
        for entry in (
            Series(f"{name}: population's flow", Role.PREDICTION, x, curves.flow),
            Series(f"{name}: median of {RUNS} runs", Role.SIMULATION, x, curves.runs),
        )
    ]
    y_label = "steps until ⟨û, u⟩² ≥ 1 − ε"
    return Panel(label, y_label, [*series, law], log_x=True, log_y=True)


def panels(values: Mapping[str, float]) -> Sequence[Panel]:
    """Steps against the dimension, and against the error."""
    found = once()
    over_d, over_epsilon = ({n: pair[i] for n, pair in found.items()} for i in range(2))
    first, last = over_d["ReLU"].flow[0], over_epsilon["ReLU"].flow[-1]
    d_law = first * DIMENSIONS / DIMENSIONS[0]
    epsilon_law = last * (EPSILONS / EPSILONS[-1]) ** -4
    return [
        _panel(
            f"dimension d, at ε = {EPSILON:g}",
            DIMENSIONS,
            over_d,
            Series("∝ d, logarithms left out", Role.BOUND, DIMENSIONS, d_law),
        ),
        _panel(
            f"error ε, at d = {DIMENSION:g}",
            EPSILONS,
            over_epsilon,
            Series("∝ 1 / ε⁴", Role.BOUND, EPSILONS, epsilon_law),
        ),
    ]


scene = Scene(
    title="Recovery takes about d / ε⁴ steps, whatever the activation",
    caption=(
        "Online SGD on the direction of a rank-one perturbation, at the learning rate of Theorem 4 "
        "up to its constant, with 5 neurons. ReLU has a linear part (μ₁ ≠ 0), the absolute value "
        "has none, and both are as fast: the exponent of d is 1. The dashed lines are the printed "
        "orders, drawn through the first point on the left and the last one on the right."
    ),
    panels=panels,
)
