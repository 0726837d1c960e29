"""How the best learning rate moves with the budget decides what longer pre-training harms.

Figure 7 of Springer et al. (2025), a schematic: where the rate that is best for the task stays as
it is, both losses rise in the end; where it falls slowly, that of pre-training alone; where it
falls quickly, neither. Here a model of bigrams of characters learns the text of Python's help, then
five texts of which nothing to all is Python's library. Each run orders them by how fast the best
rate falls in the other half of the runs: the three scenarios are the slowest, the middle, the
fastest. Of texts that tie (where the best rate is the least of the ladder all along), the one with
more programs counts as faster, since a text without any is no task.
"""

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.numerics.halves import of_the_other_half
from theorysim.theorems.overtraining import _language as language
from theorysim.theorems.overtraining import _language_study as study
from theorysim.theorems.overtraining._language_readings import (
    Losses,
    at_the_best_budget,
    at_the_best_rate,
    best_rate,
    inflection,
    rises,
    slope,
)
from theorysim.theorems.overtraining._language_tuned import RATES

TIE = 6  # digits of a power of the budget
LEFT, CENTER, RIGHT = 0, len(study.SHARES) // 2, len(study.SHARES) - 1


def _movement(r: claims.Run) -> Float[Array, "run share"]:
    """The power of the budget as which the best rate of the other half goes."""
    return slope(jnp.asarray(RATES)[best_rate(r.sim.ft)], language.budgets(r.x).astype(float))


def _of(r: claims.Run, scenario: int, values: Array) -> Float[Array, "run *rest"]:
    """Values of the text whose best rate has this place among all, from slow to fast."""
    place = jnp.argsort(-jnp.round(_movement(r), TIE), axis=1, stable=True)[:, scenario]
    return values[jnp.arange(len(values)), place]


def _task(r: claims.Run) -> Float[Array, "run share budget"]:
    return at_the_best_rate(r.sim.ft, r.sim.ft)


def _old(r: claims.Run) -> Float[Array, "run share budget"]:
    return at_the_best_rate(r.sim.pre, r.sim.ft)


def _degrades(name: str, scenario: int, losses: Losses) -> claims.Claim:
    return rises(name, lambda r: _of(r, scenario, losses(r)))


def _improves(name: str, scenario: int, losses: Losses) -> claims.Claim:
    """The last budget ends below the best one before it."""
    return claims.on_average(
        name,
        lambda r: _of(r, scenario, losses(r))[:, -1],
        lambda r: at_the_best_budget(_of(r, scenario, losses(r))[:, :-1]),
    )


def _goes_with_the_rate(name: str, losses: Losses) -> claims.Claim:
    """Over the five texts, the rise at the end is larger where the best rate falls less."""

    def together(r: claims.Run) -> Float[Array, "run"]:
        rise = losses(r)[..., -1] - at_the_best_budget(losses(r))
        moved = _movement(r)
        return jnp.mean((moved - moved.mean(1, keepdims=True)) * rise, axis=1)

    return claims.on_average(
        name, lambda r: 0.0, together, statement="0 < covariance of the rate's power and the rise"
    )


def _where_the_old_loss_rises(r: claims.Run, values: Array) -> Float[Array, "run 2"]:
    return jnp.stack([_of(r, scenario, values) for scenario in (LEFT, CENTER)], axis=1)


def _delayed(r: claims.Run) -> Float[Array, "run share"]:
    """The inflection at the smallest rate where at the best one there is one, else that of this.

    There is one where the mean of the other half has it: none looks for its own.
    """
    turns = jnp.argmin(of_the_other_half(_old(r)), axis=-1) < r.x.budgets - 1
    return jnp.where(turns, inflection(r.sim.pre[:, :, 0]), inflection(_old(r)))


theorem = claims.Experiment(
    **study.SETTING,
    claims=(
        _degrades("left, slowest: the task degrades", LEFT, _task),
        _degrades("left, slowest: pre-training degrades", LEFT, _old),
        _improves("center: the task improves", CENTER, _task),
        _degrades("center: pre-training degrades", CENTER, _old),
        _improves("right, fastest: the task improves", RIGHT, _task),
        _improves("right, fastest: pre-training improves", RIGHT, _old),
        _goes_with_the_rate("the slower the rate falls, the more the task degrades", _task),
        _goes_with_the_rate("the slower the rate falls, the more pre-training degrades", _old),
        claims.on_average(
            "left and center: the smallest rate delays the inflection",
            lambda r: _where_the_old_loss_rises(r, inflection(_old(r))),
            lambda r: _where_the_old_loss_rises(r, _delayed(r)),
            statement="log2 of the best budget, where at the best rate it is not the last one",
        ),
        claims.on_average(
            "left and center: the smallest rate costs at the task",
            lambda r: _where_the_old_loss_rises(r, _task(r)[..., -1]),
            lambda r: _where_the_old_loss_rises(r, r.sim.ft[:, :, 0, -1]),
            statement="at the last budget; little more than that another rate is the best",
        ),
    ),
    source=claims.Printed(
        "Figure 7 and Section 3.4.2",
        "(Left) When the optimal learning rate is constant, we expect to observe degradation of "
        "both ID and OOD performance. (Center) When [it] decreases slowly with T, we may observe a "
        "degradation of only the OOD performance. (Right) When [it] decreases quickly, we will not "
        "observe degradation of either; choosing to train with the smallest learning rate would "
        "delay the inflection point [...] result in a lower ID performance",
    ),
    note="a model of bigrams of characters on Python's help, then on mixtures with its library",
    mutants=(study.NO_BUDGETS, study.NO_RATES),
)
