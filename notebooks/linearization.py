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
# Afzal et al. (2025) say: while fine-tuning stays near its start it behaves like the linearised
# model, and that one can be solved. So the tangent kernel of a layer should tell what tuning it
# will bring, before it is tuned. Does it, in a small network?

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
module = eqx.nn.MLP(8, 1, 32, 4, activation=jnp.tanh, key=keys[0], dtype=jnp.float64)
model, params = from_equinox(module)
inputs = jax.random.normal(keys[1], (20, 8))
targets = jnp.sign(jax.random.normal(keys[2], (20, 1)))
task = (model, params, inputs, targets)

# %% [markdown]
# ## How far is fine-tuning from the linearised model?
#
# The network is trained with a strong, a middling and a weak pull towards its start. The linearised
# model needs no training: its loss is known in closed form at every step.

# %%
steps = jnp.arange(3001)
picture = Figure(figsize=(7, 3.5), dpi=200, layout="constrained")
axis = picture.subplots()
for number, strength in enumerate((50.0, 5.0, 0.2)):
    setting = {"strength": strength, "learning_rate": 0.0005}
    run = theorysim.fine_tune(*task, steps=3000, **setting)
    linear = theorysim.train_linearized(*task, steps, **setting)
    axis.plot(run.loss, color=f"C{number}", label=f"$\\lambda$ = {strength:g}")
    axis.plot(linear.loss, "--", color=f"C{number}")
    gap = float(run.linear_gap[-1])
    print(
        f"pull {strength:g}: moved by {float(run.distance[-1]):.2f}, gap of the outputs {gap:.2f}"
    )
axis.set(xlabel="step", ylabel="training loss", yscale="log")
axis.legend(title="network (dashed: linearised)")
picture

# %% [markdown]
# ## Rank the layers before tuning them
#
# $\eta$ measures a layer's kernel against that of the layer that is tuned already, the last one.
# `predicted` is the loss with that layer divided by the loss without it, as the linearised model
# has it; `measured` is the same for the network. First with the strong pull (`sigma` is half of
# it):

# %%
print(theorysim.rank_layers(*task, sigma=25.0, steps=500))

# %% [markdown]
# The predicted loss is right to half a percent, for each layer, before any was tuned. But so strong
# a pull lets no layer bring much. Now with the weak one:

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
# Yes, as long as tuning stays near its start: look at the gap first. Where it does not, the
# linearised model promises a few percent from each layer, and the network's loss falls up to a
# hundredfold with an early layer. $\eta$ had put the early layers first; one small network is no
# evidence that it always does. [What the statements turned out to
# be](../docs/papers/linearization.md) has the rest.
