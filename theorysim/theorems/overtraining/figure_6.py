"""Even at the best learning rate, longer pre-training can make the fine-tuned model worse.

Figure 6 of Springer et al. (2025), for OLMo-30M: the learning rate that is best for the task is
taken at every budget; the loss of pre-training (top) and of the task (bottom) still rise in the
end. Here a model of bigrams of characters learns the text of Python's help, then that of Python's
library; each run takes the rate that is best for the others.
"""

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.numerics.statistics import of_the_others
from theorysim.theorems.overtraining import _language as language
from theorysim.theorems.overtraining import _language_tuned as tuned


def _at_the_best_rate(r: claims.Run, losses: Array) -> Float[Array, "run budget"]:
    best = jnp.argmin(of_the_others(r.sim.ft), axis=1)
    return jnp.take_along_axis(losses, best[:, None], axis=1)[:, 0]


def _worse(name: str, losses) -> claims.Claim:
    """The last budget ends above the best one."""
    return claims.on_average(
        name,
        lambda r: language.at_the_best(_at_the_best_rate(r, losses(r))),
        lambda r: _at_the_best_rate(r, losses(r))[:, -1],
    )


theorem = claims.Experiment(
    space=language.SPACE,
    simulate=tuned.simulate,
    claims=(
        _worse("top: the loss of pre-training eventually rises", lambda r: r.sim.pre),
        _worse("bottom: the loss of the task eventually rises", lambda r: r.sim.ft),
    ),
    source=claims.Printed(
        "Figure 6",
        "extending pre-training can lead to eventual degradation of the C4 perplexity (top) and ID "
        "perplexity (bottom), even after hyperparameter tuning",
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
