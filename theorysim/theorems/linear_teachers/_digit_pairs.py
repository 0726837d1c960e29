"""Regression from one pair of digits to another: what Table 1 correlates with bounds.

The main text has no settings; these are ours. Images of MNIST are taken as they are, or centred by
the mean of all that are trained on; a task tells two digits apart, as regression to -1 and +1, and
the target's are none of the source's. A teacher is linear regression by gradient descent from zero
on all training images of its pair, stopped early: for how long is tried. Sigma is the second moment
of the target's training images. Fine-tuning is gradient descent from theta_S. Steps of both stay in
the span of the samples, behind the start, and are taken in its coordinates.
"""

import itertools
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.sparse.linalg import lobpcg_standard
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from theorysim import claims
from theorysim.data import digits
from theorysim.numerics.products import dot
from theorysim.systems.linear_regression import covariance_estimation

DIGITS, SPLIT = 10, 2  # m = 2: "Ours for m = 2"
PAIRS = tuple(itertools.combinations(range(DIGITS), 2))
COUNTS = (10, 15, 20, 25, 30)

# Steps of a teacher, as shares of the longest, and constants c in g, which have no printed value.
LENGTHS, CONSTANTS = (0.04, 0.2, 1.0), (0.125, 0.25, 0.5, 1.0, 2.0)
CENTRED = (0.0, 1.0)

# Steps of fine-tuning.
TUNING = 500


class Images(NamedTuple):
    """Images by their digits."""

    training: Float[Array, "digit image pixel"]
    test: Float[Array, "digit other pixel"]


class Teachers(NamedTuple):
    """For every pair of digits, the first of them +1, at every length of training."""

    weights: Float[Array, "pair training pixel"]
    eigenvalues: Float[Array, "pair mode"]
    """of Sigma: the first two, and the sum of the others"""
    top: Float[Array, "pair split pixel"]


class Measured(NamedTuple):
    """Of every task: accuracies of the fine-tuned models, and what should go with them."""

    accuracy: Float[Array, "task training n"]
    distance: Float[Array, "task training n"]
    benign: Float[Array, "task training n"]
    ours: Float[Array, "task constant training n"]
    risk: Float[Array, "task training n"]


