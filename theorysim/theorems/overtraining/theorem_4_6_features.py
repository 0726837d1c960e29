"""Whether features that were not learned stay zero, and learned ones do not see each other.

The proof sketch of Theorem 4.6 of Springer et al. (2025): "(1) if sigma_i = 0 at the end of
pre-training, it will remain zero throughout fine-tuning, and (2) each learned fine-tuning feature
evolves independently of the other fine-tuning features", where sigma_i is the i-th diagonal entry
of U^T theta V. Section 4.3 fine-tunes with "a large batch size"; the covariance of a finite batch
mixes the features.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.numerics.products import dot
from theorysim.systems import batch_covariance
from theorysim.theorems.overtraining import _finetuning as ft
from theorysim.theorems.overtraining import _runs as runs
from theorysim.theorems.overtraining.assumption_a_8 import ASSUMPTION as A_8


class Features(NamedTuple):
    """sigma_i(k) of the run, and where feature i alone was learned before."""

    together: Float[Array, "steps d"]
    alone: Float[Array, "steps d"]


def on_batches(x: claims.Instance, key: Array) -> Float[Array, "steps d d"]:
    """Covariances of batches that are drawn."""
    keys = jax.random.split(key, x.steps)
    return jax.vmap(lambda k: batch_covariance.sample(k, x.d, x.batch))(keys)


def on_population(x: claims.Instance, key: Array) -> Float[Array, "steps d d"]:
    """Those of infinite batches."""
    return jnp.broadcast_to(jnp.eye(x.d), (x.steps, x.d, x.d))


def _simulate(covariances: Callable, start: Callable) -> Callable:
    """Descent on these batches from the modes `start(x)`, in the coordinates U^T W_1 and W_2 V."""

    def simulate(x: claims.Instance, key) -> Features:
        straight, batches = ft.rotated(x), covariances(x, key)

        def features(modes):
            begin = ft.factors(straight, modes)
            path = runs.fine_tune_on(straight, begin, jnp.diag(modes**2), batches)
            return jnp.diagonal(dot(*path), axis1=-2, axis2=-1)

        each = jax.vmap(features)(jnp.diag(start(x)))
        return Features(features(start(x)), jnp.diagonal(each, axis1=0, axis2=2))

    return simulate


def _unlearned(r: claims.Run):
    """Nonnegative for the features n + 1, ..., d."""
    return -1 - ft.is_learned(r)


theorem = claims.Theorem(
    space=ft.fine_tuning_space(
        d=claims.Size(4, low=2), steps=claims.Size(20, high=200), batch=claims.Size(64, high=4096)
    ),
    assumes=(A_8,),
    simulate=_simulate(on_batches, ft.ideal_modes),
    claims=(
        claims.equal(
            "zero features stay zero",
            lambda r: r.sim.together,
            lambda r: 0.0,
            where=_unlearned,
        ),
        claims.equal(
            "learned features are independent",
            lambda r: r.sim.together,
            lambda r: r.sim.alone,
            where=ft.is_learned,
        ),
    ),
    source=claims.Printed(
        "proof sketch of Theorem 4.6",
        "(1) if sigma_i = 0 at the end of pre-training, it will remain zero throughout "
        "fine-tuning, and (2) each learned fine-tuning feature evolves independently",
    ),
    note="the covariance of a finite batch mixes the features",
    readings=(
        claims.corrected(
            "for infinite batches",
            simulate=_simulate(on_population, ft.ideal_modes),
            note="gradients of the population's loss keep diagonal factors diagonal",
        ),
    ),
    mutants=(claims.Mutant("on batches", simulate=_simulate(on_batches, ft.ideal_modes)),),
)
