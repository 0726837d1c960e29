"""Fine-tuning moves parameters in proportion to its learning rate, however long the pre-training.

Figure 8 of Springer et al. (2025), for OLMo-30M: |theta_pre - theta_ft|_2 is approximately
proportional to the learning rate and independent of the budget. Both are read as powers, which are
told from the next halves: within 1/4 of 1 and of 0. Here a model of bigrams of characters learns
the text of Python's help, then that of Python's library.
"""

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.theorems.overtraining import _language as language
from theorysim.theorems.overtraining import _language_tuned as tuned

QUARTER = 0.25


def _slope(values: Float[Array, "*lead points"], at: Float[Array, "points"]) -> Array:
    """Of a straight line through the logarithms, by least squares; the last axis goes."""
    apart = jnp.log(at) - jnp.mean(jnp.log(at))
    return jnp.sum(jnp.log(values) * apart, axis=-1) / jnp.sum(apart**2)


def _in_the_rate(r: claims.Run) -> Float[Array, "run budget"]:
    return _slope(jnp.swapaxes(r.sim.distance, 1, 2), jnp.asarray(tuned.RATES))


def _in_the_budget(r: claims.Run) -> Float[Array, "run rate"]:
    return _slope(r.sim.distance, language.budgets(r.x).astype(float))


theorem = claims.Experiment(
    space=language.SPACE,
    simulate=tuned.simulate,
    claims=(
        claims.on_average(
            "proportional to the learning rate",
            lambda r: jnp.abs(_in_the_rate(r) - 1),
            lambda r: QUARTER,
            statement="|p - 1| < 1/4 where the distance is like rate^p, at every budget",
        ),
        claims.on_average(
            "independent of the budget",
            lambda r: jnp.abs(_in_the_budget(r)),
            lambda r: QUARTER,
            statement="|q| < 1/4 where the distance is like budget^q, at every rate",
        ),
    ),
    source=claims.Printed(
        "Figure 8",
        "approximately directly proportional to the learning rate and independent of the amount of "
        "pre-training tokens",
    ),
    note="a model of bigrams of characters, on Python's help and then its library",
    mutants=(
        claims.Mutant("every run has the first rate", simulate=tuned.without_rates),
        claims.Mutant(
            "independent of the learning rate, proportional to the budget",
            claims=(
                claims.on_average(
                    "independent of the budget",
                    lambda r: jnp.abs(_in_the_budget(r) - 1),
                    lambda r: QUARTER,
                ),
            ),
        ),
    ),
    axes=tuned.axes,
    work=language.work,
    paper_sizes=language.PAPER_SIZES,
)
