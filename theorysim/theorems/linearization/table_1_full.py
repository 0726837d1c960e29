"""Trained anew, all weights: a stronger pull keeps the model nearer to its start, and more linear.

The table of Section 6 of Afzal et al. (2025), RoBERTa with LoRA on CoLA and SST-2, for the pulls of
the print. Here a tanh network that was pretrained on digits is fine-tuned on another question about
them, by the paper's own descent on its squared error, in all its weights. The claims are those that
table-1 and table-1-order put to the printed numbers, and two more: that the model is then about a
linear one, in the plainest way (its outputs are nearer to those of the linearised model than to the
first); and that a stronger pull makes it more linear, and not only nearer to its start.
"""

from theorysim import claims
from theorysim.theorems.linearization import _table as table

theorem = claims.Experiment(
    space=table.SPACE,
    simulate=table.ladder(table.all_weights),
    claims=table.CLAIMS,
    source=table.SOURCE,
    note="all weights of a small network on digits, by descent on the squared error; the print has "
    "RoBERTa with LoRA, by AdamW on cross-entropy",
    mutants=table.nulls(lambda null: table.ladder(table.all_weights, null)),
    data=("digits",),
    axes=table.axes,
)
