"""Even at the best learning rate, longer pre-training can make the fine-tuned model worse.

Figure 6 of Springer et al. (2025), for OLMo-30M: the learning rate that is best for the task is
taken at every budget; the loss of pre-training (top) and of the task (bottom) still rise in the
end. Here a model of bigrams of characters learns the text of Python's help, then that of Python's
library; each run takes the rate that is best for the other half of the runs.
"""

from collections.abc import Callable

from theorysim import claims
from theorysim.theorems.overtraining import _language_study as study
from theorysim.theorems.overtraining._language_readings import (
    at_the_best_rate,
    both_rise,
    on_programs,
    on_the_same_text,
)


def _at_the_best_rate(text: Callable) -> tuple[claims.Claim, claims.Claim]:
    return both_rise(
        lambda r: at_the_best_rate(text(r.sim.pre), text(r.sim.ft)),
        lambda r: at_the_best_rate(text(r.sim.ft), text(r.sim.ft)),
    )


theorem = claims.Experiment(
    **study.SETTING,
    claims=_at_the_best_rate(on_programs),
    source=claims.Printed(
        "Figure 6",
        "extending pre-training can lead to eventual degradation of the C4 perplexity (top) and ID "
        "perplexity (bottom), even after hyperparameter tuning",
    ),
    note="a model of bigrams of characters, on Python's help and then its library",
    mutants=(
        study.NO_BUDGETS,
        claims.Mutant(
            "fine-tuning on the text of pre-training", claims=_at_the_best_rate(on_the_same_text)
        ),
    ),
)
