"""Two-layer ReLU networks of finite width: initialisations, gradient descent, what is observed.

f(x) = (1/sqrt(m)) sum_r a_r relu(<w_r, x>); the rows w_r of the weights are trained, the signs a
are fixed, and relu has derivative one at zero (a unit is active where <w_r, x> >= 0). The loss is
sum_i (f(x_i) - y_i)^2 times 1/n (normalisation "mean", not halved) or 1/2 ("half_sum"): papers
differ, so it is always named. Work is done in blocks of units, so that no array spans both the
inputs and the whole width; `jax.vmap` over a leading axis of networks gives many initialisations.

Source: Liu, Long, Wang, Jordan, "Towards Understanding the Transferability of Deep
Representations", 2019, Section 6 ("half_sum"); Shachaf, Brutzkus, Globerson, "A Theoretical
Analysis of Fine-tuning with Linear Teachers", NeurIPS 2021, Section 6 ("mean").
"""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.typing import ArrayLike
from jaxtyping import Array, Float, Int, PRNGKeyArray, Shaped

from theorysim.numerics import descent
from theorysim.numerics.products import dot

BLOCK = 4096
"""Units worked on at a time; widths above it cost one more product per gradient."""

Normalisation = Literal["mean", "half_sum"]


class Network(NamedTuple):
    """Trained hidden weights, one unit per row, and the fixed output signs."""

    weights: Float[Array, "m d"]
    signs: Float[Array, " m"]


class Task(NamedTuple):
    """A training set, one sample per row."""

    inputs: Float[Array, "n d"]
    labels: Float[Array, " n"]


class Observed(NamedTuple):
    """A network on a task, and how far it is from a reference network."""

    outputs: Float[Array, "*times n"]
    loss: Float[Array, "*times"]
    distance: Float[Array, "*times"]
    """Frobenius norm of the difference of the weights"""
    movement: Float[Array, "*times"]
    """largest Euclidean distance of a single unit"""
    flips: Int[Array, "*times n"]
    """per input, the number of units that are active in one of the two networks only"""
    margin: Float[Array, "*times"]
    """smallest |<w_r, x_i>|: near zero, rounding decides which units are active"""


def curvature(normalisation: str, samples: int) -> float:
    """Second derivative of the loss in each output: 2/n for "mean", 1 for "half_sum".

    ValueError for any other normalisation.
    """
    if normalisation not in ("mean", "half_sum"):
        raise ValueError(f"normalisation {normalisation!r} is neither 'mean' nor 'half_sum'")
    return 2 / samples if normalisation == "mean" else 1.0


def squared_error(residual: Float[Array, " n"], normalisation: Normalisation) -> Float[Array, ""]:
    """The loss of a residual: its squares averaged, or summed and halved."""
    return curvature(normalisation, residual.size) / 2 * jnp.sum(jnp.square(residual))


def initialise(
    key: PRNGKeyArray,
    width: int,
    dimension: int,
    scale: float | Float[Array, ""],
    dtype: Any = float,
) -> Network:
    """Rows w_r ~ N(0, scale^2 I) and signs +-1 with equal chances, all independent."""
    for_weights, for_signs = jax.random.split(key)
    weights = scale * jax.random.normal(for_weights, (width, dimension), dtype)
    return Network(weights, jax.random.rademacher(for_signs, (width,), weights.dtype))


def initialise_silent(
    key: PRNGKeyArray,
    width: int,
    dimension: int,
    scale: float | Float[Array, ""],
    dtype: Any = float,
) -> Network:
    """Gaussian rows in pairs (w, +1), (w, -1): the output vanishes everywhere, up to rounding.

    The tangent kernel is that of `initialise` at half the width. ValueError for an odd width.
    """
    half = initialise(key, _half(width), dimension, scale, dtype)
    ones = jnp.ones_like(half.signs)
    return Network(_interleave(half.weights, half.weights), _interleave(ones, -ones))


def initialise_linear(
    key: PRNGKeyArray, width: int, teacher: Float[Array, " d"], scale: float | Float[Array, ""]
) -> Network:
    """A random network with f(x) = <x, teacher> exactly, so pretrained perfectly on that teacher.

    Pairs (w, +1), (-w, -1) give (1/sqrt(m)) <x, sum w>; the Gaussian w, of standard deviation
    `scale`, are shifted together to make that the teacher. For scale^2 m >> ||teacher||^2 the
    tangent kernel tends to that of `initialise`. ValueError for an odd width.
    """
    half = initialise(key, _half(width), teacher.size, scale, teacher.dtype)
    mean = 2 * teacher / jnp.sqrt(jnp.asarray(width, teacher.dtype))
    rows = half.weights + (mean - jnp.mean(half.weights, axis=0))[None]
    ones = jnp.ones_like(half.signs)
    return Network(_interleave(rows, -rows), _interleave(ones, -ones))


