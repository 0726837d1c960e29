"""What longer pre-training does to the fine-tuned model at the learning rate that is best for it.

Figure 6 of Springer et al. (2025), for OLMo-30M: the learning rate that is best for the task is
taken at every budget; the loss of pre-training (top) and that of the task (bottom) can still rise
in the end: the first for GSM8k, StarCoder, MR and RTE, the second for RTE and TREC. Here a model of
bigrams of characters learns the text of Python's help, then that of Python's library, which stands
for StarCoder, with its two words of the caption; each run takes the rate that is best for the other
half of the runs. Losses are in nats, of which perplexity is the exponential. That the task of
another text can get worse (RTE, TREC) is not claimed, since none stands for them.
"""

from collections.abc import Callable

from theorysim import claims
from theorysim.theorems.overtraining import _language_study as study
from theorysim.theorems.overtraining._language_readings import (
    at_the_best_rate,
    improves,
    on_programs,
    on_the_same_text,
    rises,
)


def _at_the_best_rate(text: Callable) -> tuple[claims.Claim, claims.Claim]:
    return (
        rises(
            "top: the loss of pre-training eventually rises, as for StarCoder",
            lambda r: at_the_best_rate(text(r.sim.pre), text(r.sim.ft)),
        ),
        improves(
            "bottom: the loss of the task does not rise, as for StarCoder",
            lambda r: at_the_best_rate(text(r.sim.ft), text(r.sim.ft)),
            "the last budget ends below the best one before it; in print RTE and TREC alone rise",
        ),
    )


theorem = claims.Experiment(
    **study.SETTING,
    claims=_at_the_best_rate(on_programs),
    source=claims.Printed(
        "Figure 6",
        "extending pre-training can lead to eventual degradation of the C4 perplexity (top) and ID "
        "perplexity (fine-tuning task; bottom), even after hyperparameter tuning. [...] ID "
        "perplexity degrades with extensive overtraining (RTE, TREC); C4 perplexity degrades in "
        "GSM8k, Starcoder-Python, MR, and RTE.",
    ),
    note="a model of bigrams of characters, on Python's help and then its library",
    mutants=(
        study.NO_BUDGETS,
        claims.Mutant(
            "fine-tuning on the text of pre-training", claims=_at_the_best_rate(on_the_same_text)
        ),
    ),
)
