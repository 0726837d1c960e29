"""The longer the pre-training, the more Gaussian noise on the parameters harms.

Figure 3 of Springer et al. (2025), for models of 30 million parameters on C4: the gap that noise of
scale gamma opens grows with the budget (left), and eventually the perturbed model itself is worse
(right), in the shape of a U; the larger gamma, the earlier. Here a model of bigrams of characters
learns the text of Python's help; noise is gamma times the spread of a matrix at initialisation,
biases are left alone, and all budgets meet the same draws of it. Gaps are of perplexities, in units
of that of the text itself, and with noise of their geometric mean over draws; the losses of the
right panel are in nats, of which perplexity is the exponential.
"""

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.theorems.overtraining import _language_study as study
from theorysim.theorems.overtraining._language_perturbed import SCALES
from theorysim.theorems.overtraining._language_readings import (
    first_falls,
    inflection,
    perplexity,
    rises,
    trend,
)


def _gap(r: claims.Run) -> Float[Array, "run gamma budget"]:
    return perplexity(r.sim.perturbed) - perplexity(r.sim.base[:, None])


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
        first_falls("right: first the perturbed model gets better", lambda r: r.sim.perturbed),
        rises("right: eventually the perturbed model is worse", lambda r: r.sim.perturbed),
        claims.on_average(
            "right: the earlier, the larger gamma",
            lambda r: trend(inflection(r.sim.perturbed), jnp.asarray(SCALES)),
            lambda r: 0.0,
            statement="log2 of the best budget falls with log gamma: a line through all scales",
        ),
    ),
    source=claims.Printed(
        "Figure 3 and Section 3.3",
        "extending pre-training progressively increases the degree to which a Gaussian parameter "
        "perturbation degrades perplexity. Catastrophic overtraining (right): eventually, this "
        "leads to overall worse pre-training perplexity. [...] This results in a U-shaped trend of "
        "the C4 perplexity after perturbation (Figure 3, right). [...] the point at which the "
        "degradation from sensitivity surpasses the improvement in the base model is accelerated "
        "for larger perturbations, leading to an inflection point at a lower token budget.",
    ),
    note="a model of bigrams of characters on Python's help, for OLMo-30M on C4",
    mutants=(study.NO_BUDGETS,),
)
