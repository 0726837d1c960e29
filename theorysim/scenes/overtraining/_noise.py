"""The loss under Gaussian noise at every stage: in closed form, and as a mean over draws."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim.scenes.overtraining._spectra import pre_spectrum
from theorysim.systems import two_layer_linear
from theorysim.theorems.overtraining._stages import ideal_modes

COUNT = 8  # features
DRAWS = 4000  # in pairs of opposite sign


class Perturbed(NamedTuple):
    """L~(n) at the ideal stages n = 0, ..., COUNT."""

    exact: Float[Array, " stages"]
    sampled: Float[Array, " stages"]


def perturbed_losses(noise: Any, decay: Any) -> tuple[Float[Array, " features"], Perturbed]:
    """The features, and L~(n) for noise with 2 d gamma^2 = `noise` times the largest feature.

    All stages share their draws, and every draw comes with its negative.
    """
    features = pre_spectrum(decay, COUNT)
    gamma = jnp.sqrt(noise * features[0] / (2 * COUNT))
    target = jnp.diag(features)
    half = gamma * jax.random.normal(jax.random.key(0), (DRAWS // 2, 2, COUNT, COUNT))
    draws = jnp.concatenate([half, -half])

    def at_stage(modes: Array) -> tuple[Array, Array]:
        weights = two_layer_linear.Factors(jnp.diag(modes), jnp.diag(modes))
        exact = two_layer_linear.perturbed_loss(weights, target, gamma)

        def moved(draw: Array) -> Array:
            around = two_layer_linear.Factors(weights[0] + draw[0], weights[1] + draw[1])
            return two_layer_linear.pretraining_loss(around, target)

        return exact, jnp.mean(jax.vmap(moved)(draws))

    exact, sampled = jax.vmap(at_stage)(ideal_modes(features))
    return features, Perturbed(exact, sampled)
