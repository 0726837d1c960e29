"""The longer the pre-training, the more fine-tuning at a fixed learning rate harms.

Figure 4 of Springer et al. (2025), for OLMo-30M on C4 and StarCoder: what fine-tuning adds to the
loss of pre-training grows with the budget, and with the learning rate. Here a model of bigrams of
characters learns the text of Python's help, then that of Python's library.
"""

from jaxtyping import Array, Float

from theorysim import claims
from theorysim.theorems.overtraining import _language as language
from theorysim.theorems.overtraining import _language_tuned as tuned


def _gap(r: claims.Run) -> Float[Array, "run rate budget"]:
    return r.sim.pre - r.sim.base[:, None]


theorem = claims.Experiment(
    space=language.SPACE,
    simulate=tuned.simulate,
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
        "Figure 4",
        "extending pre-training progressively increases the degree to which fine-tuning degrades "
        "perplexity; larger learning rates exhibit a greater increase",
    ),
    note="a model of bigrams of characters, on Python's help and then its library",
    mutants=(
        claims.Mutant("every model has the first budget", simulate=tuned.without_budgets),
        claims.Mutant("every run has the first rate", simulate=tuned.without_rates),
    ),
    axes=tuned.axes,
    work=language.work,
    paper_sizes=language.PAPER_SIZES,
)
