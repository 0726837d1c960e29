"""Fine-tuning with sizes from practice: batches that can be drawn, starts that can be reached.

Outside Assumption A.21, whose batch sizes have hundreds of digits.
"""

from functools import partial

import jax
import jax.numpy as jnp
from jaxtyping import Array

from theorysim import claims
from theorysim.claims.hypotheses import Margin
from theorysim.claims.reading import Simulate
from theorysim.numerics.products import dot
from theorysim.systems import batch_covariance
from theorysim.theorems.overtraining import _assumption_a_21 as a_21
from theorysim.theorems.overtraining import _stage_space as stage
from theorysim.theorems.overtraining._stages import (
    Modes,
    Number,
    Pair,
    Products,
    real_modes,
    tuned_on_batches,
)

NOTE = "outside Assumption A.21: batches of 64, up to 400 steps, initial scale e^-2 to e^-12"

FIELDS: dict[str, claims.Size | claims.Field] = {
    "batch": claims.Size(64, high=4096),
    "tau": claims.Real(2, 12),
    "steps": claims.Integer(1, 400),
}

HYPOTHESES: dict[str, Margin] = {"full learning rate": lambda x: x.slowness - 1}


def reading(name: str, theorem: str, sizes: a_21.Sizes, simulate: Simulate) -> claims.Reading:
    """A theorem at these sizes; the requirements are those of the sizes of Assumption A.21."""
    return claims.Reading(
        name,
        claims.Finding(f"{theorem} with batches, steps and starts from practice"),
        simulate=simulate,
        assumes=(),
        hypotheses=HYPOTHESES,
        requirements=sizes.assumption().requirements,
        note=NOTE,
    )


def factors(x: claims.Instance, lam: Number, key: Array) -> Pair:
    """Both factors after fine-tuning at every stage, axes (stages, d, d)."""

    law = partial(batch_covariance.sample, width=x.d, batch=x.batch)
    covariances = batch_covariance.stream(key, law)

    def tune(start: Array) -> Pair:
        begin, anchor = jnp.diag(start), start**2
        settings = (stage.ft_spectrum(x), lam, stage.learning_rate(x), x.steps, covariances)
        return tuned_on_batches((begin, begin), anchor, *settings)

    return jax.vmap(tune)(real_modes(stage.pre_spectrum(x), x.tau))


def run(x: claims.Instance, lam: Number, key: Array) -> tuple[Products, Modes]:
    """theta^n(K) at every stage, and the modes of its real start."""
    return dot(*factors(x, lam, key)), real_modes(stage.pre_spectrum(x), x.tau)
