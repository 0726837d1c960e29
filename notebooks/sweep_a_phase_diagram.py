# ---
# jupyter:
#   jupytext:
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Which checkpoint, and how strong a pull-back?
#
# You fine-tune a pre-trained model and pull it back to its start with a strength $\lambda$. From
# some stage of pre-training on, a later checkpoint only harms the old task. In a two-layer linear
# network, where is that stage, and how strong must the pull-back be to move it behind stage 8?
#
# ## Sweep a function
#
# Any pure JAX function will do. This one returns the last harmless stage of twelve features
# $e^{-\text{decay} \cdot i}$ that are tuned to one half each. `sweep` evaluates it over the whole
# plane, compiled once, and returns an array with labels.

# %%
# %matplotlib inline
from pathlib import Path
from tempfile import mkdtemp

import jax.numpy as jnp
import numpy as np
import xarray

import theorysim
from theorysim.engine.sweep.theorems import claim_sides
from theorysim.report import sweep_plot
from theorysim.systems.ideal_stages import ideal_stages, inflection_point
from theorysim.systems.linear_modes import Tuning


def last_harmless_stage(lam, decay):
    """How many features may be learned before the next one raises the old loss."""
    features = jnp.exp(-decay * jnp.arange(12))
    tuning = Tuning(jnp.full(12, 0.5), features, lam, 0.05 / (1 + lam))
    return inflection_point(ideal_stages(tuning, 3000).pretraining_increments)


found = theorysim.sweep(
    last_harmless_stage, {"decay": np.linspace(0.1, 1.5, 60), "lam": np.linspace(0, 10, 60)}
)
sweep_plot.figure(found)

# %% [markdown]
# The labels answer the question: take the row of your spectrum, and the first $\lambda$ that is
# enough.

# %%
row = found["last_harmless_stage"].sel(decay=0.4, method="nearest")
enough = row["lam"].where(row >= 8, drop=True)
print(f"without a pull-back the last harmless stage is {int(row.sel(lam=0))}")
print(f"it is 8 from lam = {float(enough[0]):.1f} on")

# %% [markdown]
# ## Sweep a theorem, into a store
#
# A theorem takes the place of the function: then both sides of its claims and their distance are
# evaluated, and fields that are not on the grid are drawn. Lemma A.28 of the same paper is printed
# with a wrong fixed point. Wrong everywhere? With `out=` finished tiles are kept on disk, so a long
# sweep survives an interruption, and its memory stays flat.

# %%
printed = claim_sides(
    "overtraining/lemma-a.28", reading="Section A.6", claim="rate", settings={"lam": 3}
)
features = np.geomspace(0.1, 10, 41)
plane = {"sigma": features, "sigma_0": features}  # of the new task and of the old one
store = Path(mkdtemp()) / "lemma.zarr"
theorysim.sweep(printed, plane, seeds=4, out=store)
rates = theorysim.sweep(printed, plane, seeds=4, out=store)  # finds every tile, computes nothing
sweep_plot.figure(rates)

# %% [markdown]
# Red is violated, and the grey diagonal shows what is wrong: the print has swapped the two
# features, which does no harm where they are equal. In the other grey parts the bound has hardly
# moved within the 200 steps of a run, and is not yet broken. Any program that reads zarr opens the
# store:

# %%
least = xarray.open_zarr(store, chunks=None)["rate.slack"].min(["rate.slack_0", "seed"])
row = least.sel(sigma=1, method="nearest").sel(sigma_0=[1, 3, 10], method="nearest")
print(
    "violated at sigma = 1 by", -row.values.round(3), "at sigma_0 =", row["sigma_0"].values.round(2)
)

# %% [markdown]
# ## The answer
#
# Where features shrink by a third from one to the next, the first harmful stage comes early, and a
# pull-back of the strength above moves it behind stage 8. The plane says it for every other
# spectrum, too. All options of a sweep, sizes, seeds, statistics, several devices, are in [the
# guide](../docs/guide/sweeps.md).
