"""With one lambda_max for all: does a higher condition number go with a higher training loss?

Below Theorem 5 Afzal et al. (2025) say what the condition number is about, "for given
lambda_max(K)", which the figures of Section 6 do not hold fixed. Here the subsets of layers of
experiment-condition-layers have it: the parameters of a subset are rescaled such that its kernel
has the largest eigenvalue of the kernel of all layers. There are 8 examples: of 60, lambda_min(K)
is so far below sigma that kappa would be the same for all subsets; of 8 it is several times as
large for some as for others. Epochs are long enough for a pull to be felt.
"""

from theorysim import claims
from theorysim.theorems.linearization import _condition as condition

SIMULATE, NULLS = condition.simulations(condition.subsets_of_layers, equal=True)

theorem = claims.Experiment(
    space=condition.sizes(claims.Size(8, low=4, high=400), 1000),
    simulate=SIMULATE,
    claims=condition.CLAIMS,
    source=claims.Printed(
        "slides, Section 4, below Theorem 5, and Section 6, figures (a) to (c)",
        "For given lambda_max(K), If kappa is small, the risk can be small, and the risk is high "
        "otherwise. [...] Higher condition number -> Higher train loss",
    ),
    note="a small network on 8 digits, by descent on the squared error; the remark is about the "
    "training risk of ridge regression",
    mutants=NULLS,
    data=("digits",),
    axes=condition.axes(condition.SUBSET_NAMES),
)
