"""The longer the pre-training, the more Gaussian noise on the parameters harms.

Figure 3 of Springer et al. (2025), for models of 30 million parameters on C4: the gap that noise of
scale gamma opens grows with the budget (left), and eventually the perturbed model itself is worse
(right); the larger gamma, the earlier. Here a model of bigrams of characters learns the text of
Python's help; noise is gamma times the spread of a matrix at initialisation, biases are left alone,
and all budgets meet the same draws of it.
"""

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.theorems.overtraining import _language as language
from theorysim.theorems.overtraining import _language_perturbed as perturbed


def _gap(r: claims.Run) -> Float[Array, "run gamma budget"]:
    return r.sim.perturbed - r.sim.base[:, None]


def _inflection(r: claims.Run) -> Float[Array, "run gamma"]:
    """log2 of the budget at which the perturbed loss is least, up to a constant."""
    return jnp.argmin(r.sim.perturbed, axis=-1).astype(float)


theorem = claims.Experiment(
    space=language.SPACE,
    simulate=perturbed.simulate,
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
        claims.on_average(
            "right: eventually the perturbed model is worse",
            lambda r: language.at_the_best(r.sim.perturbed),
            lambda r: r.sim.perturbed[..., -1],
        ),
        claims.on_average(
            "right: the earlier, the larger gamma",
            lambda r: _inflection(r)[:, -1],
            lambda r: _inflection(r)[:, 0],
        ),
    ),
    source=claims.Printed(
        "Figure 3",
        "extending pre-training progressively increases the degree to which a Gaussian parameter "
        "perturbation degrades perplexity; eventually, this leads to overall worse pre-training "
        "perplexity",
    ),
    note="a model of bigrams of characters on Python's help, for OLMo-30M on C4",
    mutants=(
        claims.Mutant("every model has the first budget", simulate=perturbed.without_budgets),
    ),
    axes=perturbed.axes,
    work=language.work,
    paper_sizes=language.PAPER_SIZES,
)
