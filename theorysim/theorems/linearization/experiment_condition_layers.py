"""Which layers to tune: does a higher condition number go with a higher training loss?

Figures (a) to (c) of Section 6 of Afzal et al. (2025), RoBERTa on four data sets, for several
choices of tuned layers; they carry no readable numbers. Here a network with three hidden layers
that was pretrained on digits is fine-tuned on another question about them, in every subset of its
layers. Every lambda_min(K) is far below sigma, so that kappa is about lambda_max(K) / sigma here:
what comes out of a higher condition number is about a larger lambda_max, which more layers have.
With one lambda_max for all it is asked in experiment-condition-scaled.
"""

from theorysim import claims
from theorysim.theorems.linearization import _condition as condition

SIMULATE, NULLS = condition.simulations(condition.subsets_of_layers)

theorem = claims.Experiment(
    space=condition.SPACE,
    simulate=SIMULATE,
    claims=condition.CLAIMS,
    source=condition.SOURCE,
    note="a small network on digits, by descent on the squared error, for RoBERTa by AdamW on "
    "cross-entropy; kappa is about lambda_max(K) / sigma",
    mutants=NULLS,
    data=("digits",),
    axes=condition.axes(condition.SUBSET_NAMES),
)
