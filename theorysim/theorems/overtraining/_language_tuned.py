"""The small language model, fine-tuned on another text.

From every budget of pre-training, at every learning rate of a ladder from 1/65 to 15 times that of
pre-training (in print 1/75 to 20 times); with AdamW, warm-up and cosine, without decay. In print
batches are of 64 and there are 4 epochs with early stopping; here 200 steps on batches of 32,
drawn without end, and the last one counts.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float

from theorysim.theorems.overtraining import _language as language
from theorysim.theorems.overtraining._language_along import Along, along

RATES = tuple(1e-4 * 10 ** (k / 3) for k in range(-1, 9))
STEPS, BATCH = 200, 32


class Tuned(NamedTuple):
    """Excess losses on the old text and the new, and how far the parameters went, |.|_2.

    `towards` is the loss on the old text along the way, whose end is lambda = 1.
    """

    pre: Float[Array, "budget rate"]
    ft: Float[Array, "budget rate"]
    distance: Float[Array, "budget rate"]
    towards: Along


def tuned(
    models: language.Model,
    old: language.Table,
    new: language.Table,
    rates: tuple[float, ...],
    keys: Array,
    at: language.Model | None = None,
) -> Tuned:
    """Fine-tuning of every model at every rate, with the key of each.

    Taylor polynomials are about `at`, or the model.
    """

    def one(model: language.Model, rate: Array, key: Array) -> Tuned:
        steps = jnp.asarray(STEPS)
        end = language.trained(model, new, steps, rate, key, decay=0.0, batch=BATCH)
        direction = optax.tree.sub(end, model)
        return Tuned(
            pre=language.excess(end, old),
            ft=language.excess(end, new),
            distance=optax.tree.norm(direction),
            towards=along(model, direction, old, model if at is None else at),
        )

    def of_budget(model: language.Model) -> Tuned:
        each = jnp.asarray(rates, jnp.float32), keys
        return jax.lax.map(lambda drawn: one(model, *drawn), each)

    return jax.lax.map(of_budget, models)
