"""Risk of a wide ReLU network along fine-tuning, and how its labels fit the tangent kernel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from theorysim.numerics.kernels import tangent_gram
from theorysim.scenes.kernel import kernel
from theorysim.scenes.scene import Panel, Role, Scene, Series, Slider
from theorysim.systems import two_layer_relu as relu
from theorysim.systems import two_layer_relu_limit as relu_limit

DIMENSION, SAMPLES, POINTS, WIDTH = 16, 12, 200, 512
STEPS, EVERY = 60, 3
SHARE = 0.1  # of the largest stable learning rate


class Curves(NamedTuple):
    """Mean of min(1, |error|) on all inputs along descent, and the first term of Eq. 11."""

    infinite: Float[Array, " times"]
    finite: Float[Array, " times"]
    bound: Float[Array, ""]


@kernel()
def curves(distance: Any, frequency: Any) -> Curves:
    """A network that knows a linear source exactly, and a wave around it as the new task."""
    keys = jax.random.split(jax.random.key(0), 4)
    population = jax.random.normal(keys[0], (POINTS, DIMENSION))
    population /= jnp.linalg.norm(population, axis=1, keepdims=True)
    samples = population[:SAMPLES]
    source, field = jax.random.normal(keys[1], (2, DIMENSION))
    source, field = source / jnp.linalg.norm(source), field / jnp.linalg.norm(field)
    change = distance * jnp.sin(frequency * jnp.sqrt(DIMENSION) * population @ field)
    labels = population @ source + change

    gram, cross = tangent_gram(samples, samples), tangent_gram(population, samples)
    rate = SHARE * relu_limit.largest_learning_rate(gram, "mean")
    start = relu.initialise_linear(keys[2], WIDTH, source, 1.0)

    def risk(errors: Array) -> Array:
        return jnp.mean(jnp.minimum(jnp.abs(errors), 1))

    def infinite(steps: Array) -> Array:
        flow = relu_limit.kernel_descent(gram, change[:SAMPLES], 2 / SAMPLES * rate, steps)
        return risk(change - cross @ flow.coefficients)

    finite = relu.train(
        start,
        relu.Task(samples, labels[:SAMPLES]),
        rate,
        STEPS,
        normalisation="mean",
        record=lambda network: risk(labels - relu.outputs(network, population)),
        every=EVERY,
    )
    times = EVERY * jnp.arange(STEPS // EVERY + 1)
    bound = 2 * relu_limit.complexity(gram, change[:SAMPLES])
    return Curves(jax.vmap(infinite)(times), finite, bound)


def panels(values: Mapping[str, float]) -> Sequence[Panel]:
    """The risk against the step."""
    found = curves(values["distance"], values["frequency"])
    steps = EVERY * np.arange(STEPS // EVERY + 1.0)
    return [
        Panel(
            "step of fine-tuning",
            "mean of min(1, |error|) over all inputs",
            [
                Series("infinite width", Role.PREDICTION, steps, found.infinite),
                Series(f"descent at width {WIDTH}", Role.SIMULATION, steps, found.finite),
                Series(
                    "Eq. 11, first term", Role.BOUND, steps, np.full(len(steps), float(found.bound))
                ),
            ],
            log_y=True,
        )
    ]


scene = Scene(
    title="A wide network's risk is bounded by how far the tasks are apart",
    caption=(
        f"A ReLU network that knows a linear source is fine-tuned on {SAMPLES} samples of a task "
        "that differs from it by a wave. Eq. 11 bounds the risk at the end of training by how the "
        "difference fits the tangent kernel, plus a sampling term, which is left out here. The "
        "nearer the tasks, the smaller both."
    ),
    panels=panels,
    sliders={
        "distance": Slider("height of the wave between the tasks", 0.05, 1.0, 0.4, log=True),
        "frequency": Slider("frequency of the wave", 0.2, 3.0, 1.0, log=True, steps=7),
    },
    family=("distance", (0.05, 0.2, 0.8)),
)
