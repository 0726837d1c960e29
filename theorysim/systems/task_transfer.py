"""How much closer pretraining brings a wide ReLU network to a target task: predicted, and run.

From two data sets of unit inputs with |labels| <= 1: the similarity of the tasks, the loss with
which fine-tuning starts and how far the weights move, at infinite width after any number of steps,
beside real gradient descent of finite networks. The loss is half the sum of squares. Networks
start silent (pairs of units with opposite signs), so that untrained outputs vanish.

Source: Liu, Long, Wang, Jordan, "Towards Understanding the Transferability of Deep
Representations", 2019, Section 6, Theorems 1 and 2.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from theorysim.numerics import kernels
from theorysim.systems import two_layer_relu as relu
from theorysim.systems import two_layer_relu_limit as limit

NORMALISATION = "half_sum"
SEEDS_AT_ONCE = 8
"""Networks trained side by side; more of them take their turn, so that memory stays bounded."""


@dataclass(frozen=True)
class Similarity:
    """What the tasks alone say, at infinite width and after stages without end.

    `mismatch` is y_Q - y_(P->Q); each number has its counterpart for training from scratch.
    """

    mismatch: Float[np.ndarray, " q"]
    similarity: float
    """||y_Q - y_(P->Q)||: 0 for a target that the source predicts"""
    scratch_similarity: float
    """||y_Q||"""
    start_loss: float
    scratch_start_loss: float
    movement: float
    """sqrt((y_Q - y_(P->Q))^T H_Q^(-1) (y_Q - y_(P->Q)))"""
    scratch_movement: float

    def __str__(self) -> str:
        rows = (
            ("||y_Q - y_(P->Q)||", self.similarity, self.scratch_similarity),
            ("start loss", self.start_loss, self.scratch_start_loss),
            ("movement", self.movement, self.scratch_movement),
        )
        lines = [f"{'at infinite width':24}{'pretrained':>12}{'from scratch':>14}"]
        return "\n".join(lines + [f"{name:24}{a:12.4g}{b:14.4g}" for name, a, b in rows])


@dataclass(frozen=True)
class TransferReport:
    """A prediction for finite numbers of steps beside real networks (one entry per seed)."""

    tasks: Similarity
    width: int
    learning_rates: tuple[float, float]
    steps: tuple[int, int]
    predicted_start_loss: float
    predicted_end_loss: float
    predicted_movement: float
    start_losses: Float[np.ndarray, " seeds"]
    end_losses: Float[np.ndarray, " seeds"]
    movements: Float[np.ndarray, " seeds"]

    def __str__(self) -> str:
        rows = (
            ("start loss", self.predicted_start_loss, self.start_losses),
            ("end loss", self.predicted_end_loss, self.end_losses),
            ("movement", self.predicted_movement, self.movements),
        )
        head = f"{f'{self.steps[0]} + {self.steps[1]} steps':24}{'predicted':>12}"
        lines = [head + f"   width {self.width}, {len(self.movements)} seeds"]
        lines += [
            f"{name:24}{predicted:12.4g}   {np.mean(real):.4g} +- {np.std(real):.2g}"
            for name, predicted, real in rows
        ]
        return "\n".join([str(self.tasks), "", *lines])


def task_similarity(
    source_inputs: ArrayLike,
    source_labels: ArrayLike,
    target_inputs: ArrayLike,
    target_labels: ArrayLike,
) -> Similarity:
    """How well the source task predicts the target, and what that means for fine-tuning.

    Inputs (samples, d) of length one, labels in [-1, 1]; computed in double precision.

    Raises:
        ValueError: naming the data set, for inputs that are not of length one or coincide, labels
            out of range, different dimensions, a singular Gram matrix (with its smallest
            eigenvalue).
    """
    with jax.enable_x64(True):
        return _similarity(*_tasks(source_inputs, source_labels, target_inputs, target_labels))


def transfer_report(
    source_inputs: ArrayLike,
    source_labels: ArrayLike,
    target_inputs: ArrayLike,
    target_labels: ArrayLike,
    *,
    width: int = 4096,
    seeds: int = 8,
    steps: tuple[int, int] = (200, 200),
    learning_rates: tuple[float, float] | None = None,
    scale: float = 1.0,
    seed: int = 0,
) -> TransferReport:
    """The prediction at infinite width beside real pretraining and fine-tuning.

    Args:
        source_inputs, source_labels, target_inputs, target_labels: as for `task_similarity`.
        width: units of the real networks, even.
        seeds: how many real networks.
        steps: of pretraining and of fine-tuning.
        learning_rates: of both stages; by default 1 / lambda_max of each Gram matrix.
        scale: standard deviation of the untrained weights. Predictions hold where units move by
            much less.
        seed: of the initialisations.

    Raises:
        ValueError: as `task_similarity`; for learning rates outside (0, 2/lambda_max), an odd
            width, no step or seed, and where a real network diverges.
    """
    if min(steps) < 1 or seeds < 1:
        raise ValueError(f"steps {steps} and seeds {seeds}: need at least one of each")
    with jax.enable_x64(True):
        source, target = _tasks(source_inputs, source_labels, target_inputs, target_labels)
        grams = [kernels.tangent_gram(task.inputs, task.inputs) for task in (source, target)]
        largest = [float(limit.largest_learning_rate(gram, NORMALISATION)) for gram in grams]
        rates = (largest[0] / 2, largest[1] / 2) if learning_rates is None else learning_rates
        for name, gram, rate in zip(("source", "target"), grams, rates):
            _run_check(f"{name} task", limit.check_learning_rate, gram, rate, NORMALISATION)
        predicted = _predict(source, target, rates, steps)

        def run(key: Array) -> dict[str, Array]:
            start = relu.initialise_silent(key, width, source.inputs.shape[1], scale)
            return _run(start, source, target, rates, steps)

        real = _for_each(run, jax.random.split(jax.random.key(seed), seeds))
        for name, rate, most in zip(("source", "target"), rates, largest):
            for losses in np.asarray(real[name]):
                where = f"{name} task at width {width} (wider is stabler)"
                _run_check(where, relu.check_descent, losses, rate, most)
        return TransferReport(
            tasks=_similarity(source, target),
            width=width,
            learning_rates=rates,
            steps=steps,
            predicted_start_loss=float(predicted.target_loss[0]),
            predicted_end_loss=float(predicted.target_loss[1]),
            predicted_movement=float(predicted.fine_tuning.distance[1]),
            start_losses=np.asarray(real["target"])[:, 0],
            end_losses=np.asarray(real["target"])[:, 1],
            movements=np.asarray(real["movement"]),
        )


def _for_each(run: Callable[[Array], dict[str, Array]], keys: Array) -> dict[str, Array]:
    """Real networks for all keys, some at once."""
    size = min(SEEDS_AT_ONCE, len(keys))
    return jax.jit(lambda keys: jax.lax.map(run, keys, batch_size=size))(keys)


def _run_check(name: str, check: Callable, *arguments: Any) -> None:
    """A check whose message begins with what it is about."""
    try:
        check(*arguments)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def _tasks(
    source_inputs: ArrayLike,
    source_labels: ArrayLike,
    target_inputs: ArrayLike,
    target_labels: ArrayLike,
) -> tuple[relu.Task, relu.Task]:
    pairs = ((source_inputs, source_labels), (target_inputs, target_labels))
    tasks = [relu.Task(*(jnp.asarray(part, float) for part in pair)) for pair in pairs]
    for name, task in zip(("source", "target"), tasks):
        _run_check(f"{name} task", relu.check_task, task)
        _run_check(f"{name} task", limit.check_gram, kernels.tangent_gram(task.inputs, task.inputs))
    dimensions = [task.inputs.shape[1] for task in tasks]
    if dimensions[0] != dimensions[1]:
        raise ValueError(
            f"source inputs have dimension {dimensions[0]}, target inputs {dimensions[1]}: "
            "both tasks need inputs of one kind"
        )
    return tasks[0], tasks[1]


def _similarity(source: relu.Task, target: relu.Task) -> Similarity:
    gram = kernels.tangent_gram(target.inputs, target.inputs)
    cross = kernels.tangent_gram(source.inputs, target.inputs)
    own = kernels.tangent_gram(source.inputs, source.inputs)
    mismatch = target.labels - _endless(own, source.labels).coefficients @ cross
    moved = [float(_endless(gram, r).distance) for r in (mismatch, target.labels)]
    sizes = [float(jnp.linalg.norm(residual)) for residual in (mismatch, target.labels)]
    return Similarity(
        np.asarray(mismatch),
        sizes[0],
        sizes[1],
        sizes[0] ** 2 / 2,
        sizes[1] ** 2 / 2,
        moved[0],
        moved[1],
    )


def _endless(gram: Float[Array, "n n"], residual: Float[Array, " n"]) -> limit.Trained:
    """Descent to its end, at half the largest learning rate."""
    rate = limit.largest_learning_rate(gram, NORMALISATION) / 2
    return limit.kernel_descent(gram, residual, rate, jnp.inf)


def _predict(
    source: relu.Task, target: relu.Task, rates: tuple[float, float], steps: tuple[int, int]
) -> limit.Transfer:
    """Before and after fine-tuning."""
    inputs = jnp.concatenate([source.inputs, target.inputs])
    before = limit.Stage(source.labels, jnp.zeros_like(source.labels), rates[0], steps[0])
    times = jnp.array([0, steps[1]])
    after = limit.Stage(target.labels, jnp.zeros_like(target.labels), rates[1], times)
    gram = kernels.tangent_gram(inputs, inputs)
    return limit.transfer(gram, before, after, normalisation=NORMALISATION)


def _run(
    network: relu.Network,
    source: relu.Task,
    target: relu.Task,
    rates: tuple[float, float],
    steps: tuple[int, int],
) -> dict[str, Any]:
    """First and last loss of both stages, and the movement in the second."""

    def loss(now: relu.Network, task: relu.Task) -> Any:
        return relu.loss(now, task, NORMALISATION)

    descend = partial(relu.train_to, normalisation=NORMALISATION)
    ready = descend(network, source, rates[0], steps[0])
    tuned = descend(ready, target, rates[1], steps[1])
    return {
        "source": jnp.stack([loss(network, source), loss(ready, source)]),
        "target": jnp.stack([loss(ready, target), loss(tuned, target)]),
        "movement": jnp.linalg.norm(tuned.weights - ready.weights),
    }
