"""The longer the pre-training, the more Gaussian noise on the parameters harms.

Figure 3 of Springer et al. (2025), for models of 30 million parameters on C4: the gap that noise of
scale gamma opens grows with the budget (left), and eventually the perturbed model itself is worse
(right); the larger gamma, the earlier. Here a model of bigrams of characters learns the text of
Python's help; noise is gamma times the spread of a matrix at initialisation, biases are left alone,
and all budgets meet the same draws of it. Gaps are in nats, where the paper has differences of
perplexities.
"""

from jaxtyping import Array, Float

from theorysim import claims
from theorysim.theorems.overtraining import _language_study as study
from theorysim.theorems.overtraining._language_readings import inflection, rises


def _gap(r: claims.Run) -> Float[Array, "run gamma budget"]:
    return r.sim.perturbed - r.sim.base[:, None]


theorem = claims.Experiment(
    **study.SETTING,
    claims=(
        claims.on_average(
            "the loss falls with the budget",
            lambda r: r.sim.base[:, 1:],
            lambda r: r.sim.base[:, :-1],
        ),
        claims.on_average(
            "left: the gap grows with the budget",
            lambda r: _gap(r)[..., :-1],
            lambda r: _gap(r)[..., 1:],
        ),
        rises("right: eventually the perturbed model is worse", lambda r: r.sim.perturbed),
        claims.on_average(
            "right: the earlier, the larger gamma",
            lambda r: inflection(r.sim.perturbed)[:, -1],
            lambda r: inflection(r.sim.perturbed)[:, 0],
            statement="log2 of the best budget: at gamma = 0.8 below that at 0.1",
        ),
    ),
    source=claims.Printed(
        "Figure 3",
        "extending pre-training progressively increases the degree to which a Gaussian parameter "
        "perturbation degrades perplexity; eventually, this leads to overall worse pre-training "
        "perplexity",
    ),
    note="a model of bigrams of characters on Python's help, for OLMo-30M on C4",
    mutants=(study.NO_BUDGETS,),
)
