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
# # Which layers are worth fine-tuning?
#
# Afzal et al. (2025) say: while fine-tuning stays near its start it behaves like the linearised model,
# and that one can be solved. So the tangent kernel of a layer should tell what tuning it will bring,
# before it is tuned. Does it, in a small network?

# %%
# %matplotlib inline
import equinox as eqx
import jax
import jax.numpy as jnp
from matplotlib.figure import Figure
from rich.console import Console

import theorysim
from theorysim.engine.registry.ledger import errata
from theorysim.numerics.models import from_equinox
from theorysim.report.errata import render_list

jax.config.update("jax_enable_x64", True)

keys = jax.random.split(jax.random.key(0), 3)
module = eqx.nn.MLP(8, 1, 32, 2, activation=jnp.tanh, key=keys[0], dtype=jnp.float64)
model, params = from_equinox(module)
inputs = jax.random.normal(keys[1], (20, 8))
targets = jnp.sign(jax.random.normal(keys[2], (20, 1)))
task = (model, params, inputs, targets)

# %% [markdown]
# ## How far is fine-tuning from the linearised model?
#
# The network is trained with three strengths $\lambda$ of the pull towards its start. The linearised
# model needs no training: its loss is known in closed form at every step.

# %%
steps = jnp.arange(1501)
picture = Figure(figsize=(7, 3.5), layout="constrained")
axis = picture.subplots()
for number, strength in enumerate((0.0, 0.5, 5.0)):
    setting = {"strength": strength, "learning_rate": 0.003}
    run = theorysim.fine_tune(*task, steps=1500, **setting)
    linear = theorysim.train_linearized(*task, steps, **setting)
    axis.plot(run.loss, color=f"C{number}", label=f"$\\lambda$ = {strength:g}")
    axis.plot(linear.loss, "--", color=f"C{number}")
    gap = float(run.linear_gap[-1])
    print(f"strength {strength:g}: moved by {float(run.distance[-1]):.2f}, gap {gap:.3f}")
axis.set(xlabel="step", ylabel="training loss", yscale="log")
axis.legend(title="network (dashed: linearised)")
picture

# %% [markdown]
# A strong pull keeps the network near its start, and the two agree. Without any pull both end up
# fitting the data, and agree again; in between they differ most.
#
# ## Rank the layers before tuning them
#
# $\eta$ measures a layer's kernel against that of the layers that are tuned already. The predicted and
# the measured change of the training risk stand beside it.

# %%
print(theorysim.rank_layers(*task, sigma=0.1, steps=500))

# %% [markdown]
# ## What is wrong in print
#
# `theorysim errata ID` shows the words and a minimal counterexample of each.

# %%
found = [line for line in errata() if line["theorem"].startswith("linearization/")]
render_list(found, Console(width=100, color_system=None, force_jupyter=False))

# %% [markdown]
# ## The answer
#
# Yes, here: the prediction ranks the layers as training does, without training any of them. It is as
# good as the linearised model, so look at the gap first.
# [What the statements turned out to be](../docs/papers/linearization.md) has the rest.
