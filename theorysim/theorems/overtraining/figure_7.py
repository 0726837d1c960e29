"""How the best learning rate moves with the budget decides what longer pre-training harms.

Figure 7 of Springer et al. (2025), a schematic: where the rate that is best for the task stays as
it is, both losses rise in the end; where it falls slowly, that of pre-training alone may; where it
falls quickly, neither. Here a model of bigrams of characters learns the text of Python's help, then
four texts of which an eighth to all is Python's library: a text without any is no task. Each run
orders them by how fast the best rate falls in the other half of the runs: the three scenarios are
the slowest, the two between, the fastest; of texts that tie, the one with more programs counts as
faster. What "may" be in the middle is asked of both, and not counted as printed. Where the best
rate is the least of the ladder it could be smaller still, and the ladder says less than the truth
of how fast it falls. Losses are in nats, of which perplexity is the exponential.
"""

import dataclasses

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.numerics.halves import of_the_other_half
from theorysim.theorems.overtraining import _language as language
from theorysim.theorems.overtraining import _language_study as study
from theorysim.theorems.overtraining._language_readings import (
    Losses,
    at_the_best_rate,
    best_rate,
    improves,
    inflection,
    rise,
    rises,
    slope,
)
from theorysim.theorems.overtraining._language_tuned import RATES

TIE = 6  # digits of a power of the budget
TASKS = slice(1, None)  # of the texts, all but that of pre-training
LEFT, CENTER, RIGHT = (0,), tuple(range(1, len(study.SHARES) - 2)), (-1,)


def _tuned(r: claims.Run) -> Float[Array, "run share rate budget"]:
    return r.sim.ft[:, TASKS]


def _forgotten(r: claims.Run) -> Float[Array, "run share rate budget"]:
    return r.sim.pre[:, TASKS]


def _movement(r: claims.Run) -> Float[Array, "run share"]:
    """The power of the budget as which the best rate of the other half goes."""
    return slope(jnp.asarray(RATES)[best_rate(_tuned(r))], language.budgets(r.x).astype(float))


def _of(
    r: claims.Run, scenario: tuple[int, ...], values: Float[Array, "run share *rest"]
) -> Float[Array, "run text *rest"]:
    """Values of the texts whose best rates have these places among all, from slow to fast."""
    order = jnp.argsort(-jnp.round(_movement(r), TIE), axis=1, stable=True)
    places = order[:, jnp.asarray(scenario)]
    return values[jnp.arange(len(values))[:, None], places]


def _task(r: claims.Run) -> Float[Array, "run share budget"]:
    return at_the_best_rate(_tuned(r), _tuned(r))


def _old(r: claims.Run) -> Float[Array, "run share budget"]:
    return at_the_best_rate(_forgotten(r), _tuned(r))


def _goes_with_the_rate(name: str, losses: Losses) -> claims.Claim:
    """Over all texts, the rise at the end is larger where the best rate falls less."""

    def together(r: claims.Run) -> Float[Array, "run"]:
        moved = _movement(r)
        return jnp.mean((moved - moved.mean(1, keepdims=True)) * rise(losses(r)), axis=1)

    return claims.on_average(
        name, lambda r: 0.0, together, statement="0 < covariance of the rate's power and the rise"
    )


def _where_the_old_loss_rises(r: claims.Run, values: Array) -> Float[Array, "run text"]:
    return _of(r, LEFT + CENTER, values)


def _at(scenario: tuple[int, ...], losses: Losses) -> Losses:
    return lambda r: _of(r, scenario, losses(r))


def _delayed(r: claims.Run) -> Float[Array, "run share"]:
    """The inflection at the smallest rate where at the best one there is one, else that of this.

    There is one where the mean of the other half has it: none looks for its own.
    """
    turns = jnp.argmin(of_the_other_half(_old(r)), axis=-1) < r.x.budgets - 1
    return jnp.where(turns, inflection(_forgotten(r)[:, :, 0]), inflection(_old(r)))


OF_BUDGETS = (
    rises("left, slowest: the task degrades", _at(LEFT, _task)),
    rises("left, slowest: pre-training degrades", _at(LEFT, _old)),
    improves("center: the task improves", _at(CENTER, _task), printed=False),
    rises("center: pre-training degrades", _at(CENTER, _old), printed=False),
    improves("right, fastest: the task improves", _at(RIGHT, _task)),
    improves("right, fastest: pre-training improves", _at(RIGHT, _old)),
    _goes_with_the_rate("the slower the rate falls, the more the task degrades", _task),
    _goes_with_the_rate("the slower the rate falls, the more pre-training degrades", _old),
    claims.on_average(
        "left and center: the smallest rate delays the inflection",
        lambda r: _where_the_old_loss_rises(r, inflection(_old(r))),
        lambda r: _where_the_old_loss_rises(r, _delayed(r)),
        statement="log2 of the best budget, where at the best rate it is not the last one",
    ),
)
# That another rate is better than the smallest has nothing to do with budgets: models that all have
# the first one show it, too.
AT_A_COST = claims.on_average(
    "left and center: the smallest rate costs at the task",
    lambda r: _where_the_old_loss_rises(r, _task(r)[..., -1]),
    lambda r: _where_the_old_loss_rises(r, _tuned(r)[:, :, 0, -1]),
    statement="at the last budget; little more than that another rate is the best",
)

theorem = claims.Experiment(
    **study.SETTING,
    claims=(*OF_BUDGETS, AT_A_COST),
    source=claims.Printed(
        "Figure 7 and Section 3.4.2",
        "(Left) When the optimal learning rate is constant, we expect to observe degradation of "
        "both ID and OOD performance. (Center) When the optimal learning rate decreases slowly "
        "with [...], we may observe a degradation of only the OOD performance. (Right) When the "
        "optimal learning rate decreases quickly, we will not observe degradation of either metric "
        "of performance. [...] A quickly decreasing optimal learning rate enables improvements in "
        "both ID and OOD performance as the pre-training budget increases (Figure 7, right). [...] "
        "choosing to train with the smallest learning rate would delay the inflection point. "
        "However, this would also result in a lower ID performance.",
    ),
    note="a model of bigrams of characters on Python's help, then on mixtures with its library",
    mutants=(
        dataclasses.replace(study.NO_BUDGETS, breaks=tuple(claim.name for claim in OF_BUDGETS)),
        study.NO_RATES,
    ),
)
