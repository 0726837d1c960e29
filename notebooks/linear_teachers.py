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
# # What does fine-tuning keep of its source?
#
# In Shachaf et al. (2021) a model knows the teacher $\theta_S$, and is fine-tuned on fewer samples
# of $\theta_T$ than there are dimensions. The samples decide what happens in the space that they
# span. What happens outside of it?
#
# ## Depth decides (Theorem 5.2)

# %%
# %matplotlib inline
from rich.console import Console

from theorysim.engine.registry.ledger import errata
from theorysim.report import scene_plot
from theorysim.report.errata import render_list
from theorysim.scenes.catalogue import scene_of

scene_plot.figure(scene_of("linear-teachers/theorem-5.2"))

# %% [markdown]
# ## So depth can help or harm (Theorem 5.4)

# %%
scene_plot.figure(scene_of("linear-teachers/theorem-5.4"))

# %% [markdown]
# ## What is wrong in print
#
# `theorysim errata ID` shows the words and a minimal counterexample of each.

# %%
found = [line for line in errata() if line["theorem"].startswith("linear-teachers/")]
render_list(found, Console(width=100, color_system=None, force_jupyter=False))

# %% [markdown]
# ## The answer
#
# Outside of the samples one layer keeps $\theta_S$ as it is, and a deep network only its direction,
# with a length that the samples tell. So a deep network pays for the angle of the teachers, and one
# layer for their distance: where they differ in length, depth helps. [What the statements turned
# out to be](../docs/papers/linear_teachers.md) has the rest.
