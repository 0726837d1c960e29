"""Features against time in pre-training from small weights, and how near each stage comes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from theorysim.scenes.kernel import kernel
from theorysim.scenes.overtraining._spectra import pre_spectrum
from theorysim.scenes.scene import Panel, Role, Scene, Series, Slider
from theorysim.systems import linear_modes, two_layer_linear

COUNT = 4
STEPS, EVERY = 9000, 180


class Curves(NamedTuple):
    """Features and distances to the stages 1, ..., COUNT, along the flow and along descent."""

    times: Float[Array, " times"]
    exact: Float[Array, "times modes"]
    descended: Float[Array, "times modes"]
    exact_distance: Float[Array, "times stages"]
    distance: Float[Array, "times stages"]


@kernel()
def curves(tau: Any, decay: Any) -> Curves:
    """Gradient flow of separate modes in closed form, and descent of both factors."""
    features = pre_spectrum(decay, COUNT)
    until = (tau + 2.5) / (2 * features[-1])
    rate = until / STEPS
    start = two_layer_linear.Factors(*(jnp.exp(-tau) * jnp.eye(COUNT),) * 2)
    path = two_layer_linear.pretrain(start, jnp.diag(features), rate, STEPS, every=EVERY)
    theta = two_layer_linear.product(path)
    times = rate * EVERY * jnp.arange(len(theta))
    exact = jax.vmap(lambda time: linear_modes.growth(time, features, tau))(times)
    goals = jnp.tril(jnp.ones((COUNT, COUNT))) * features

    def distance(products: Array) -> Array:
        missed = products[:, None] - jax.vmap(jnp.diag)(goals)
        return jnp.linalg.norm(missed, axis=(-2, -1))

    exact_distance = distance(jax.vmap(jnp.diag)(exact))
    descended = jnp.diagonal(theta, axis1=1, axis2=2)
    return Curves(times, exact, descended, exact_distance, distance(theta))


def panels(values: Mapping[str, float]) -> Sequence[Panel]:
    """Features, and the distance to each stage."""
    found = curves(values["tau"], values["decay"])

    def series(exact: np.ndarray, descended: np.ndarray, name: str) -> list[Series]:
        return [
            Series(label, role, found.times, curve[:, n])
            for n in range(COUNT)
            for label, role, curve in (
                (f"{name} {n + 1}", Role.PREDICTION, exact),
                ("", Role.SIMULATION, descended),
            )
        ]

    return [
        Panel(
            "time",
            "learned feature (Uᵀ θ V)ₙₙ",
            series(found.exact, found.descended, "feature"),
            title="Features appear one after the other",
        ),
        Panel(
            "time",
            "distance of θ to its first n features",
            series(found.exact_distance, found.distance, "stage"),
            title="θ passes every stage",
            log_y=True,
        ),
    ]


scene = Scene(
    title="From small weights, features are learned one after the other",
    caption=(
        "A two-layer linear network learns a matrix with four singular values from both factors "
        "exp(−τ) I. Lines: gradient flow in closed form. Points: gradient descent. Right: the "
        "Frobenius distance of θ to the matrix with the first n features alone. A larger "
        "τ or a larger gap between the features makes the visits longer and closer."
    ),
    panels=panels,
    sliders={
        "tau": Slider("initial weights exp(−τ), τ", 2.0, 20.0, 10.0),
        "decay": Slider("ratio of neighbouring features", 0.3, 0.8, 0.5),
    },
)
