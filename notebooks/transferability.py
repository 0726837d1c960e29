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
# The main results of Liu et al. (2019) on wide two-layer ReLU networks: a source task (P) changes
# where fine-tuning on a target (Q) starts and how far the weights move, by the mismatch
# $y_Q - y_{P \to Q}$ of the two tasks.

# %%
# %matplotlib inline
import jax
import jax.numpy as jnp
import numpy as np
from matplotlib.figure import Figure

import theorysim
from theorysim.engine.registry.ledger import errata
from theorysim.numerics import kernels
from theorysim.systems import two_layer_relu_limit as limit

jax.config.update("jax_enable_x64", True)
rng = np.random.default_rng(0)


def units(count, dimension=5):
    """Random inputs of length one."""
    rows = rng.normal(size=(count, dimension))
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


# %% [markdown]
# ## A target beside its source
#
# Both tasks label inputs by the same smooth function; the target's inputs are new. Prediction at
# infinite width, and real gradient descent of networks with 4096 units.

# %%
direction = units(1)[0]
source_inputs, target_inputs = units(20), units(6)


def labels(inputs):
    """The labelling function of the target."""
    return np.clip(1.5 * inputs @ direction, -1, 1)


tasks = (source_inputs, labels(source_inputs), target_inputs, labels(target_inputs))
print(theorysim.transfer_report(*tasks, width=4096, seeds=4, steps=(100, 100)))

# %% [markdown]
# ## From the same task to the opposite one
#
# Turn the source's labelling function away from the target's: the similarity of the tasks decides
# whether pretraining helps (Theorems 1 and 2). Dashed: training from scratch.

# %%
angles = np.linspace(0, np.pi, 25)
other = units(1)[0]
other = other - (other @ direction) * direction
other = other / np.linalg.norm(other)
found = [
    theorysim.task_similarity(
        source_inputs,
        np.clip(1.5 * source_inputs @ (np.cos(a) * direction + np.sin(a) * other), -1, 1),
        target_inputs,
        labels(target_inputs),
    )
    for a in angles
]
picture = Figure(figsize=(7, 3.2), layout="constrained")
first, second = picture.subplots(1, 2)
first.plot(angles, [f.start_loss for f in found])
first.axhline(found[0].scratch_start_loss, linestyle="--", color="grey")
first.set(xlabel="angle of the tasks", ylabel="start loss")
second.plot(angles, [f.movement for f in found])
second.axhline(found[0].scratch_movement, linestyle="--", color="grey")
second.set(xlabel="angle of the tasks", ylabel="movement")
picture

# %% [markdown]
# ## How long to pretrain
#
# With some wrong source labels the start loss of fine-tuning first falls and then rises again.

# %%
crowd = units(60)
noisy = np.where(rng.random(60) < 0.1, -1, 1) * labels(crowd)
inputs = jnp.concatenate([crowd, target_inputs])
gram = kernels.tangent_gram(inputs, inputs)
rate = limit.largest_learning_rate(gram[:60, :60], "half_sum") / 2


def start_loss(steps):
    """The loss on the target after some steps of pretraining."""
    before = limit.Stage(jnp.asarray(noisy), jnp.zeros(60), rate, steps)
    after = limit.Stage(jnp.asarray(labels(target_inputs)), jnp.zeros(6), 1.0, jnp.array([0]))
    return limit.transfer(gram, before, after, normalisation="half_sum").target_loss[0]


steps = jnp.round(jnp.logspace(0, 4, 60))
losses = jax.vmap(start_loss)(steps)
print(f"best after {int(steps[jnp.argmin(losses)])} steps")
picture = Figure(figsize=(6, 3), layout="constrained")
axis = picture.subplots()
axis.semilogx(steps, losses)
axis.set(xlabel="pretraining steps", ylabel="start loss on the target")
picture

# %% [markdown]
# ## What the paper prints
#
# `theorysim verify` takes every statement as printed; here is one that needs a correction.

# %%
print(theorysim.verify("transferability/remark-scratch-bound"))

# %%
for entry in errata():
    if entry["theorem"].startswith("transferability/"):
        print(f"{entry['theorem']} ({entry['reading']}): {entry['claim']}")