def outputs(
    network: Network, inputs: Float[Array, "n d"], *, block: int = BLOCK
) -> Float[Array, " n"]:
    """f(x_i) for every row of the inputs."""

    def contribution(units: Network) -> Float[Array, " n"]:
        return dot(_relu(dot(inputs, units.weights.T)), units.signs)

    return _over_units(contribution, network, block) / _root_width(network)


def loss(
    network: Network, task: Task, normalisation: Normalisation, *, block: int = BLOCK
) -> Float[Array, ""]:
    """Squared error over the task, averaged or halved as the normalisation says."""
    return squared_error(outputs(network, task.inputs, block=block) - task.labels, normalisation)


def train(
    network: Network,
    task: Task,
    learning_rate: float | Float[Array, ""],
    steps: int,
    *,
    normalisation: Normalisation,
    record: Callable[[Network], Any] = lambda network: network.weights,
    every: int = 1,
    block: int = BLOCK,
) -> Any:
    """Real gradient descent of the hidden weights, the loss differentiated automatically.

    Returns `record(network)` at the start and after every `every` steps: arrays lead with
    `steps // every + 1`.

    Raises:
        ValueError: where the run diverges, with 2/lambda_max; in a traced run it grows to NaN.
    """
    objective = _objective(network, task, normalisation, block)
    path = descent.descend(
        objective,
        network.weights,
        optax.sgd(learning_rate),
        steps,
        every=every,
        record=lambda weights: record(network._replace(weights=weights)),
    )
    descent.check_descent(path, objective, network.weights, learning_rate, steps)
    return path


def train_to(
    network: Network,
    task: Task,
    learning_rate: float | Float[Array, ""],
    steps: Int[ArrayLike, ""],
    *,
    normalisation: Normalisation,
    block: int = BLOCK,
) -> Network:
    """The network after a number of steps, which may be traced; otherwise as `train`."""
    objective = _objective(network, task, normalisation, block)
    weights = descent.descend_to(objective, network.weights, optax.sgd(learning_rate), steps)
    descent.check_descent(weights, objective, network.weights, learning_rate, steps)
    return network._replace(weights=weights)


def observe(
    network: Network,
    reference: Network,
    task: Task,
    normalisation: Normalisation,
    *,
    block: int = BLOCK,
) -> Observed:
    """Outputs and loss of a network, and its distance from a reference of the same width."""

    def contribution(units: tuple) -> tuple:
        new, old, signs = units
        values = dot(task.inputs, new.T)
        changed = (values >= 0) != (dot(task.inputs, old.T) >= 0)
        return dot(_relu(values), signs), jnp.sum(changed, axis=1), jnp.min(jnp.abs(values))

    def combine(one: tuple, other: tuple) -> tuple:
        return one[0] + other[0], one[1] + other[1], jnp.minimum(one[2], other[2])

    units = (network.weights, reference.weights, network.signs)
    total, flips, margin = _over_units(contribution, units, block, combine)
    values = total / _root_width(network)
    moved = jnp.linalg.norm(network.weights - reference.weights, axis=1)
    lost = squared_error(values - task.labels, normalisation)
    return Observed(values, lost, jnp.linalg.norm(moved), jnp.max(moved), flips, margin)


def empirical_gram(
    left_network: Network,
    left: Float[Array, "p d"],
    right_network: Network,
    right: Float[Array, "q d"],
    *,
    block: int = BLOCK,
) -> Float[Array, "p q"]:
    """Z(W)^T Z(W'), Z the derivative of the outputs in the weights: the finite tangent kernel.

    (1/m) <x_i, x_j'> #{r: <w_r, x_i> >= 0 and <w_r', x_j'> >= 0}, for two networks of equal signs
    (the same network twice, or one before and one after training).
    """

    def contribution(units: tuple) -> Float[Array, "p q"]:
        first, second = units
        active = (dot(left, first.T) >= 0).astype(left.dtype)
        return dot(active, (dot(right, second.T) >= 0).astype(right.dtype).T)

    both = _over_units(contribution, (left_network.weights, right_network.weights), block)
    return dot(left, right.T) * both / left_network.signs.size


