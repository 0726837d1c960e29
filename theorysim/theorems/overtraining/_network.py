"""The linear network of Section 4 of Springer et al. (2025), really trained on batches.

Pre-training from small weights up to every stage, then fine-tuning; gradient descent on both
factors at once, whose loss is not halved. Features fall by a factor from one to the next, the last
is one, and all singular vectors are random. All arrays may lead with axes of runs that meet the
same batches, each with its own settings and number of steps.
"""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from theorysim.numerics.products import dot
from theorysim.systems import linear_modes
from theorysim.systems.two_layer_linear import Factors, FineTuning

Matrix: TypeAlias = Float[Array, "*runs d d"]

# Of each experiment: a run takes less than a second.
RUNS = 32

# The covariance of the batch of a step, which broadcasts over the runs.
Batches: TypeAlias = Callable[[Int[Array, ""]], Matrix]


class Vectors(NamedTuple):
    """The singular vectors that both tasks share, as columns."""

    left: Float[Array, "d d"]
    right: Float[Array, "d d"]

    def assembled(self, features: Float[Array, "*runs d"]) -> Matrix:
        """The maps with these features."""
        return dot(self.left * features[..., None, :], self.right.T)

    def rotated(self, maps: Matrix) -> Matrix:
        """U^T theta V."""
        return dot(self.left.T, maps, self.right)


def vectors(d: int, key: Array) -> Vectors:
    """Random ones, independent of each other."""
    return Vectors(*jax.random.orthogonal(key, d, (2,)))


def features(d: int, gap: float | Float[Array, "*runs 1"]) -> Float[Array, "*runs d"]:
    """gap^(d-1), ..., gap, 1."""
    return gap ** jnp.arange(d - 1, -1, -1.0)


def small_start(d: int, key: Array) -> Factors:
    """Random orthogonal factors, to be multiplied by exp(-tau): a balanced start."""
    return Factors(*jax.random.orthogonal(key, d, (2,)))


def learnable(start: Factors, of: Vectors) -> Factors:
    """The start with a sign by which the flow can learn all features.

    On its way the product stays regular, and so keeps the sign of its determinant.
    """
    sign = jnp.prod(jnp.sign(jnp.linalg.det(jnp.stack([*start, *of]))))
    return start._replace(second=start.second.at[0].multiply(sign))


def largest_rate(largest: Float[Array, "*runs"], pull_back: float | Array = 0.0) -> Array:
    """What Assumption A.8 admits for the largest feature: 1 / (4 (lambda + 2) Gamma)."""
    return 1 / (4 * (pull_back + 2) * largest)


def descended(
    weights: Factors,
    tuning: FineTuning,
    rate: Float[Array, "*runs"],
    steps: Int[Array, "*runs"],
    batches: Batches,
) -> Factors:
    """The factors after so many steps of Eqs. 10 and 11; `pull_back` has one number a run."""
    shared, pull_back = jnp.asarray(rate)[..., None, None], jnp.asarray(tuning.pull_back)
    pull_back = pull_back[..., None, None]

    def step(k: Int[Array, ""], now: Factors) -> Factors:
        theta = dot(*now)
        error = dot(theta - tuning.target, batches(k)) + pull_back * (theta - tuning.anchor)
        speed = jnp.where(k < steps[..., None, None], 2 * shared, 0)
        return Factors(
            now.first - speed * dot(error, jnp.matrix_transpose(now.second)),
            now.second - speed * dot(jnp.matrix_transpose(now.first), error),
        )

    return jax.lax.fori_loop(0, jnp.max(steps), step, weights)


def without_pull_back(target: Matrix) -> FineTuning:
    """The task of this map alone."""
    return FineTuning(target, target, 0.0)


def along(
    start: Factors,
    tuning: FineTuning,
    rate: Float[Array, "*runs"],
    marks: Int[Array, "marks *runs"],
    batches: Callable[[Int[Array, ""]], Batches],
) -> Factors:
    """The factors after so many steps, stacked; `batches(j)` are those before mark j."""
    counts = jnp.diff(marks, axis=0, prepend=0)

    def segment(now: Factors, of: tuple[Array, Array]) -> tuple[Factors, Factors]:
        number, count = of
        now = descended(now, tuning, rate, count, batches(number))
        return now, now

    return jax.lax.scan(segment, start, (jnp.arange(len(marks)), counts))[1]


def stage_marks(
    features: Float[Array, "*runs d"], tau: Float[Array, "*runs"], rate: Float[Array, "*runs"]
) -> Int[Array, "stages *runs"]:
    """Steps until the stage times 0 < t_1 < ... < t_d."""
    of_run = jnp.vectorize(linear_modes.stage_times, signature="(d),()->(d)")
    times = jnp.moveaxis(of_run(features, tau), -1, 0)
    return jnp.round(jnp.concatenate([0 * times[:1], times]) / rate).astype(int)
