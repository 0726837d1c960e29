"""One run of the small language model: what Figures 3 to 10 look at, and their nulls.

Pre-training on English at all budgets; then Gaussian noise, and fine-tuning on texts that are
programs by a share; the last of these texts is programs alone.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.numerics.copies import copies
from theorysim.theorems.overtraining import _language as language
from theorysim.theorems.overtraining import _language_along as along
from theorysim.theorems.overtraining import _language_perturbed as perturbed
from theorysim.theorems.overtraining import _language_tuned as tuned

# How much of the text of fine-tuning is programs; the rest is that of pre-training.
SHARES = (0.0, 1 / 8, 1 / 4, 1 / 2, 1.0)


class Study(NamedTuple):
    """Excess losses; `pre` is on the text of pre-training, `ft` on that of fine-tuning.

    `noisy` is the loss along one draw of noise of scale one, `towards` on the way to the model
    that was fine-tuned on programs, each with its Taylor polynomial and how far it is above that.
    """

    base: Float[Array, "budget"]
    perturbed: Float[Array, "gamma budget"]
    pre: Float[Array, "share rate budget"]
    ft: Float[Array, "share rate budget"]
    distance: Float[Array, "share rate budget"]
    noisy: Float[Array, "lambda budget"]
    noisy_taylor: Float[Array, "lambda budget"]
    noisy_above: Float[Array, "lambda budget"]
    towards: Float[Array, "lambda rate budget"]
    towards_taylor: Float[Array, "lambda rate budget"]
    towards_above: Float[Array, "lambda rate budget"]


def _studied(
    x: claims.Instance,
    key: Array,
    start: language.Model,
    models: language.Model,
    rates: tuple[float, ...] = tuned.RATES,
    at: language.Model | None = None,
    own_draws: bool = False,
) -> Study:
    """All that is measured of pre-trained models (stacked); polynomials about `at`, if given.

    Fine-tuning meets the same draws at all rates, or its `own_draws` at each.
    """
    table = language.english(x)
    noise_key, tuning_key = jax.random.fold_in(key, 2), jax.random.fold_in(key, 3)
    draw = perturbed.noise(start, jax.random.fold_in(key, 4))
    noisy = jax.lax.map(lambda m: along.along(m, draw, table, m if at is None else at), models)
    texts = jnp.stack([language.mixture(x, share) for share in SHARES])
    keys = jax.random.split(tuning_key, len(rates)) if own_draws else [tuning_key] * len(rates)
    ends = jax.lax.map(
        lambda text: tuned.tuned(models, table, text, rates, jnp.stack(list(keys)), at), texts
    )
    towards = jax.tree.map(lambda leaf: leaf[-1].T, ends.towards)
    return Study(
        base=jax.lax.map(lambda model: language.excess(model, table), models),
        perturbed=perturbed.losses(start, models, table, noise_key),
        pre=jnp.swapaxes(ends.pre, 1, 2),
        ft=jnp.swapaxes(ends.ft, 1, 2),
        distance=jnp.swapaxes(ends.distance, 1, 2),
        noisy=noisy.loss.T,
        noisy_taylor=noisy.taylor.T,
        noisy_above=noisy.above.T,
        towards=towards.loss,
        towards_taylor=towards.taylor,
        towards_above=towards.above,
    )


def simulate(x: claims.Instance, key: Array) -> Study:
    """Pre-training at all budgets, and all that is done to its models."""
    return _studied(x, key, *language.pretrained(x, key, language.budgets(x)))


def without_budgets(x: claims.Instance, key: Array) -> Study:
    """The null in which every model has the first budget, from a start and on draws of its own."""

    def one(key: Array) -> Study:
        return _studied(x, key, *language.pretrained(x, key, language.budgets(x)[:1]))

    return copies(one, key, x.budgets, axis=-1)


def without_rates(x: claims.Instance, key: Array) -> Study:
    """The null in which every run has the first rate, on draws of its own."""
    rates = tuned.RATES[:1] * len(tuned.RATES)
    start, models = language.pretrained(x, key, language.budgets(x))
    return _studied(x, key, start, models, rates, own_draws=True)


def untrained_curvature(x: claims.Instance, key: Array) -> Study:
    """The null in which the derivatives of all polynomials are those of the untrained model."""
    start, models = language.pretrained(x, key, language.budgets(x))
    return _studied(x, key, start, models, at=start)


def axes(x: claims.Instance) -> dict[str, object]:
    """Budgets in steps, scales of the noise, shares of programs, largest learning rates."""
    return {
        "budget": language.budgets(x),
        "gamma": np.asarray(perturbed.SCALES),
        "share": np.asarray(SHARES),
        "rate": np.asarray(tuned.RATES),
        "lambda": np.asarray(along.LAMBDAS),
    }


def work(x: claims.Instance) -> float:
    """Multiplications of all training, forwards and twice as many backwards."""
    pretraining = language.FIRST_BUDGET * (2**x.budgets - 1) * language.BATCH
    runs = len(SHARES) * len(tuned.RATES) * x.budgets
    inputs = pretraining + runs * tuned.STEPS * tuned.BATCH
    return 3.0 * inputs * x.width * (x.embedding + x.characters)


NO_BUDGETS = claims.Mutant("every model has the first budget", simulate=without_budgets)
NO_RATES = claims.Mutant("every run has the first rate", simulate=without_rates)

# What the experiments on this model have in common.
SETTING: dict[str, Any] = {
    "space": language.SPACE,
    "simulate": simulate,
    "data": ("english", "programs"),
    "axes": axes,
    "work": work,
    "paper_sizes": language.PAPER_SIZES,
}
