"""The linear network at every stage of its pre-training: what Sections 4.1 to 4.3 begin with.

Sizes of these runs, on batches of 64: features fall by 2, weights start at exp(-14), just above
what rounding adds to the factors in single precision, and the learning rate is half of what
Assumption A.8 admits.
"""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from theorysim import claims
from theorysim.systems import batch_covariance
from theorysim.systems.two_layer_linear import Factors
from theorysim.theorems.overtraining import _network as network

GAP, TAU, BATCH, RATE_SHARE = 2.0, 14.0, 64, 0.5


class Pretrained(NamedTuple):
    """The singular vectors of the task, and the network at the stages n = 0, ..., d, stacked."""

    vectors: network.Vectors
    stages: Factors


def features(x: claims.Instance) -> Float[Array, "d"]:
    """2^(d-1), ..., 2, 1."""
    return network.features(x.d, GAP)


def rate(x: claims.Instance) -> Float[Array, ""]:
    """Of pre-training."""
    return RATE_SHARE * network.largest_rate(features(x)[0])


def batches(x: claims.Instance, key: Array) -> network.Batches:
    """The covariances of batches of standard normal inputs."""
    law = partial(batch_covariance.sample, width=x.d, batch=BATCH)
    return batch_covariance.stream(key, law)


def begun(x: claims.Instance, key: Array) -> tuple[network.Vectors, Factors]:
    """The task's singular vectors, and a random balanced start of size exp(-tau)."""
    task, begin = jax.random.split(key)
    start = network.small_start(x.d, begin)
    return network.vectors(x.d, task), jax.tree.map(lambda w: jnp.exp(-TAU) * w, start)


def pretrained(
    x: claims.Instance,
    key: Array,
    start: Factors,
    target: Float[Array, "d d"],
    marks: Int[Array, "marks"],
) -> Factors:
    """The factors after so many steps of pre-training, stacked."""

    def of_segment(number: Int[Array, ""]) -> network.Batches:
        return batches(x, jax.random.fold_in(key, number))

    tuning = network.without_pull_back(target)
    return network.along(start, tuning, rate(x), marks, of_segment)


def at_stages(x: claims.Instance, key: Array) -> Pretrained:
    """The network at the stage times 0 = t_0 < t_1 < ... < t_d, from a start that can learn all."""
    begin, draws = jax.random.split(key)
    vectors, start = begun(x, begin)
    target = vectors.assembled(features(x))
    marks = network.stage_marks(features(x), jnp.asarray(TAU), rate(x))
    path = pretrained(x, draws, network.learnable(start, vectors), target, marks)
    return Pretrained(vectors, path)


def first_stage_only(found: Pretrained) -> Pretrained:
    """The null in which every later stage is the first one."""
    stages = jax.tree.map(lambda w: w.at[2:].set(w[1]), found.stages)
    return found._replace(stages=stages)


def ideal(x: claims.Instance, vectors: network.Vectors) -> Factors:
    """Eqs. 7 and 8: the factors of the stages n = 0, ..., d with exactly n features."""
    learned = jnp.tril(jnp.ones((x.d + 1, x.d)), -1) * jnp.sqrt(features(x))
    return Factors(
        vectors.left * learned[:, None, :],
        learned[:, :, None] * jnp.matrix_transpose(vectors.right),
    )
