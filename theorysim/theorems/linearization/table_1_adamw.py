"""Trained anew as the paper trains: an adapter, cross-entropy, AdamW.

The table of Section 6 of Afzal et al. (2025), RoBERTa with LoRA on CoLA and SST-2: "They transfer
their findings into MSE to cross-entropy, and GD to AdamW". Here a tanh network that was pretrained
on digits is fine-tuned on another question about them, on batches of 16, in an adapter B A of rank
2 on its first layer; AdamW's decoupled decay pulls to the start. No theorem of the paper speaks of
this training. The claims are those of table-1-full.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import optax
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.numerics.descent import descend_to
from theorysim.numerics.schedules import warm_up_and_cosine
from theorysim.theorems.linearization import _digits as digits
from theorysim.theorems.linearization import _table as table
from theorysim.theorems.linearization._table import Null
from theorysim.theorems.linearization.table_1 import STRENGTHS

RATE, BATCH = 2e-3, 16


class Rows(NamedTuple):
    """The table's rows on the examples, and the accuracy on test images."""

    distance: Float[Array, "strength"]
    gap: Float[Array, "strength"]
    shuffled_gap: Float[Array, "strength"]
    divergence: Float[Array, "strength"]
    accuracy: Float[Array, "strength"]
    change: Float[Array, "strength"]


def ladder(null: Null = Null.NONE) -> Callable[[claims.Instance, Array], Rows]:
    """Pretraining, and fine-tuning at every strength, on the same batches."""
    return lambda x, key: _ladder(x, key, null)


def _ladder(x: claims.Instance, key: Array, null: Null) -> Rows:
    task = digits.task(x, key)
    (model, start), _ = table.adapter(task, jax.random.fold_in(key, 2))
    flat, back = ravel_pytree(start)
    order, other = table.orders(flat.size, null, key)

    def told(moved: Float[Array, " parameters"], inputs: Array) -> Float[Array, "n"]:
        return digits.outputs(model, back(flat + moved), inputs)

    def batch(step: Array) -> digits.Examples:
        of_step = jax.random.fold_in(jax.random.fold_in(key, 3), step)
        drawn = jax.random.randint(of_step, (BATCH,), 0, x.examples)
        return digits.Examples(task.train.inputs[drawn], task.train.targets[drawn])

    def loss(moved: Array, batch: digits.Examples) -> Float[Array, ""]:
        return jnp.mean(
            optax.sigmoid_binary_cross_entropy(told(moved, batch.inputs), (batch.targets + 1) / 2)
        )

    nowhere, rate = jnp.zeros_like(flat), warm_up_and_cosine(RATE, x.steps)
    first, tangent = jax.linearize(lambda moved: told(moved, task.train.inputs), nowhere)

    def at(strength: Array) -> Rows:
        optimiser = optax.chain(
            optax.scale_by_adam(),
            optax.add_decayed_weights(strength),
            optax.scale_by_schedule(lambda step: -rate(step)),
        )
        moved = descend_to(loss, nowhere, optimiser, x.steps, batches=batch)
        bent, straight = told(moved, task.train.inputs), first + tangent(moved[order])
        tested = told(moved, task.test.inputs)
        return Rows(
            distance=jnp.linalg.norm(moved),
            gap=jnp.linalg.norm(bent - straight),
            shuffled_gap=jnp.linalg.norm(bent - first - tangent(moved[other])),
            divergence=table.divergence(bent, straight),
            accuracy=digits.accuracy(tested, task.test.targets),
            change=jnp.linalg.norm(bent - first),
        )

    return jax.vmap(at)(table.shuffled(jnp.asarray(STRENGTHS), null, Null.STRENGTHS, key))


theorem = claims.Experiment(
    space=digits.sizes(steps=claims.Size(1000, low=10, high=1_000_000)),
    simulate=ladder(),
    claims=table.CLAIMS,
    source=table.SOURCE,
    note="an adapter of a small network on digits, for RoBERTa with LoRA",
    mutants=table.nulls(ladder),
    data=("digits",),
    axes=table.axes,
)