def _images(x: claims.Instance, key: PRNGKeyArray, centred: Float[Array, ""]) -> Images:
    """As many images of each digit; those that are trained on are drawn anew for every run."""
    found = digits.mnist()
    each = [np.flatnonzero(found.labels == digit) for digit in range(DIGITS)]
    least = min(map(len, each))
    by_digit = jnp.asarray(found.images[np.stack([e[:least] for e in each])])
    orders = jax.vmap(lambda k: jax.random.permutation(k, least))(jax.random.split(key, DIGITS))
    mixed = jnp.take_along_axis(by_digit, orders[..., None], axis=1)
    many = min(x.images, least // 2)
    centre = centred * jnp.mean(mixed[:, :many], axis=(0, 1))
    return Images(mixed[:, :many] - centre, mixed[:, many:] - centre)


def _labels(each: int) -> Float[Array, "both"]:
    return jnp.repeat(jnp.array([1.0, -1.0]), each)


def _both(images: Float[Array, "digit image pixel"], pair: Int[Array, "2"]) -> Array:
    return images[pair].reshape(-1, images.shape[-1])


def _teachers(x: claims.Instance, training: Float[Array, "digit image pixel"]) -> Teachers:
    labels = _labels(training.shape[1])
    lengths = [max(round(share * x.steps), 1) for share in LENGTHS]
    everything = jnp.ones(len(labels), bool)

    def of_pair(pair: Int[Array, "2"]) -> tuple[Array, Array, Array]:
        rows = _both(training, pair)
        gram = dot(rows, rows.T)
        first = jax.random.normal(jax.random.key(0), (len(rows), SPLIT))
        squares, left, _ = lobpcg_standard(gram, first)
        found = [descended(gram, everything, labels, steps, squares[0]) for steps in lengths]
        rest = jnp.trace(gram) - jnp.sum(squares)
        eigenvalues = jnp.append(squares, rest) / len(rows)
        return (
            dot(jnp.stack(found), rows),
            eigenvalues,
            dot(left.T, rows) / jnp.sqrt(squares[:, None]),
        )

    return Teachers(*jax.lax.map(of_pair, jnp.asarray(PAIRS)))


def _of(
    teachers: Teachers, first: Array | int, second: Array | int
) -> tuple[Array, Float[Array, "..."]]:
    """The place of a pair, and its teachers with the first digit at +1."""
    places = np.zeros((DIGITS, DIGITS), int)
    for place, (low, high) in enumerate(PAIRS):
        places[low, high] = places[high, low] = place
    place = jnp.asarray(places)[first, second]
    return place, jnp.where(first < second, 1, -1) * teachers.weights[place]


def measured(
    x: claims.Instance, key: PRNGKeyArray, centred: Float[Array, ""], at_random: bool = False
) -> Measured:
    """All tasks of one run, on centred images (1) or not (0); the null has labels at random."""
    for_images, for_tasks = jax.random.split(key)
    images = _images(x, for_images, centred)
    teachers = _teachers(x, images.training)

    def of_task(key: PRNGKeyArray) -> Measured:
        for_digits, for_samples, for_labels = jax.random.split(key, 3)
        first, second, *target = jax.random.permutation(for_digits, DIGITS)[:4]
        _, start = _of(teachers, first, second)
        place, goal = _of(teachers, *target)
        pool, unseen = (_both(each, jnp.stack(target)) for each in images)
        signs = _labels(len(pool) // 2), _labels(len(unseen) // 2)
        if at_random:
            one, other = jax.random.split(for_labels)
            signs = (
                jax.random.permutation(one, signs[0]),
                jax.random.permutation(other, signs[1]),
            )
        draws = jax.vmap(lambda k: jax.random.permutation(k, len(pool))[: COUNTS[-1]])(
            jax.random.split(for_samples, x.draws)
        )
        grams = dot(pool, pool.T), dot(unseen, pool.T)
        accuracy, risk = _accuracies_and_risks(grams, draws, signs, pool, unseen, start, goal)
        law = teachers.eigenvalues[place], teachers.top[place]
        return Measured(accuracy, *_bounds(*law, goal - start), risk)

    return jax.lax.map(of_task, jax.random.split(for_tasks, x.tasks))


def _accuracies_and_risks(
    grams: tuple[Float[Array, "image image"], Float[Array, "other image"]],
    draws: Int[Array, "draw most"],
    signs: tuple[Float[Array, "image"], Float[Array, "other"]],
    pool: Float[Array, "image pixel"],
    unseen: Float[Array, "other pixel"],
    start: Float[Array, "training pixel"],
    goal: Float[Array, "training pixel"],
) -> tuple[Float[Array, "training n"], Float[Array, "training n"]]:
    """Means over the draws: of what fine-tuning gets right, and of Eq. 2."""
    gram, cross = grams
    before, after, missing = dot(start, pool.T), dot(start, unseen.T), dot(goal - start, pool.T)

    def of_draw(chosen: Int[Array, "most"], count: Array) -> tuple[Array, Array]:
        kept = jnp.arange(COUNTS[-1]) < count
        inner = gram[chosen][:, chosen]
        largest = jnp.linalg.eigvalsh(inner * kept * kept[:, None])[-1]
        misfit = signs[0][chosen] - before[:, chosen]
        moved = descended(inner, kept, misfit, TUNING, largest)
        right = jnp.sign(after + dot(moved, cross[:, chosen].T)) == signs[1]
        learned = interpolated(inner, kept, missing[:, chosen])
        left = missing - dot(learned, gram[chosen])
        return jnp.mean(right, axis=1), jnp.mean(jnp.square(left), axis=1)

    every = jax.vmap(jax.vmap(of_draw, (None, 0), 1), (0, None))
    return jax.tree.map(lambda each: each.mean(0), every(draws, jnp.asarray(COUNTS)))


def descended(
    gram: Float[Array, "most most"],
    kept: Bool[Array, "most"],
    misfit: Float[Array, "*each most"],
    steps: int,
    largest: Float[Array, ""],
) -> Float[Array, "*each most"]:
    """Coefficients of the samples after gradient descent on those that are kept.

    Every step is half of the largest stable one, for this largest eigenvalue of their Gram matrix.
    """
    inner = gram * kept * kept[:, None]

    def step(_: Array, found: Float[Array, "*each most"]) -> Float[Array, "*each most"]:
        return found + kept * (misfit - dot(found, inner)) / largest

    return jax.lax.fori_loop(0, steps, step, jnp.zeros_like(misfit))


def interpolated(
    gram: Float[Array, "most most"], kept: Bool[Array, "most"], values: Float[Array, "*each most"]
) -> Float[Array, "*each most"]:
    """Coefficients of the samples that are kept with which they take their values."""
    inner = gram * kept * kept[:, None] + jnp.diag(jnp.where(kept, 0.0, 1.0))
    return jnp.linalg.solve(inner, (values * kept).T).T


def _bounds(
    eigenvalues: Float[Array, "mode"],
    top: Float[Array, "split pixel"],
    difference: Float[Array, "training pixel"],
) -> tuple[Array, Array, Array]:
    """|D|^2, the bound of [25] with D for theta*, and Eq. 3 at m = 2; delta = 1 in both."""
    counts = jnp.asarray(COUNTS)
    distance = jnp.sum(jnp.square(difference), axis=1)[:, None] * jnp.ones(len(COUNTS))
    inside = jnp.sum(jnp.square(dot(difference, top.T)), axis=1)[:, None]
    size = jax.vmap(lambda n: covariance_estimation(eigenvalues, 1.0, n))(counts)
    sizes = jnp.asarray(CONSTANTS)[:, None, None] * size
    ours = 2 * sizes**3 * inside / eigenvalues[SPLIT - 1] ** 2 + 2 * sizes * (distance - inside)
    return distance, distance * size, ours
