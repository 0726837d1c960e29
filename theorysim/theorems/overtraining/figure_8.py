"""Fine-tuning moves parameters in proportion to its learning rate, however long the pre-training.

Figure 8 of Springer et al. (2025), for OLMo-30M: |theta_pre - theta_ft|_2 is approximately
proportional to the learning rate and independent of the budget. Both are read as powers, which are
told from the next halves: within 1/4 of 1 and of 0. That is wide: over the thousandfold ladder of
rates a power off by 1/4 is a factor of 5.6, and the claim says no more than that. Here a model of
bigrams of characters learns the text of Python's help, then that of Python's library.
"""

import dataclasses

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.theorems.overtraining import _language as language
from theorysim.theorems.overtraining import _language_study as study
from theorysim.theorems.overtraining._language_readings import on_programs, slope
from theorysim.theorems.overtraining._language_tuned import RATES

QUARTER = 0.25


def _in_the_rate(r: claims.Run) -> Float[Array, "run budget"]:
    return slope(jnp.swapaxes(on_programs(r.sim.distance), 1, 2), jnp.asarray(RATES))


def _in_the_budget(r: claims.Run) -> Float[Array, "run rate"]:
    return slope(on_programs(r.sim.distance), language.budgets(r.x).astype(float))


def _both(rate: int, budget: int) -> tuple[claims.Claim, claims.Claim]:
    """The distance is like rate^p budget^q with these powers."""
    return (
        claims.on_average(
            "proportional to the learning rate",
            lambda r: jnp.abs(_in_the_rate(r) - rate),
            lambda r: QUARTER,
            statement="|p - 1| < 1/4 where the distance is like rate^p, at every budget: within a "
            "factor of 5.6 over the ladder of rates",
        ),
        claims.on_average(
            "independent of the budget",
            lambda r: jnp.abs(_in_the_budget(r) - budget),
            lambda r: QUARTER,
            statement="|q| < 1/4 where the distance is like budget^q, at every rate",
        ),
    )


IN_THE_RATE, IN_THE_BUDGET = _both(1, 0)

theorem = claims.Experiment(
    **study.SETTING,
    claims=(IN_THE_RATE, IN_THE_BUDGET),
    source=claims.Printed(
        "Figure 8",
        "the distance between the pre-trained and fine-tuned model is not exactly, but "
        "approximately, directly proportional to the learning rate and independent of the amount "
        "of pre-training.",
    ),
    note="a model of bigrams of characters, on Python's help and then its library",
    mutants=(
        # Runs that all have the first rate say nothing against independence of the budget.
        dataclasses.replace(study.NO_RATES, breaks=(IN_THE_RATE.name,)),
        claims.Mutant(
            "independent of the learning rate, proportional to the budget", claims=_both(0, 1)
        ),
    ),
)
