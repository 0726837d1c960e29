"""What the figures on the small language model read from its runs."""

from collections.abc import Callable
from typing import TypeAlias

import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from theorysim import claims
from theorysim.numerics.halves import of_the_other_half

Losses: TypeAlias = Callable[[claims.Run], Float[Array, "run *rest budget"]]


def on_programs(values: Float[Array, "run share rate budget"]) -> Float[Array, "run rate budget"]:
    """Of the text that is programs alone."""
    return values[:, -1]


def on_the_same_text(
    values: Float[Array, "run share rate budget"],
) -> Float[Array, "run rate budget"]:
    """Of the text of pre-training."""
    return values[:, 0]


def at_the_best_budget(losses: Float[Array, "run *rest budget"]) -> Float[Array, "run *rest"]:
    """The loss at the budget that is best for the other half: no run picks its own luck."""
    best = jnp.argmin(of_the_other_half(losses), axis=-1)
    return jnp.take_along_axis(losses, best[..., None], axis=-1)[..., 0]


def best_rate(ft: Float[Array, "run *rest rate budget"]) -> Int[Array, "run *rest budget"]:
    """Which rate is best for the task in the other half of the runs, at every budget."""
    return jnp.argmin(of_the_other_half(ft), axis=-2)


def at_the_best_rate(
    values: Float[Array, "run *rest rate budget"], ft: Float[Array, "run *rest rate budget"]
) -> Float[Array, "run *rest budget"]:
    """Values at the rate that is best for the task in the other half of the runs."""
    return jnp.take_along_axis(values, best_rate(ft)[..., None, :], axis=-2)[..., 0, :]


def inflection(losses: Float[Array, "run *rest budget"]) -> Float[Array, "run *rest"]:
    """log2 of the budget at which a loss is least, up to a constant."""
    return jnp.argmin(losses, axis=-1).astype(float)


def before_the_last(losses: Float[Array, "run *rest budget"]) -> Float[Array, "run *rest"]:
    """The loss at the budget that is best, for the other half, of all but the last one."""
    return at_the_best_budget(losses[..., :-1])


def rise(losses: Float[Array, "run *rest budget"]) -> Float[Array, "run *rest"]:
    """How far the last budget ends above the best one before it; negative where it ends below."""
    return losses[..., -1] - before_the_last(losses)


def rises(name: str, losses: Losses, printed: bool = True) -> claims.Claim:
    """The last budget ends above the best one before it; the contrary is that it ends below."""
    return claims.on_average(
        name,
        lambda r: before_the_last(losses(r)),
        lambda r: losses(r)[..., -1],
        statement="the last budget ends above the best one before it",
        printed=printed,
    )


def improves(
    name: str,
    losses: Losses,
    statement: str = "the last budget ends below the best one before it",
    printed: bool = True,
) -> claims.Claim:
    """The last budget ends below the best one before it."""
    return claims.on_average(
        name,
        lambda r: losses(r)[..., -1],
        lambda r: before_the_last(losses(r)),
        statement=statement,
        printed=printed,
    )


def first_falls(name: str, losses: Losses) -> claims.Claim:
    """The best of the later budgets is below the first one: the left side of a U."""
    return claims.on_average(
        name,
        lambda r: at_the_best_budget(losses(r)[..., 1:]),
        lambda r: losses(r)[..., 0],
        statement="the best of the later budgets is below the first one",
    )


def trend(values: Float[Array, "*lead points"], at: Float[Array, "points"]) -> Array:
    """The slope of a line through values over log(at), by least squares; the last axis goes."""
    apart = jnp.log(at) - jnp.mean(jnp.log(at))
    return jnp.sum(values * apart, axis=-1) / jnp.sum(apart**2)


def slope(values: Float[Array, "*lead points"], at: Float[Array, "points"]) -> Array:
    """The power of a line through the logarithms, by least squares; the last axis goes."""
    return trend(jnp.log(values), at)


def perplexity(excess: Float[Array, "*shape"]) -> Float[Array, "*shape"]:
    """The perplexity of a loss above the entropy of the text, in units of the text's own."""
    return jnp.exp(excess)
