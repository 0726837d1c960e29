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
# # Why are overtrained models harder to fine-tune?
#
# Springer et al. (2025) answer with a network of two linear layers, $\theta = W_1 W_2$. Their main
# theorem, 4.7, is the subject of [Is this theorem true as printed?](tour.ipynb). Here is what it
# rests on, and what else is misprinted.
#
# ## Features are learned one after the other (Theorem 4.1)

# %%
# %matplotlib inline
from rich.console import Console

from theorysim.engine.registry.ledger import errata
from theorysim.report import scene_plot
from theorysim.report.errata import render_list
from theorysim.scenes.catalogue import scene_of

scene_plot.figure(scene_of("overtraining/theorem-4.1"))

# %% [markdown]
# ## Each of them makes the model more fragile (Theorem 4.6)

# %%
scene_plot.figure(scene_of("overtraining/theorem-4.6"))

# %% [markdown]
# ## What is wrong in print
#
# `theorysim errata ID` shows the words and a minimal counterexample of each.

# %%
found = [line for line in errata() if line["theorem"].startswith("overtraining/")]
render_list(found, Console(width=100, color_system=None, force_jupyter=False))

# %% [markdown]
# ## The answer
#
# Fine-tuning moves every feature that was learned, and each costs the old task something. The late
# features were worth little to it, so from some stage on they cost more than they bring. Many
# lemmas on the way are misprinted, but the theorems of the main text hold. [What the statements
# turned out to be](../docs/papers/overtraining.md) has the rest.
