"""Trained anew, with an adapter: a stronger pull keeps the model nearer its start, more linear.

The table of Section 6 of Afzal et al. (2025), RoBERTa with LoRA on CoLA and SST-2, for the pulls of
the print. Here a tanh network that was pretrained on digits is fine-tuned on another question about
them, by the paper's own descent on its squared error, in an adapter B A of rank 2 on its first
layer, B = 0 at the start. The claims are those of table-1-full.
"""

from theorysim import claims
from theorysim.theorems.linearization import _table as table

theorem = claims.Experiment(
    space=table.SPACE,
    simulate=table.ladder(table.adapter),
    claims=table.CLAIMS,
    source=table.SOURCE,
    note="an adapter of a small network on digits, by descent on the squared error; the print has "
    "RoBERTa with LoRA, by AdamW on cross-entropy",
    mutants=table.nulls(lambda null: table.ladder(table.adapter, null)),
    data=("digits",),
    axes=table.axes,
)
