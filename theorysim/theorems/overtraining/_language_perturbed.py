"""The small language model, perturbed by Gaussian noise: what Figure 3 looks at.

Noise is gamma times the spread of a matrix at initialisation; biases are left alone, and all
budgets meet the same draws of it.
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.theorems.overtraining import _language as language

SCALES = (0.1, 0.2, 0.3, 0.5, 0.8)
DRAWS = 32


class Sensitivity(NamedTuple):
    """The excess loss of every budget, and its mean over draws of noise of every scale."""

    base: Float[Array, "budget"]
    perturbed: Float[Array, "gamma budget"]


def _noise(start: language.Model, key: Array) -> language.Model:
    """Normal noise of the spread of each matrix of a fresh model; none on biases."""
    leaves, structure = jax.tree.flatten(start)
    keys = jax.random.split(key, len(leaves))
    drawn = [
        jnp.std(leaf) * jax.random.normal(k, leaf.shape) * (leaf.ndim > 1)
        for leaf, k in zip(leaves, keys, strict=True)
    ]
    return jax.tree.unflatten(structure, drawn)


def _measured(x: claims.Instance, start: language.Model, models: language.Model, key: Array):
    table = language.english(x)
    draws = jax.random.split(jax.random.fold_in(key, 2), DRAWS)
    noises = jax.vmap(lambda k: _noise(start, k))(draws)

    def perturbed(model: language.Model, gamma: Array) -> Float[Array, ""]:
        def one(noise: language.Model) -> Float[Array, ""]:
            return language.excess(
                eqx.apply_updates(model, jax.tree.map(lambda n: gamma * n, noise)), table
            )

        return jnp.mean(jax.vmap(one)(noises))

    def of_budget(model: language.Model) -> Sensitivity:
        scales = jnp.asarray(SCALES, jnp.float32)
        return Sensitivity(
            language.excess(model, table), jax.vmap(lambda g: perturbed(model, g))(scales)
        )

    base, gaps = jax.lax.map(of_budget, models)
    return Sensitivity(base, gaps.T)


def simulate(x: claims.Instance, key: Array) -> Sensitivity:
    """Pre-training at all budgets, and the loss with noise."""
    return _measured(x, *language.pretrained(x, key), key)


def without_budgets(x: claims.Instance, key: Array) -> Sensitivity:
    """The null in which every model has the first budget."""
    start, models = language.pretrained(x, key)
    return _measured(x, start, language.only_first(models), key)


def axes(x: claims.Instance) -> dict[str, object]:
    """Budgets in steps, and the scales gamma of the noise."""
    return {"budget": language.budgets(x), "gamma": np.asarray(SCALES)}
