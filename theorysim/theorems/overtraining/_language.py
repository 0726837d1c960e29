"""A small language model: pre-trained on English for ever longer, then perturbed or fine-tuned.

In the place of OLMo-30M on C4 stands a model of bigrams of characters (embedding, one ReLU layer,
output) on the text of Python's help, in that of StarCoder the text of Python's library. Batches are
drawn from the texts' tables of pairs without end, and losses are exact over these tables, in nats
above the entropy of the text: the logarithm of a perplexity, up to a constant, where the paper has
perplexities. Every budget is a run of its own, of AdamW with warm-up and cosine, from the same
start and, step by step, on the same draws; its rate and weight decay are ours (in print 3e-4 and
0.1, with muP, which a single width does not need).
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from theorysim import claims
from theorysim.data import text
from theorysim.numerics.descent import descend_to
from theorysim.numerics.schedules import adamw

# AdamW of pre-training.
PRETRAINING_RATE, DECAY, BATCH = 3e-3, 1e-4, 128
FIRST_BUDGET = 64

SPACE = claims.Space(
    # Steps are counted in 32 bits: the 26th budget has 2^31 of them, one too many.
    budgets=claims.Size(10, low=2, high=25),
    # The text of Python's help has about 75 different characters, by version.
    characters=claims.Size(48, low=8, high=64),
    embedding=claims.Size(32, low=4),
    width=claims.Size(64, low=8),
)
PAPER_SIZES = {"budgets": 16, "characters": 56, "embedding": 128, "width": 512}
"""wider, and sixty times longer: the model stays one of bigrams"""

Table = Float[Array, "characters characters"]


def _table(size: int, programs: bool) -> np.ndarray:
    english = text.english()
    return text.pairs(text.programs() if programs else english, text.vocabulary(english, size))


def mixture(x: claims.Instance, share: float) -> Table:
    """The pairs of a text that is so far one of programs, in the characters of the English one."""
    english, programs = (_table(x.characters, which) for which in (False, True))
    return jnp.asarray((1 - share) * english + share * programs, jnp.float32)


def english(x: claims.Instance) -> Table:
    """The pairs of the text of pre-training, in its most frequent characters."""
    return mixture(x, 0)


def budgets(x: claims.Instance) -> Int[Array, "budgets"]:
    """Steps of pre-training: 64, 128, 256, ..."""
    return FIRST_BUDGET * 2 ** jnp.arange(x.budgets)


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


def pretrained(x: claims.Instance, key: Array, steps: Int[Array, "budgets"]) -> tuple[Model, Model]:
    """The start, and the models of some budgets (stacked), each after its own run."""
    start = Model(x, jax.random.fold_in(key, 0))
    run = jax.random.fold_in(key, 1)
    table = english(x)
    return start, jax.lax.map(
        lambda budget: trained(start, table, budget, PRETRAINING_RATE, run), steps
    )
