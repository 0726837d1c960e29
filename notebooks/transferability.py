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
# # How much closer does pretraining bring me?
#
# In Liu et al. (2019) a wide two-layer ReLU network is pretrained on a source task (P) and
# fine-tuned on a target (Q). Where does fine-tuning start, and how far do the weights still have to
# move, beside training from scratch? The paper answers with one vector, the mismatch $y_Q - y_{P
# \to Q}$ of the tasks.

# %%
# %matplotlib inline
import numpy as np
from matplotlib.figure import Figure
from rich.console import Console

import theorysim
from theorysim.engine.registry.ledger import errata
from theorysim.report.errata import render_list

rng = np.random.default_rng(0)


def units(count, dimension=5):
    """Random inputs of length one."""
    rows = rng.normal(size=(count, dimension))
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


# %% [markdown]
# ## The same task on new inputs
#
# Prediction at infinite width, and real gradient descent of networks of width 2048.

# %%
direction, aside = units(2)
source, target = units(20), units(6)


def labels(inputs, angle=0.0):
    """A smooth labelling function along a direction that the angle turns away from the target's."""
    across = aside - (aside @ direction) * direction
    across = across / np.linalg.norm(across)
    return np.clip(1.5 * inputs @ (np.cos(angle) * direction + np.sin(angle) * across), -1, 1)


tasks = (source, labels(source), target, labels(target))
print(theorysim.transfer_report(*tasks, width=2048, seeds=2, steps=(100, 100)))

# %% [markdown]
# ## From the same task to the opposite one (Theorems 1 and 2)
#
# The source's labelling function is turned away from the target's. Dashed: training from scratch.

# %%
angles = np.linspace(0, 180, 25)
turned = [
    theorysim.task_similarity(source, labels(source, np.deg2rad(angle)), target, labels(target))
    for angle in angles
]
picture = Figure(figsize=(7, 3.2), dpi=200, layout="constrained")
for axis, name, scratch in zip(
    picture.subplots(1, 2),
    ("start_loss", "movement"),
    (turned[0].scratch_start_loss, turned[0].scratch_movement),
):
    axis.plot(angles, [getattr(each, name) for each in turned])
    axis.axhline(scratch, linestyle="--", color="grey")
    axis.set(xlabel="angle of the tasks, degrees", ylabel=name.replace("_", " "))
better = [angle for angle, each in zip(angles, turned) if each.movement < each.scratch_movement]
print(f"pretraining shortens the way up to an angle of {max(better):g} degrees")
picture

# %% [markdown]
# ## What is wrong in print
#
# `theorysim errata ID` shows the words and a minimal counterexample of each.

# %%
found = [line for line in errata() if line["theorem"].startswith("transferability/")]
render_list(found, Console(width=100, color_system=None, force_jupyter=False))

# %% [markdown]
# ## The answer
#
# Pretraining helps where the source's solution predicts the target's labels, and harms where it
# does not; the mismatch tells which, and by how much, before any network is trained. [What the
# statements turned out to be](../docs/papers/transferability.md) has the rest, with digits.
