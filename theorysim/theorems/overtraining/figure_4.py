"""What fine-tuning adds to the loss of pre-training, by the budget and by the learning rate.

Figure 4 of Springer et al. (2025), for OLMo-30M on C4 and StarCoder: what fine-tuning adds to the
perplexity of pre-training is said to grow with the budget, and with the learning rate. Here a model
of bigrams of characters learns the text of Python's help, then that of Python's library; gaps are
of perplexities, in units of that of the text itself.
"""

from jaxtyping import Array, Float

from theorysim import claims
from theorysim.theorems.overtraining import _language_study as study
from theorysim.theorems.overtraining._language_readings import on_programs, perplexity


def _gap(r: claims.Run) -> Float[Array, "run rate budget"]:
    return perplexity(on_programs(r.sim.pre)) - perplexity(r.sim.base[:, None])


theorem = claims.Experiment(
    **study.SETTING,
    claims=(
        claims.on_average(
            "the gap grows with the budget",
            lambda r: _gap(r)[..., :-1],
            lambda r: _gap(r)[..., 1:],
        ),
        claims.on_average(
            "the gap grows with the learning rate",
            lambda r: _gap(r)[:, :-1],
            lambda r: _gap(r)[:, 1:],
        ),
    ),
    source=claims.Printed(
        "Figure 4 and Section 3.4.1",
        "Extending pre-training progressively increases the degree to which fine-tuning degrades "
        "perplexity. [...] larger learning rates distort the model more and thus exhibit a greater "
        "increase in perplexity.",
    ),
    note="a model of bigrams of characters, on Python's help and then its library",
    mutants=(study.NO_BUDGETS, study.NO_RATES),
)
