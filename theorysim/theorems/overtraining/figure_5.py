"""At a fixed, large learning rate, longer pre-training eventually makes the fine-tuned model worse.

Figure 5 of Springer et al. (2025), for OLMo-30M: the loss of pre-training (top) and of the task
(bottom), after fine-tuning, as the budget grows; both eventually rise where the learning rate is
large enough. Here a model of bigrams of characters learns the text of Python's help, then that of
Python's library; the largest rate is 15 times that of pre-training.
"""

from theorysim import claims
from theorysim.theorems.overtraining import _language as language
from theorysim.theorems.overtraining import _language_tuned as tuned


def _worse(name: str, losses) -> claims.Claim:
    """At the largest rate the last budget ends above the best one."""
    return claims.on_average(
        name,
        lambda r: language.at_the_best(losses(r)[:, -1]),
        lambda r: losses(r)[:, -1, -1],
    )


theorem = claims.Experiment(
    space=language.SPACE,
    simulate=tuned.simulate,
    claims=(
        _worse("top: the loss of pre-training eventually rises", lambda r: r.sim.pre),
        _worse("bottom: the loss of the task eventually rises", lambda r: r.sim.ft),
    ),
    source=claims.Printed(
        "Figure 5",
        "extending pre-training can lead to an overall increase in the C4 perplexity (top), and ID "
        "perplexity (bottom), at sufficiently large learning rates",
    ),
    note="a model of bigrams of characters, on Python's help and then its library",
    mutants=(
        claims.Mutant("every model has the first budget", simulate=tuned.without_budgets),
        claims.Mutant("fine-tuning on the text of pre-training", simulate=tuned.on_the_same_text),
    ),
    axes=tuned.axes,
    work=language.work,
    paper_sizes=language.PAPER_SIZES,
)
