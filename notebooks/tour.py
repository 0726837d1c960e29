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
# # Is this theorem true as printed?
#
# You read *Overtrained Language Models Are Harder to Fine-Tune* (Springer et al. 2025). Theorem
# 4.7, here `overtraining/theorem-4.7`, says that from some stage of pre-training on, every further
# stage makes the fine-tuned model worse at its old task, and that a pull-back to the pre-trained
# weights delays this. The paper prints it twice: in the main text, and as Theorem A.25 of the
# appendix. Can you rely on both?

# %%
# %matplotlib inline
import numpy as np

import theorysim
from theorysim.engine.registry.ledger import errata
from theorysim.report import plot
from theorysim.report.terminal import answer_text

main_text = theorysim.verify("theorem-4.7", reading="main text")
print(answer_text(main_text))

# %% [markdown]
# The main text holds. `verify` drew pairs of tasks, fine-tuned by gradient descent from every
# stage, and compared what the theorem says with what happened. How a verdict is reached, and what
# it cannot see, is told in [the guide](../docs/guide/verdicts.md). Now the appendix:

# %%
appendix = theorysim.verify("theorem-4.7", reading="appendix")
print(answer_text(appendix))

# %% [markdown]
# It is violated, and not by rounding: part 1 says that the loss rises where it falls by 13. Part 2
# is wrong as well, where runs take the number of steps that the assumption refers to.
#
# ## The counterexample, by hand
#
# You need not believe a program. The ledger of misprints keeps a small counterexample for each
# refuted claim. This one is of part 2.

# %%
(line,) = [
    line
    for line in errata()
    if line["theorem"] == "overtraining/theorem-4.7"
    and line["reading"] == "appendix, item 3 as A.10"
    and line["claim"] == "2: r(lam), A.25, n >= 1"
]
values = line["instance"]["values"]
pre, ft = np.array(values["pre"]), np.array(values["ft"])
strong = values["lam_0"] * values["lam_share"]
weak = strong * values["lam_ratio"]
print("features before and after:", pre, ft, " pull-backs:", weak, strong)

# %% [markdown]
# Two features are enough. A learned feature ends at $(ft_i + \lambda\, pre_i) / (1 + \lambda)$, and
# one that pre-training has not reached stays at zero. So the $n$-th stage changes the old loss by
# $(ft_n - pre_n)^2 / (1 + \lambda)^2 - pre_n^2$.

# %%
for pull_back in (weak, strong):
    changes = ((ft - pre) / (1 + pull_back)) ** 2 - pre**2
    print(f"pull-back {pull_back}: the two stages change the loss by", changes.round(4))

# %% [markdown]
# With the weak pull-back the loss falls at stage 1 and rises at stage 2: it turns at $r = 1$. With
# the strong one it falls twice: $r = 2$. The appendix says that a stronger pull-back never turns
# later, $r_{\lambda_1} \le r_{\lambda_2}$. Here it reads $2 \le 1$. The main text has it right.
#
# ## The picture

# %%
plot.figure(main_text)

# %% [markdown]
# ## The answer
#
# Rely on the main text. In the appendix, turn both inequalities round: the loss rises for $n > r$,
# and $r_{\lambda_1} \ge r_{\lambda_2}$. Item 3 of its Assumption A.21 needs the learning rate, too:
# see [what the paper's statements turned out to be](../docs/papers/overtraining.md), and [its other
# pictures](overtraining.ipynb).
#
# A theorem of your own is checked the same way: [Check my theorem](check_my_theorem.ipynb).
