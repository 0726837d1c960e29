"""Transfer of wide ReLU networks at full size: exponents in the width, digits, and memory.

Liu et al. (2019), Theorems 1 and 2, with the networks of `theorysim.systems.two_layer_relu` beside
the exact dynamics of infinite width.

    pip install '.[data]' && python -m validation.transferability [widths] [digits] [memory]

records validation/transferability.json and draws docs/pictures/transfer_widths.png.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import resource
import time
from functools import partial
from pathlib import Path

import jax
import jax.numpy as jnp
import matplotlib
import numpy as np
from matplotlib import pyplot as plt

import theorysim
from theorysim.numerics import kernels
from theorysim.numerics.statistics import loglog_slope
from theorysim.systems import two_layer_relu as relu
from theorysim.systems import two_layer_relu_limit as limit

matplotlib.use("Agg", force=False)

HERE = Path(__file__).resolve()
RECORD = HERE.with_suffix(".json")
PICTURE = HERE.parents[1] / "docs" / "pictures" / "transfer_widths.png"

NORMALISATION = "half_sum"
WIDTHS = (256, 1024, 4096, 16384, 65536)
SAMPLES, DIMENSION, SEEDS = 4, 5, 16
# Few enough that the loss is far above its rounding at the end.
STEPS = (20, 10)
OBSERVABLES = (
    "outputs",
    "loss",
    "activation gradient",
    "movement in pretraining",
    "movement in fine-tuning",
    "movement over both",
)


def tasks(key) -> tuple[relu.Task, relu.Task]:
    """Random unit inputs and labels."""
    for_inputs, for_labels = jax.random.split(key)
    rows = jax.random.normal(for_inputs, (2, SAMPLES, DIMENSION))
    rows = rows / jnp.linalg.norm(rows, axis=-1, keepdims=True)
    labels = jax.random.uniform(for_labels, (2, SAMPLES), minval=-1, maxval=1)
    return relu.Task(rows[0], labels[0]), relu.Task(rows[1], labels[1])


def observed(network: relu.Network, source: relu.Task, target: relu.Task, rates) -> dict:
    """Both stages of a real network."""
    descend = partial(relu.train_to, normalisation=NORMALISATION)
    ready = descend(network, source, rates[0], STEPS[0])
    tuned = descend(ready, target, rates[1], STEPS[1])
    end = relu.observe(tuned, ready, target, NORMALISATION)
    start = relu.outputs(ready, target.inputs) - target.labels
    return {
        "outputs": end.outputs,
        "loss": end.loss,
        "activation gradient": jnp.linalg.norm(start),
        "movement in pretraining": jnp.linalg.norm(ready.weights - network.weights),
        "movement in fine-tuning": end.distance,
        "movement over both": jnp.linalg.norm(tuned.weights - network.weights),
    }


def predicted(initial, gram, source: relu.Task, target: relu.Task, rates) -> dict:
    """The same at infinite width, from the given untrained outputs."""
    before = limit.Stage(source.labels, initial[:SAMPLES], rates[0], STEPS[0])
    after = limit.Stage(target.labels, initial[SAMPLES:], rates[1], jnp.array([0, STEPS[1]]))
    path = limit.transfer(gram, before, after, normalisation=NORMALISATION)
    return {
        "outputs": path.target_outputs[1],
        "loss": path.target_loss[1],
        "activation gradient": jnp.linalg.norm(path.fine_tuning.residual[0]),
        "movement in pretraining": path.pretraining.distance,
        "movement in fine-tuning": path.fine_tuning.distance[1],
        "movement over both": path.distance[1],
    }


def error(initialise, width: int, key) -> dict:
    """Predicted minus real, for one task and one network."""
    for_task, for_network = jax.random.split(key)
    source, target = tasks(for_task)
    inputs = jnp.concatenate([source.inputs, target.inputs])
    gram = kernels.tangent_gram(inputs, inputs)
    grams = gram[:SAMPLES, :SAMPLES], gram[SAMPLES:, SAMPLES:]
    rates = [limit.largest_learning_rate(own, NORMALISATION) / 2 for own in grams]
    network = initialise(for_network, width, DIMENSION, 1.0)
    real = observed(network, source, target, rates)
    theory = predicted(relu.outputs(network, inputs), gram, source, target, rates)
    return jax.tree.map(lambda a, b: a - b, real, theory)


def widths() -> dict:
    """Root mean square errors over tasks and networks, and their powers of the width."""
    keys = jax.random.split(jax.random.key(0), SEEDS)
    starts = {"silent": relu.initialise_silent, "gaussian": relu.initialise}
    found = {}
    for name, initialise in starts.items():
        squares: dict[str, list] = {observable: [] for observable in OBSERVABLES}
        for width in WIDTHS:
            run = jax.jit(partial(jax.lax.map, partial(error, initialise, width)))
            for observable, difference in run(keys).items():
                size = np.sum(np.asarray(difference).reshape(SEEDS, -1) ** 2, axis=1)
                squares[observable].append(size)
        found[name] = {
            observable: _fitted(np.stack(table)) for observable, table in squares.items()
        }
    draw(found, PICTURE)
    return {"widths": WIDTHS, "tasks": SEEDS, "steps": STEPS, "errors": found}


def _fitted(squares: np.ndarray) -> dict:
    """Errors per width (rows of `squares`, one column per task) and the exponent, jackknifed."""

    def slope(table: np.ndarray) -> float:
        return float(loglog_slope(np.array(WIDTHS, float), np.sqrt(table.mean(1))).value)

    without = [slope(np.delete(squares, task, axis=1)) for task in range(squares.shape[1])]
    spread = np.sqrt((len(without) - 1) * np.var(without))
    rms = np.sqrt(squares.mean(1))
    return {"rms": rms.tolist(), "exponent": slope(squares), "standard error": float(spread)}


def draw(found: dict, path: Path) -> None:
    """Errors against the width, with the slope -1/2."""
    figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained", sharey=True)
    for axis, (name, table) in zip(axes, found.items()):
        for observable, fit in table.items():
            label = f"{observable}: {fit['exponent']:.2f} ± {fit['standard error']:.2f}"
            axis.loglog(WIDTHS, fit["rms"], "o-", markersize=3, label=label)
        top = max(fit["rms"][0] for fit in table.values())
        axis.loglog(WIDTHS, top * np.sqrt(WIDTHS[0] / np.array(WIDTHS)), "k:", label="slope -1/2")
        axis.set(xlabel="width m", title=f"{name} start")
        axis.legend(fontsize=7)
    axes[0].set_ylabel("root mean square error of the prediction")
    path.parent.mkdir(exist_ok=True)
    figure.savefig(path, dpi=120)
    plt.close(figure)


def digits() -> dict:
    """Source tasks on 150 digits for a target of 100 others, whose labels are +1 below five."""
    from sklearn.datasets import load_digits

    data = load_digits()
    order = np.random.default_rng(0).permutation(len(data.target))
    images, numbers = data.images[order] / 16, data.target[order]
    source, target = slice(0, 150), slice(150, 250)

    def unit(pictures: np.ndarray) -> np.ndarray:
        rows = pictures.reshape(len(pictures), -1)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    def sign(of: np.ndarray) -> np.ndarray:
        return np.where(of, 1.0, -1.0)

    shuffle = np.random.default_rng(1).permutation(64)
    pixels = images.reshape(-1, 64)[:, shuffle].reshape(images.shape)
    bright = images[:, :4].mean((1, 2))
    sources = {
        "same": (images, sign(numbers < 5)),
        "upside down": (images[:, ::-1], sign(numbers < 5)),
        "permuted pixels": (pixels, sign(numbers < 5)),
        "parity": (images, sign(numbers % 2 == 0)),
        "brightness": (images, sign(bright > np.median(bright))),
        "random labels": (images, np.random.default_rng(2).choice([-1.0, 1.0], len(images))),
    }
    goal = unit(images[target]), sign(numbers[target] < 5)
    found = {}
    for name, (pictures, labels) in sources.items():
        report = theorysim.transfer_report(
            unit(pictures[source]), labels[source], *goal, width=4096, seeds=2, steps=(300, 300)
        )
        tasks = report.tasks
        found[name] = {
            "similarity": tasks.similarity,
            "from scratch": tasks.scratch_similarity,
            "endless movement": tasks.movement,
            "endless movement from scratch": tasks.scratch_movement,
            "predicted start loss": report.predicted_start_loss,
            "real start losses": report.start_losses.tolist(),
            "predicted movement": report.predicted_movement,
            "real movements": report.movements.tolist(),
        }
        print(f"{name}\n{report}\n", flush=True)
    return found


def _wide_run(answer) -> None:
    """64 networks of 16384 units."""
    with jax.enable_x64(True):
        first, second = tasks(jax.random.key(1))
    start = time.perf_counter()
    report = theorysim.transfer_report(*first, *second, width=16384, seeds=64, steps=(20, 20))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20  # GiB of KiB
    seconds = time.perf_counter() - start
    movements = report.movements
    answer.put(
        {
            "seeds": len(movements),
            "width": report.width,
            "peak GiB": peak,
            "seconds": seconds,
            "predicted movement": report.predicted_movement,
            "mean movement": float(movements.mean()),
            "deviation": float(movements.std()),
        }
    )


def memory() -> dict:
    """The peak memory of a process of its own that runs many wide networks."""
    context = multiprocessing.get_context("spawn")
    answer = context.Queue()
    child = context.Process(target=_wide_run, args=(answer,))
    child.start()
    found = answer.get(timeout=1800)
    child.join()
    return found


CAMPAIGNS = {"widths": widths, "digits": digits, "memory": memory}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("campaigns", nargs="*", default=list(CAMPAIGNS), choices=list(CAMPAIGNS))
    record = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    with jax.enable_x64(True):
        for name in parser.parse_args().campaigns:
            record[name] = CAMPAIGNS[name]()
            RECORD.write_text(json.dumps(record, indent=1) + "\n")
            print(name, json.dumps(record[name], indent=1), flush=True)
