"""The small language model, perturbed by Gaussian noise.

Noise is gamma times the spread of a matrix at initialisation; biases are left alone, and all
budgets meet the same draws of it.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim.theorems.overtraining import _language as language

SCALES = (0.1, 0.2, 0.3, 0.5, 0.8)
DRAWS = 32


def noise(start: language.Model, key: Array) -> language.Model:
    """Normal noise of the spread of each matrix of a fresh model; none on biases."""
    leaves, structure = jax.tree.flatten(start)
    keys = jax.random.split(key, len(leaves))
    drawn = [
        jnp.std(leaf) * jax.random.normal(k, leaf.shape) * (leaf.ndim > 1)
        for leaf, k in zip(leaves, keys, strict=True)
    ]
    return jax.tree.unflatten(structure, drawn)


def losses(
    start: language.Model, models: language.Model, table: language.Table, key: Array
) -> Float[Array, "gamma budget"]:
    """The mean excess loss over draws of noise of every scale."""
    noises = jax.vmap(lambda k: noise(start, k))(jax.random.split(key, DRAWS))

    def of_draw(model: language.Model, gamma: Array, draw: language.Model) -> Float[Array, ""]:
        moved = eqx.apply_updates(model, jax.tree.map(lambda n: gamma * n, draw))
        return language.excess(moved, table)

    def of_budget(model: language.Model) -> Float[Array, "gamma"]:
        over_draws = jax.vmap(of_draw, (None, None, 0))
        over_scales = jax.vmap(lambda gamma: jnp.mean(over_draws(model, gamma, noises)))
        return over_scales(jnp.asarray(SCALES, jnp.float32))

    return jax.lax.map(of_budget, models).T
