"""Whether features that were not learned stay zero, and learned ones do not see each other.

The proof sketch of Theorem 4.6 of Springer et al. (2025): "(1) if sigma_i = 0 at the end of
pre-training, it will remain zero throughout fine-tuning, and (2) each learned fine-tuning feature
evolves independently of the other fine-tuning features", where sigma_i is the i-th diagonal entry
of U^T theta V. Section 4.3 fine-tunes with "a large batch size": both are limits of large batches,
whose covariances are drawn from their exact law.
"""

from collections.abc import Callable
from functools import partial
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

# What small batches change is of the order 1 / m, and below rounding for much larger ones.
BATCHES = (1e2, 1e3, 1e4, 1e5)
FEWEST = 10.0


class Features(NamedTuple):
    """sigma_i(k) of the run, and where feature i alone was learned before."""

    together: Float[Array, "steps d"]
    alone: Float[Array, "steps d"]


def on_batches(x: claims.Instance, key: Array) -> Float[Array, "steps d d"]:
    """Covariances of batches of m inputs."""
    law = partial(batch_covariance.wishart, width=x.d, batch=jnp.round(x.m))
    return jax.vmap(law)(jax.random.split(key, x.steps))


def _on_few_inputs(x: claims.Instance, key: Array) -> Float[Array, "steps d d"]:
    return on_batches(x.replace(m=FEWEST * jnp.ones_like(x.m)), key)


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


def _both(kind: Callable) -> tuple[claims.Claim, ...]:
    return (
        kind(
            "zero features stay zero",
            lambda r: r.sim.together / ft.gamma(r.x),
            lambda r: 0.0,
            where=_unlearned,
        ),
        kind(
            "learned features are independent",
            lambda r: r.sim.together / ft.gamma(r.x),
            lambda r: r.sim.alone / ft.gamma(r.x),
            where=ft.is_learned,
        ),
    )


LARGE = _both(partial(claims.tends_to, over={"m": BATCHES}))
EXACT = _both(claims.equal)


theorem = claims.Theorem(
    space=ft.fine_tuning_space(
        d=claims.Size(4, low=2, high=9),
        steps=claims.Size(20, high=200),
        m=claims.Real(FEWEST, 1e8, log=True),
    ),
    assumes=(A_8,),
    simulate=_simulate(on_batches, ft.ideal_modes),
    claims=LARGE,
    source=claims.Printed(
        "proof sketch of Theorem 4.6, with the large batch size of Section 4.3",
        "(1) if sigma_i = 0 at the end of pre-training, it will remain zero throughout "
        "fine-tuning, and (2) each learned fine-tuning feature evolves independently",
    ),
    note="as limits of large batches",
    readings=(
        claims.Reading(
            "batches of any size",
            claims.Finding("both properties to the letter, on finite batches"),
            claims=EXACT,
            note="the covariance of a finite batch mixes the features",
        ),
        claims.Reading(
            "infinite batches",
            claims.Finding("both properties to the letter, for Eqs. 16 and 17"),
            simulate=_simulate(on_population, ft.ideal_modes),
            claims=EXACT,
            note="gradients of the population's loss keep diagonal factors diagonal",
        ),
    ),
    mutants=(
        claims.Mutant(
            "batches that do not grow", simulate=_simulate(_on_few_inputs, ft.ideal_modes)
        ),
    ),
    instances=64,
)
