"""The small language model, fine-tuned on another text: what Figures 4 to 8 have in common.

From every budget of pre-training, at every learning rate of a ladder in whose midst that of
pre-training is; with AdamW, warm-up and cosine, without decay; 200 steps on batches of 32.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.theorems.overtraining import _language as language

RATES = tuple(1e-4 * 10 ** (k / 3) for k in range(9))
STEPS, BATCH = 200, 32


class Tuned(NamedTuple):
    """Excess losses on both texts, and how far the parameters went: |theta_ft - theta_pre|_2."""

    base: Float[Array, "budget"]
    pre: Float[Array, "rate budget"]
    ft: Float[Array, "rate budget"]
    distance: Float[Array, "rate budget"]


def axes(x: claims.Instance) -> dict[str, object]:
    """Budgets in steps, and the largest learning rate of each run."""
    return {"budget": language.budgets(x), "rate": np.asarray(RATES)}


def _tuned(
    x: claims.Instance,
    key: Array,
    models: language.Model,
    text: Callable[[claims.Instance], language.Table] = language.programs,
    rates: tuple[float, ...] = RATES,
) -> Tuned:
    own, other = language.english(x), text(x)
    draws = jax.random.fold_in(key, 3)

    def one(model: language.Model, rate: Array) -> tuple[Array, Array, Array]:
        steps = jnp.asarray(STEPS)
        end = language.trained(model, other, steps, rate, draws, decay=0.0, batch=BATCH)
        moved = jax.tree.map(lambda a, b: jnp.sum((a - b) ** 2), end, model)
        distance = jnp.sqrt(sum(jax.tree.leaves(moved)))
        return language.excess(end, own), language.excess(end, other), distance

    def of_budget(model: language.Model) -> tuple[Array, ...]:
        ends = jax.lax.map(lambda rate: one(model, rate), jnp.asarray(rates, jnp.float32))
        return language.excess(model, own), *ends

    base, pre, ft, distance = jax.lax.map(of_budget, models)
    return Tuned(base, pre.T, ft.T, distance.T)


def simulate(x: claims.Instance, key: Array) -> Tuned:
    """Pre-training at all budgets, then fine-tuning on programs at all rates."""
    return _tuned(x, key, language.pretrained(x, key)[1])


def on_the_same_text(x: claims.Instance, key: Array) -> Tuned:
    """The null in which fine-tuning goes on with the text of pre-training."""
    return _tuned(x, key, language.pretrained(x, key)[1], text=language.english)


def without_budgets(x: claims.Instance, key: Array) -> Tuned:
    """The null in which every model has the first budget."""
    return _tuned(x, key, language.only_first(language.pretrained(x, key)[1]))


def without_rates(x: claims.Instance, key: Array) -> Tuned:
    """The null in which every run has the first rate."""
    return _tuned(x, key, language.pretrained(x, key)[1], rates=RATES[:1] * len(RATES))
