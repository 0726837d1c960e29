"""A small language model: pre-trained on English for ever longer, then perturbed or fine-tuned.

In the place of OLMo-30M on C4 stands a model of bigrams of characters (embedding, one ReLU layer,
output) on the text of Python's help, in that of StarCoder the text of Python's library. Batches are
drawn from the texts' tables of pairs without end, and losses are exact over these tables, in nats
above the entropy of the text. Every budget is a run of its own, of AdamW with warm-up and cosine,
from the same start and, step by step, on the same draws.
"""

from functools import cache

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from theorysim import claims
from theorysim.data import text
from theorysim.numerics.descent import descend_to
from theorysim.numerics.schedules import adamw
from theorysim.numerics.statistics import of_the_others

# AdamW of pre-training.
PRETRAINING_RATE, DECAY, BATCH = 3e-3, 1e-4, 128
FIRST_BUDGET = 64

SPACE = claims.Space(
    budgets=claims.Size(10, low=2, high=40),
    characters=claims.Size(48, low=8),
    embedding=claims.Size(32),
    width=claims.Size(64),
)
PAPER_SIZES = {"budgets": 16, "characters": 56, "embedding": 128, "width": 512}
"""wider, and sixty times longer: the model stays one of bigrams"""

Table = Float[Array, "characters characters"]


@cache
def _table(size: int, programs: bool) -> np.ndarray:
    english = text.english()
    return text.pairs(text.programs() if programs else english, text.vocabulary(english, size))


def english(x: claims.Instance) -> Table:
    """The pairs of the text of pre-training, in its most frequent characters."""
    return jnp.asarray(_table(x.characters, False), jnp.float32)


def programs(x: claims.Instance) -> Table:
    """The pairs of the text of fine-tuning, in the same characters."""
    return jnp.asarray(_table(x.characters, True), jnp.float32)


def budgets(x: claims.Instance) -> Int[Array, "budgets"]:
    """Steps of pre-training: 64, 128, 256, ..."""
    return FIRST_BUDGET * 2 ** jnp.arange(x.budgets)


def work(x: claims.Instance) -> float:
    """Multiplications of pre-training at all budgets, forwards and twice as many backwards."""
    steps = FIRST_BUDGET * (2**x.budgets - 1)
    return 3.0 * steps * BATCH * x.width * (x.embedding + x.characters)


class Model(eqx.Module):
    """Logits of the next character from the last one."""

    embedding: eqx.nn.Embedding
    hidden: eqx.nn.Linear
    output: eqx.nn.Linear

    def __init__(self, x: claims.Instance, key: Array):
        first, second, third = jax.random.split(key, 3)
        self.embedding = eqx.nn.Embedding(x.characters, x.embedding, key=first)
        self.hidden = eqx.nn.Linear(x.embedding, x.width, key=second)
        self.output = eqx.nn.Linear(x.width, x.characters, key=third)

    def __call__(self, character: Int[Array, ""]) -> Float[Array, "characters"]:
        """The logits after one character."""
        return self.output(jax.nn.relu(self.hidden(self.embedding(character))))


def excess(model: Model, table: Table) -> Float[Array, ""]:
    """The cross-entropy over a text above the text's own entropy, in nats: a KL divergence."""
    given = jnp.log(table / jnp.sum(table, axis=1, keepdims=True))
    told = jax.nn.log_softmax(jax.vmap(model)(jnp.arange(len(table))))
    return jnp.sum(table * (given - told))


def trained(
    start: Model,
    table: Table,
    steps: Int[Array, ""],
    rate: float | Float[Array, ""],
    key: Array,
    decay: float = DECAY,
    batch: int = BATCH,
) -> Model:
    """The model after so many steps on batches of pairs of a text."""
    reached = jnp.cumsum(table.ravel())

    def pairs(step: Int[Array, ""]) -> tuple[Array, Array]:
        chance = jax.random.uniform(jax.random.fold_in(key, step), (batch,)) * reached[-1]
        return jnp.divmod(jnp.searchsorted(reached, chance), len(table))

    def loss(model: Model, drawn: tuple[Array, Array]) -> Float[Array, ""]:
        told = jax.nn.log_softmax(jax.vmap(model)(drawn[0]))
        return -jnp.mean(jnp.take_along_axis(told, drawn[1][:, None], axis=1))

    return descend_to(loss, start, adamw(rate, steps, decay), steps, batches=pairs)


def pretrained(x: claims.Instance, key: Array) -> tuple[Model, Model]:
    """The start, and the models of all budgets (stacked), each after its own run."""
    start = Model(x, jax.random.fold_in(key, 0))
    run = jax.random.fold_in(key, 1)
    table = english(x)
    return start, jax.lax.map(
        lambda steps: trained(start, table, steps, PRETRAINING_RATE, run), budgets(x)
    )


def only_first(models: Model) -> Model:
    """The null in which every model has the first budget."""
    return jax.tree.map(lambda leaf: jnp.broadcast_to(leaf[:1], leaf.shape), models)


def at_the_best(losses: Float[Array, "run *rest budget"]) -> Float[Array, "run *rest"]:
    """The loss at the budget that is the best one of the other runs: no run picks its own luck."""
    best = jnp.argmin(of_the_others(losses), axis=-1)
    return jnp.take_along_axis(losses, best[..., None], axis=-1)[..., 0]
