"""At a fixed, large learning rate, longer pre-training eventually makes the fine-tuned model worse.

Figure 5 of Springer et al. (2025), for OLMo-30M: the loss of pre-training (top) and of the task
(bottom), after fine-tuning, as the budget grows; both eventually rise where the learning rate is
large enough, that of pre-training the earlier and the more, the larger the rate: told from the ends
of the ladder. Here a model of bigrams of characters learns the text of Python's help, then that of
Python's library; the largest rate is 15 times that of pre-training.
"""

from collections.abc import Callable

from jaxtyping import Array, Float

from theorysim import claims
from theorysim.theorems.overtraining import _language_study as study
from theorysim.theorems.overtraining._language_readings import (
    at_the_best_budget,
    both_rise,
    inflection,
    on_programs,
    on_the_same_text,
)

SMALLEST, LARGEST = 0, -1


def _rise(losses: Float[Array, "run rate budget"]) -> Float[Array, "run rate"]:
    return losses[..., -1] - at_the_best_budget(losses)


def _on(text: Callable) -> tuple[claims.Claim, ...]:
    def of(losses: Array) -> Float[Array, "run budget"]:
        return text(losses)[:, LARGEST]

    return (
        *both_rise(lambda r: of(r.sim.pre), lambda r: of(r.sim.ft)),
        claims.on_average(
            "top: the larger the rate, the earlier the inflection",
            lambda r: inflection(text(r.sim.pre))[:, LARGEST],
            lambda r: inflection(text(r.sim.pre))[:, SMALLEST],
            statement="log2 of the best budget: at the largest rate below that at the smallest",
        ),
        claims.on_average(
            "top: the larger the rate, the larger the rise",
            lambda r: _rise(text(r.sim.pre))[:, SMALLEST],
            lambda r: _rise(text(r.sim.pre))[:, LARGEST],
        ),
    )


theorem = claims.Experiment(
    **study.SETTING,
    claims=_on(on_programs),
    source=claims.Printed(
        "Figure 5 and Section 3.4.1",
        "extending pre-training can lead to an overall increase in the C4 perplexity (top), and ID "
        "perplexity (fine-tuning task; bottom). [...] models trained with larger learning rates "
        "exhibit an inflection point at lower token budgets, and the degradation is more "
        "pronounced.",
    ),
    note="a model of bigrams of characters, on Python's help and then its library",
    mutants=(
        study.NO_BUDGETS,
        claims.Mutant("fine-tuning on the text of pre-training", claims=_on(on_the_same_text)),
        study.NO_RATES,
    ),
)
