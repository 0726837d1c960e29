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
EPSILONS = np.array([0.4, 0.3, 0.27, 0.25])
RUNS = 5


class Curves(NamedTuple):
    """Steps at every dimension or error: of the population's flow, and of runs."""

    flow: Float[Array, " values"]
    runs: Float[Array, " values"]


@kernel()
def curves() -> tuple[dict[str, tuple[Curves, Curves]], Float[Array, " dimensions"]]:
    """Over the dimension and over the error, at the printed learning rates; log(l^4 d k^2)."""
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

    logarithm = jnp.log(jnp.max(drawn.readout) ** 4 * DIMENSIONS * drawn.k**2)
    return {"ReLU": both(ODD), "|a|": both(EVEN)}, logarithm


once = cache(curves)  # it takes runs of 10^4 steps, and no numbers


def _panel(
    label: str, x: np.ndarray, found: Mapping[str, Any], name: str, law: np.ndarray
) -> Panel:
    """Steps, and the law through the first of ReLU's flow."""
    series = [
        entry
        for activation, curves in found.items()
        for entry in (
            Series(f"{activation}: population's flow", Role.PREDICTION, x, curves.flow),
            Series(f"{activation}: median of {RUNS} runs", Role.SIMULATION, x, curves.runs),
        )
    ]
    through = found["ReLU"].flow[0] / law[0]
    bound = Series(name, Role.BOUND, x, through * law)
    return Panel(label, "steps until ⟨û, u⟩² ≥ 1 − ε", [*series, bound])


def panels(values: Mapping[str, float]) -> Sequence[Panel]:
    """Steps against the dimension, and against the error."""
    found, logarithm = once()
    over_d, over_epsilon = ({n: pair[i] for n, pair in found.items()} for i in range(2))
    return [
        _panel(
            f"dimension d, at ε = {EPSILON:g}",
            DIMENSIONS,
            over_d,
            "∝ d log³(λ_max⁴ d k²)",
            DIMENSIONS * logarithm**3,
        ),
        _panel(
            f"1 / ε⁴, at d = {DIMENSION:g}", EPSILONS**-4, over_epsilon, "∝ 1 / ε⁴", EPSILONS**-4
        ),
    ]


scene = Scene(
    title="Recovery takes at most of order d / ε⁴ steps",
    caption=(
        "Online SGD on the direction of a rank-one perturbation of 5 neurons, at the learning rate "
        "of Theorem 4 up to its constant. ReLU has a linear part (μ₁ ≠ 0), the absolute value has "
        "none, and both take about as long. The dashed lines are the printed orders with their "
        "logarithms, drawn through the first point of ReLU."
    ),
    panels=panels,
)
