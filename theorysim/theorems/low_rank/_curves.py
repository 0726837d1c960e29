"""What is read off the curves of runs at a ladder of rates; arrays end with rate and time.

How well a rate does is told by the steps that it takes; each run takes the one that is best for the
other half, in the mean of the logarithms, so that no run picks its own luck.
"""

import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from theorysim.numerics.halves import of_the_other_half

FOUND = 0.9  # the overlap at which u counts as found


def steps_until(
    overlap: Float[Array, "*lead time"], at: Float[Array, " time"], level: float = FOUND
) -> Float[Array, "*lead"]:
    """Steps after which |overlap| stays above a level, linear between records.

    All steps where it is not there in the end, and at least one.
    """
    size = jnp.abs(overlap)
    below = size < level
    last = overlap.shape[-1] - 1
    before = last - jnp.argmax(below[..., ::-1], axis=-1)  # the last record below the level
    after = jnp.minimum(before + 1, last)
    low, high = (jnp.take_along_axis(size, i[..., None], -1)[..., 0] for i in (before, after))
    part = jnp.clip((level - low) / jnp.where(high > low, high - low, 1.0), 0, 1)
    steps = at[before] + part * (at[after] - at[before])
    return jnp.maximum(jnp.where(jnp.any(below, axis=-1), steps, 0.0), 1.0)


def best_rate(steps: Float[Array, "run *rest rate"]) -> Int[Array, "run *rest"]:
    """The place of the rate that takes the other runs the fewest steps."""
    return jnp.argmin(of_the_other_half(jnp.log(steps)), axis=-1)


def at_rate(values: Float[Array, "..."], place: Int[Array, "*lead"]) -> Float[Array, "..."]:
    """The values at a rate, whose axis follows the leading ones."""
    index = place.reshape(place.shape + (1,) * (values.ndim - place.ndim))
    return jnp.take_along_axis(values, index, axis=place.ndim).squeeze(place.ndim)


def first_record(overlap: Float[Array, "*lead time"], level: float) -> Int[Array, "*lead"]:
    """The place of the first record where |overlap| reaches a level, the last if it never does."""
    there = jnp.abs(overlap) >= level
    return jnp.where(jnp.any(there, axis=-1), jnp.argmax(there, axis=-1), overlap.shape[-1] - 1)
