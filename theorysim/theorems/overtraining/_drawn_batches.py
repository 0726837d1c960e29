"""Fine-tuning on batches of the size that item 4 of Assumption A.21 asks for, drawn from their law.

Springer et al. (2025). As printed item 4 asks for nothing once 10 d K delta >= e^d: batches of one
input satisfy it. Where it asks for something at the corrected sizes, it asks for batches of more
than 10^100 inputs, whose covariances are those of an infinite batch to the last digit.
"""

from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array

from theorysim import claims
from theorysim.numerics.products import dot
from theorysim.systems import batch_covariance
from theorysim.theorems.overtraining import _assumption_a_21 as a_21
from theorysim.theorems.overtraining import _stage_space as stage
from theorysim.theorems.overtraining import _stages as stages
from theorysim.theorems.overtraining._stages import Modes, Number, Products

# Every batch of every key is drawn: longer runs would take minutes.
MOST_STEPS, MOST_CORRECTED_STEPS = 128, 1024


@dataclass(frozen=True)
class UnionSizes(a_21.Sizes):
    """Item 4 corrected: d + log(K / delta), of a union bound over K batches, for its logarithm."""

    def log10_batch(self, x: claims.Instance, steps: Any) -> Number:
        """Item 4 as printed, for the failure that turns its d - log(10 d K delta) into that."""
        return super().log10_batch(x.replace(failure=x.failure / (10 * x.d * steps**2)), steps)


def united(sizes: a_21.Sizes, change: str) -> UnionSizes:
    """Sizes with the corrected item 4."""
    kept = {field.name: getattr(sizes, field.name) for field in fields(sizes)}
    return UnionSizes(**{**kept, "source": claims.Corrected(change)})


AS_PRINTED = replace(a_21.AS_PRINTED, most_steps=MOST_STEPS)
AS_LABELLED = replace(a_21.AS_LABELLED, most_steps=MOST_STEPS)
UNITED = united(AS_PRINTED, "d + log(K / delta) for d - log(10 d K delta) in item 4 of A.21")
ITEM_4_AS_PRINTED = replace(a_21.CORRECTED, most_steps=MOST_CORRECTED_STEPS)
ITEMS_3_AND_4 = (
    "items 3 and 4 of Assumption A.21: K >= log(100 / epsilon) / (eta min{pre_i, ft_i}), "
    "d + log(K / delta) for d - log(10 d K delta)"
)
CORRECTED = united(ITEM_4_AS_PRINTED, ITEMS_3_AND_4)
# For what is computed without drawing batches: these sizes make them infinite to the last digit.
CORRECTED_UNDRAWN = united(a_21.CORRECTED, ITEMS_3_AND_4)

# Rarer failures take more runs than are made.
FIELDS: dict[str, claims.Field] = {
    "failure": claims.Real(0.1, 0.9, log=True),
    "more_batch": claims.Real(0, 1),
}

# Batches are of at most so many inputs, which are drawn, or of so many at least, for which the law
# of large batches stands in: it differs by 10^-6.
FEW, LOG10_MANY = 10, 6.0

# What is wrong with item 4 as printed.
AS_INFINITE = "batches so large that their covariances are the identity to the last digit"
NO_BATCH = "item 4 of A.21 asks for no batch once 10 d K delta >= e^d: one input is enough"


def _asked(x: claims.Instance, sizes: a_21.Sizes) -> Number:
    """Item 4 at the run's steps; a run that is not made, since it is too long, counts as one."""
    return sizes.log10_batch(x, jnp.maximum(sizes.steps(x), 1))


def log10_batch(x: claims.Instance, sizes: a_21.Sizes) -> Number:
    """log10 m: what item 4 asks for, at least one input, or up to ten times as many."""
    asked = _asked(x, sizes) + x.more_batch
    return jnp.where(asked <= x.more_batch, x.more_batch, jnp.maximum(asked, LOG10_MANY))


def _covariance(key: Array, width: int, log10_size: Number) -> Array:
    few_key, many_key = jax.random.split(key)
    count = jnp.floor(jnp.power(10.0, jnp.minimum(log10_size, 1)))
    inputs = jax.random.normal(few_key, (FEW, width))
    kept = jnp.where(jnp.arange(FEW)[:, None] < count, inputs, 0)
    many = batch_covariance.asymptotic(many_key, width, log10_size)
    return jnp.where(log10_size > 1, many, dot(kept.T, kept) / count)


def covariances(x: claims.Instance, sizes: a_21.Sizes, key: Array) -> stages.Covariances:
    """Those of the run's batches, by step."""
    law = partial(_covariance, width=x.d, log10_size=log10_batch(x, sizes))
    return batch_covariance.stream(key, law)


def assumption(sizes: a_21.Sizes, strength=stage.pull_back) -> claims.Assumption:
    """Assumption A.21 with its item 4."""
    whole = sizes.assumption(strength)

    def margin(x: claims.Instance) -> Number:
        return log10_batch(x, sizes) - jnp.maximum(_asked(x, sizes), 0)

    item = "A.21.4, log10 batch" + sizes.part
    return replace(whole, hypotheses={**whole.hypotheses, item: margin})


def run(sizes: a_21.Sizes, x: claims.Instance, lam: Number, key: Array) -> tuple[Products, Modes]:
    """theta^n(K) at every stage, on the same batches, and the modes of the real starts."""
    real = stages.real_modes(stage.pre_spectrum(x), sizes.tau(x))
    batches = covariances(x, sizes, key)

    def tune(start: Array) -> Array:
        begin = jnp.diag(start)
        settings = (stage.ft_spectrum(x), lam, stage.learning_rate(x), sizes.steps(x))
        return dot(*stages.tuned_on_batches((begin, begin), start**2, *settings, batches))

    return jax.vmap(tune)(real), real
