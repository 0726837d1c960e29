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


def rises(name: str, losses: Losses) -> claims.Claim:
    """The last budget ends above the best one."""
    return claims.on_average(
        name,
        lambda r: at_the_best_budget(losses(r)),
        lambda r: losses(r)[..., -1],
    )


def both_rise(pre: Losses, ft: Losses) -> tuple[claims.Claim, claims.Claim]:
    """Both rows of Figures 5 and 6."""
    return (
        rises("top: the loss of pre-training eventually rises", pre),
        rises("bottom: the loss of the task eventually rises", ft),
    )


def slope(values: Float[Array, "*lead points"], at: Float[Array, "points"]) -> Array:
    """The power of a line through the logarithms, by least squares; the last axis goes."""
    apart = jnp.log(at) - jnp.mean(jnp.log(at))
    return jnp.sum(jnp.log(values) * apart, axis=-1) / jnp.sum(apart**2)
