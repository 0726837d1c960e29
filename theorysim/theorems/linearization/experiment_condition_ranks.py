"""Which rank of LoRA, on which layer: does a higher condition number go with a higher loss?

Figures (a) to (c) of Section 6 of Afzal et al. (2025), RoBERTa on four data sets; they carry no
readable numbers. Here a network with three hidden layers that was pretrained on digits is
fine-tuned on another question about them, in an adapter B A of rank 1, 2, 4 or 8 on one of its
hidden layers. B = 0 at the start, so the kernel knows only what B can do.
"""

from theorysim import claims
from theorysim.theorems.linearization import _condition as condition

SIMULATE, NULLS = condition.simulations(condition.adapters)

theorem = claims.Experiment(
    space=condition.SPACE,
    simulate=SIMULATE,
    claims=condition.CLAIMS,
    source=condition.SOURCE,
    note="adapters of a small network on digits, by descent on the squared error, for RoBERTa with "
    "LoRA by AdamW on cross-entropy",
    mutants=NULLS,
    data=("digits",),
    axes=condition.axes(condition.ADAPTER_NAMES),
)
