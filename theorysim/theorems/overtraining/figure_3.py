"""The longer the pre-training, the more Gaussian noise on the parameters harms.

Figure 3 of Springer et al. (2025), for models of 30 million parameters on C4: the gap that noise of
scale gamma opens grows with the budget (left), and eventually the perturbed model itself is worse
(right); the larger gamma, the earlier. Here a model of bigrams of characters learns the text of
Python's help; noise is gamma times the spread of a matrix at initialisation, biases are left alone,
and all budgets meet the same draws of it.
"""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
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


def _without_budgets(x: claims.Instance, key: Array) -> Sensitivity:
    """The same where every model has the first budget."""
    start, models = language.pretrained(x, key)
    return _measured(x, start, language.only_first(models), key)


def _gap(r: claims.Run) -> Float[Array, "run gamma budget"]:
    return r.sim.perturbed - r.sim.base[:, None]


def _inflection(r: claims.Run) -> Float[Array, "run gamma"]:
    """log2 of the budget at which the perturbed loss is least, up to a constant."""
    return jnp.argmin(r.sim.perturbed, axis=-1).astype(float)


theorem = claims.Theorem(
    space=language.SPACE,
    simulate=simulate,
    claims=(
        claims.on_average(
            "the loss falls with the budget",
            lambda r: r.sim.base[:, 1:],
            lambda r: r.sim.base[:, :-1],
        ),
        claims.on_average(
            "left: the gap grows with the budget",
            lambda r: _gap(r)[..., :-1],
            lambda r: _gap(r)[..., 1:],
        ),
        claims.on_average(
            "right: eventually the perturbed model is worse",
            lambda r: language.at_the_best(r.sim.perturbed),
            lambda r: r.sim.perturbed[..., -1],
        ),
        claims.on_average(
            "right: the earlier, the larger gamma",
            lambda r: _inflection(r)[:, -1],
            lambda r: _inflection(r)[:, 0],
        ),
    ),
    source=claims.Printed(
        "Figure 3",
        "extending pre-training progressively increases the degree to which a Gaussian parameter "
        "perturbation degrades perplexity; eventually, this leads to overall worse pre-training "
        "perplexity",
    ),
    note="a model of bigrams of characters on Python's help, for OLMo-30M on C4",
    mutants=(claims.Mutant("every model has the first budget", simulate=_without_budgets),),
    empirical=True,
    keys=8,
    instances=1,
    axes=lambda x: {"budget": language.budgets(x), "gamma": SCALES},
    work=language.work,
    paper_sizes=language.PAPER_SIZES,
)
