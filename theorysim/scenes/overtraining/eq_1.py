"""How noise raises the loss, against its strength: exactly, and to second order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from theorysim.scenes.kernel import kernel
from theorysim.scenes.scene import Panel, Role, Scene, Series, Slider
from theorysim.systems import two_layer_linear

SIZE, DRAWS = 4, 2000
GAMMAS = np.geomspace(0.03, 3.0, 25)


class Curves(NamedTuple):
    """Rises of the loss: exact, by draws, and the quadratic approximation."""

    exact: Float[Array, " gammas"]
    sampled: Float[Array, " gammas"]
    quadratic: Float[Array, " gammas"]


@kernel()
def curves(first: Any, second: Any) -> Curves:
    """Noise of scale gamma s_j in W_j, around random weights and a random target."""
    keys = jax.random.split(jax.random.key(0))
    weights = jax.random.normal(keys[0], (3, SIZE, SIZE))
    factors, target = two_layer_linear.Factors(*weights[:2]), weights[2]
    scales = jnp.stack([1.0 * first, 1.0 * second])
    half = scales[:, None, None] * jax.random.normal(keys[1], (DRAWS // 2, 2, SIZE, SIZE))
    draws = jnp.concatenate([half, -half])
    norms = jnp.sum(weights[:2] ** 2, axis=(1, 2))
    linear = SIZE * jnp.sum(scales[::-1] ** 2 * norms)

    def loss(moved: Array) -> Array:
        return two_layer_linear.pretraining_loss(two_layer_linear.Factors(*moved), target)

    def sampled(gamma: Array) -> Array:
        moved = jax.vmap(loss)(jnp.stack(factors) + gamma * draws)
        return jnp.mean(moved - loss(jnp.stack(factors)))

    gammas = jnp.asarray(GAMMAS)
    quadratic = gammas**2 * linear
    quartic = SIZE**3 * gammas**4 * jnp.prod(scales**2)
    return Curves(quadratic + quartic, jax.lax.map(sampled, gammas), quadratic)


def panels(values: Mapping[str, float]) -> Sequence[Panel]:
    """The rise against gamma."""
    found = curves(values["first"], values["second"])
    return [
        Panel(
            "strength of the noise, γ",
            "expected rise of the loss",
            [
                Series("exact: second and fourth order", Role.PREDICTION, GAMMAS, found.exact),
                Series(f"mean of {DRAWS} draws", Role.SIMULATION, GAMMAS, found.sampled),
                Series("γ² Tr(Σ Hessian) / 2", Role.BOUND, GAMMAS, found.quadratic),
            ],
            log_x=True,
            log_y=True,
        )
    ]


scene = Scene(
    title="Noise raises the loss beyond its quadratic approximation",
    caption=(
        "Both layers of a two-layer linear network are disturbed by Gaussian noise at the scales "
        "of their initialisation, as in Eq. 1. The expected rise of the loss has a term of fourth "
        "order, which the trace of the Hessian does not see; strong noise makes it the larger one."
    ),
    panels=panels,
    sliders={
        "first": Slider("scale of the first layer, s₁", 0.1, 10.0, 1.0, log=True),
        "second": Slider("scale of the second layer, s₂", 0.1, 10.0, 1.0, log=True),
    },
)