def check_task(task: Task, largest_label: float = 1.0) -> None:
    """ValueError unless inputs are distinct unit vectors and |labels| <= `largest_label`. Eager."""
    inputs, labels = np.asarray(task.inputs), np.asarray(task.labels)
    if inputs.ndim != 2 or labels.shape != inputs.shape[:1]:
        raise ValueError(
            f"expected inputs (n, d) and labels (n,), got shapes {inputs.shape} and {labels.shape}"
        )
    lengths = np.linalg.norm(inputs, axis=1)
    rounding = 4 * inputs.shape[1] * np.finfo(inputs.dtype).eps
    worst = int(np.argmax(np.where(np.isfinite(lengths), np.abs(lengths - 1), np.inf)))
    if not abs(lengths[worst] - 1) <= rounding:
        raise ValueError(
            f"input {worst} has length {lengths[worst]:.17g}, needed 1 within {rounding:.2g}: "
            "divide every input by its length"
        )
    gaps = np.stack([np.linalg.norm(inputs - row, axis=1) for row in inputs])
    gaps[np.diag_indices_from(gaps)] = np.inf
    first, second = np.unravel_index(np.argmin(gaps), gaps.shape)
    if gaps[first, second] <= rounding:
        raise ValueError(f"inputs {first} and {second} coincide: remove one of them")
    outside = ~(np.abs(labels) <= largest_label)
    if np.any(outside):
        at = int(np.argmax(outside))
        raise ValueError(
            f"label {at} is {labels[at]:.6g}, needed within [-{largest_label:g}, "
            f"{largest_label:g}]: rescale the labels"
        )


def check_descent(losses: Shaped[ArrayLike, " times"], learning_rate: float, limit: float) -> None:
    """ValueError where recorded losses are not finite or end above their start. Eager.

    `limit` is named in the message as the largest stable learning rate, 2/lambda_max.
    """
    path = np.asarray(losses)
    # With labels of order one, losses below eps may rise and fall by rounding.
    above = ~(path <= max(path[0], np.finfo(path.dtype).eps))
    if not above[-1]:
        return
    onset = int(np.max(np.flatnonzero(~above), initial=-1)) + 1
    raise ValueError(
        f"gradient descent diverged: the loss rose from {path[0]:.3g} to {path[-1]:.3g} and stayed "
        f"above its start from record {onset} on, with learning rate {learning_rate:.6g}; use one "
        f"below 2/lambda_max = {limit:.6g}"
    )


def _relu(values: Float[Array, "*n"]) -> Float[Array, "*n"]:
    """max(values, 0), with derivative one at zero; NaN stays NaN."""
    return jnp.where(values < 0, 0, values)


def _objective(
    network: Network, task: Task, normalisation: Normalisation, block: int
) -> Callable[[Float[Array, "m d"]], Float[Array, ""]]:
    return lambda weights: loss(network._replace(weights=weights), task, normalisation, block=block)


def _over_units(contribution: Callable, units: Any, block: int, combine: Callable = jnp.add) -> Any:
    """Contributions of blocks of units, combined; their inner arrays are not kept for gradients."""
    width = jax.tree.leaves(units)[0].shape[0]
    if width <= block:
        return contribution(units)
    contribution = jax.checkpoint(contribution)
    rest = width % block or block
    total = contribution(jax.tree.map(lambda leaf: leaf[:rest], units))
    blocks = jax.tree.map(lambda leaf: leaf[rest:].reshape(-1, block, *leaf.shape[1:]), units)
    return jax.lax.scan(lambda sum, some: (combine(sum, contribution(some)), None), total, blocks)[
        0
    ]


def _root_width(network: Network) -> Float[Array, ""]:
    return jnp.sqrt(jnp.asarray(network.signs.size, network.signs.dtype))


def _half(width: int) -> int:
    if width < 2 or width % 2:
        raise ValueError(f"width {width} must be even and positive: units come in pairs")
    return width // 2


def _interleave(one: Float[Array, "h *d"], other: Float[Array, "h *d"]) -> Float[Array, "m *d"]:
    """Rows in pairs, so that partners share a block and cancel there."""
    return jnp.stack([one, other], axis=1).reshape(-1, *one.shape[1:])
