"""When fine-tuning stops being easier than learning from scratch: recovery time over (xi, k).

A network of k neurons with orthonormal features, readouts 1 and the third Hermite polynomial is
perturbed by xi c u^T; the student has the teacher's signs, half of them positive. The time of the
population's flow from an overlap of 1/sqrt(d) to 1/2 is swept over (xi, k) at d = 1000, for the
loss divided by xi^2 (Dayi and Chen 2024, Figure 5). With A = 1 + xi^2/k,

    h(m) / xi^2 = 6 A^-3 (1 + 2 xi^2 m / k):

at the start the features' own correlations (the 1) lead while xi < d^(1/4) k^(1/2), the paper's
threshold up to a constant; beyond it the student's own (the part with m), as from scratch.

Run: python -m validation.phase_diagrams.lora_recovery [--points 61] [--out PICTURE]
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
from theorysim.numerics.gaussian import hermite
from theorysim.systems import rank_one
from theorysim.systems.rank_one_overlap import hitting_time

matplotlib.use("Agg", force=False)

DIMENSION = 1000
LEVEL = 0.5
MOST = 32
PICTURE = Path(__file__).parents[2] / "docs" / "pictures" / "lora_recovery.png"


def recovery_time(xi, k):
    """Time of the flow for the loss divided by xi^2; of MOST neurons, k have a readout."""
    place = jnp.arange(MOST)
    used = jnp.where(place < k, 1.0, 0.0)
    signs = jnp.where(place % 2 == 0, 1.0, -1.0)
    # MOST neurons at this scale have the A = 1 + xi^2 / k and the xi c of k neurons at scale xi.
    scale = xi * jnp.sqrt(MOST / k)
    given = rank_one.from_signs(jnp.eye(MOST), used, signs, signs, scale)
    return xi**2 * hitting_time(given, hermite(3), DIMENSION**-0.5, LEVEL)


def diagram(points: int) -> xarray.Dataset:
    """The sweep."""
    axes = {"xi": np.geomspace(0.3, 300, points), "k": np.arange(2.0, MOST + 1, 2)}
    with jax.enable_x64(True):
        return theorysim.sweep(recovery_time, axes, progress=True)


def predicted(xi, k):
    """A^3 / 6 times the shorter of the flows of h = 1 and of h = 2 xi^2 m / k."""
    first, last = np.arctanh(DIMENSION**-0.5), np.arctanh(LEVEL)
    scratch = np.log(np.sinh(last) / np.sinh(first)) * k / (2 * xi**2)
    return (1 + xi**2 / k) ** 3 / 6 * np.minimum(last - first, scratch)


def draw(found: xarray.Dataset, path: Path) -> None:
    """A heat map with the threshold."""
    figure, axis = plt.subplots(figsize=(6, 4.4), layout="constrained")
    xi, k = found["xi"].values, found["k"].values
    times = np.log10(found["recovery_time"].transpose("k", "xi").values)
    mesh = axis.pcolormesh(xi, k, times, shading="nearest")
    figure.colorbar(mesh, label="log10 of the time to an overlap of 1/2")
    axis.plot(DIMENSION**0.25 * np.sqrt(k), k, color="white", label="d^(1/4) k^(1/2)")
    axis.set(xscale="log", xlabel="xi", ylabel="neurons k")
    axis.legend(loc="lower right")
    axis.set_title("Recovery of u at d = 1000, third Hermite polynomial", fontsize=10)
    figure.savefig(path, dpi=120)
    plt.close(figure)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, default=61)
    parser.add_argument("--out", type=Path, default=PICTURE)
    arguments = parser.parse_args()
    measured = diagram(arguments.points)
    xi, k = np.meshgrid(measured["xi"], measured["k"], indexing="ij")
    ratio = measured["recovery_time"].transpose("xi", "k").values / predicted(xi, k)
    print(f"measured over predicted time: {ratio.min():.2f} to {ratio.max():.2f}")
    draw(measured, arguments.out)
