"""Risk of fine-tuning a deep linear network over its depth and the ratio alpha of the teachers.

A 0-balanced network that has learned the teacher `source` is fine-tuned by gradient flow on n < d
samples of the teacher alpha source (Shachaf et al. 2021, Theorem 5.2). The limit is
k_L P_perp source + alpha P_par source, so the risk is (k_L - alpha)^2 |P_perp source|^2: it is
(1 - alpha)^2 |P_perp source|^2 at depth one and vanishes at infinite depth, where k_L = alpha.
Drawn is the risk over |target|^2, its mean over random data.

Run: python -m validation.phase_diagrams.depth_and_scale [--points 81] [--out PICTURE]
"""

import argparse
from pathlib import Path

import jax
import jax.numpy as jnp
import matplotlib
import numpy as np
import xarray
from matplotlib import pyplot as plt
from matplotlib.colors import LogNorm

import theorysim
from theorysim.systems.deep_linear_limit import limit

matplotlib.use("Agg", force=False)

DIMENSION, SAMPLES, SEEDS = 20, 10, 16
PICTURE = Path(__file__).parents[2] / "docs" / "pictures" / "depth_and_scale.png"


def risk(depth, alpha, key):
    """|limit - target|^2 / |target|^2 for standard normal data."""
    data_key, source_key = jax.random.split(key)
    data = jax.random.normal(data_key, (SAMPLES, DIMENSION))
    source = jax.random.normal(source_key, (DIMENSION,))
    target = alpha * source
    missed = limit(data, source, target, depth) - target
    return jnp.sum(missed**2) / jnp.sum(target**2)


def diagram(points: int) -> xarray.Dataset:
    """The sweep."""
    axes = {"depth": np.geomspace(1, 100, points), "alpha": np.geomspace(0.1, 10, points)}
    with jax.enable_x64(True):
        return theorysim.sweep(
            risk, axes, seeds=SEEDS, statistics=("mean", "standard_error"), progress=True
        )


def depth_one_error(found: xarray.Dataset) -> float:
    """The largest relative difference to (1 - 1 / alpha)^2 times a constant at depth one."""
    alpha = found["alpha"].values
    theory = (1 - 1 / alpha) ** 2
    measured = found["risk_mean"].isel(depth=0).values
    away = np.abs(np.log(alpha)) > 0.1  # at alpha = 1 both vanish
    ratio = measured[away] / theory[away]
    return float(np.ptp(ratio) / ratio.mean())


def draw(found: xarray.Dataset, path: Path) -> None:
    """A heat map over both axes."""
    figure, axis = plt.subplots(figsize=(6, 4.4), layout="constrained")
    mesh = axis.pcolormesh(
        found["depth"],
        found["alpha"],
        found["risk_mean"].transpose("alpha", "depth"),
        shading="nearest",
        norm=LogNorm(1e-5, 10),
    )
    figure.colorbar(mesh, label="risk / |target|²", extend="both")
    axis.set(xscale="log", yscale="log", xlabel="depth", ylabel="alpha = |target| / |source|")
    axis.set_title(f"d = {DIMENSION}, n = {SAMPLES}, mean over {SEEDS} data sets", fontsize=10)
    figure.savefig(path, dpi=120)
    plt.close(figure)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, default=81)
    parser.add_argument("--out", type=Path, default=PICTURE)
    arguments = parser.parse_args()
    measured = diagram(arguments.points)
    print(f"at depth one the risk is (1 - 1/alpha)^2 up to {depth_one_error(measured):.1e}")
    draw(measured, arguments.out)
