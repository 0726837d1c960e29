"""Where fine-tuning begins to harm: the inflection point over pull-back and spectrum decay.

A map with features exp(-decay i), i = 0..d-1, is pre-trained in ideal stages and fine-tuned to
equal features ft, with a pull-back of strength lam (Springer et al. 2025, Definition 4.2, Section
A.6). Learned modes end at (ft + lam pre) / (1 + lam), so learning feature i raises the pre-training
loss where pre_i < ft / (2 + lam): the inflection point is the number of features above, which makes
the borders lam = ft exp(decay r) - 2.

Run: python -m validation.phase_diagrams.inflection_point [--points 121] [--out PICTURE]
"""

import argparse
from pathlib import Path

import jax
import jax.numpy as jnp
import matplotlib
import numpy as np
import xarray
from matplotlib import pyplot as plt

import theorysim
from theorysim.systems.ideal_stages import ideal_stages, inflection_point
from theorysim.systems.linear_modes import Tuning

matplotlib.use("Agg", force=False)

MODES = 12
FINE_TUNED = 0.5
LEARNING_RATE = 0.05
# The least feature, exp(-16.5), grows by at least exp(4 eta ft / (1 + lam)) = exp(0.009) a step.
STEPS = 5000
PICTURE = Path(__file__).parents[2] / "docs" / "pictures" / "inflection_point.png"


def stage(lam, decay):
    """The number of learned features after which learning more harms."""
    features = jnp.exp(-decay * jnp.arange(MODES))
    rate = LEARNING_RATE / (1 + lam)
    tuning = Tuning(jnp.full(MODES, FINE_TUNED, features.dtype), features, lam, rate)
    return inflection_point(ideal_stages(tuning, STEPS).pretraining_increments)


def predicted(lam, decay):
    """The number of features of at least ft / (2 + lam)."""
    features = np.exp(-decay[..., None] * np.arange(MODES))
    return np.sum(features >= FINE_TUNED / (2 + lam[..., None]), axis=-1)


def diagram(points: int) -> xarray.Dataset:
    """The sweep."""
    axes = {"decay": np.linspace(0.1, 1.5, points), "lam": np.linspace(0, 10, points)}
    with jax.enable_x64(True):
        return theorysim.sweep(stage, axes, progress=True)


def agreement(found: xarray.Dataset) -> float:
    """The share of cells where the measured stage is the predicted one."""
    decay, lam = np.meshgrid(found["decay"], found["lam"], indexing="ij")
    return float(np.mean(found["stage"].values == predicted(lam, decay)))


def draw(found: xarray.Dataset, path: Path) -> None:
    """A heat map with the borders of theory."""
    figure, axis = plt.subplots(figsize=(6, 4.4), layout="constrained")
    mesh = axis.pcolormesh(found["lam"], found["decay"], found["stage"], shading="nearest")
    figure.colorbar(mesh, label="inflection point r (features)")
    decay = found["decay"].values
    for border in range(1, MODES):
        lam = FINE_TUNED * np.exp(decay * border) - 2
        axis.plot(lam, decay, color="white", linewidth=0.8)
    axis.set(
        xlim=(0, 10), ylim=(decay[0], decay[-1]), xlabel="pull-back lam", ylabel="decay of spectrum"
    )
    axis.set_title("Measured stages, and borders lam = ft exp(decay r) - 2", fontsize=10)
    figure.savefig(path, dpi=120)
    plt.close(figure)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, default=121)
    parser.add_argument("--out", type=Path, default=PICTURE)
    arguments = parser.parse_args()
    measured = diagram(arguments.points)
    print(f"theory agrees in {agreement(measured):.2%} of {measured['stage'].size} cells")
    draw(measured, arguments.out)
