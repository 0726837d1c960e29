"""How far the end of a path may be from its limit, read off the path; NaN where it does not say.

The steps of a path that converges geometrically shrink by a contraction c per step, and what is
left is last step * c / (1 - c). A path that converges like a power of the number of steps shows
contractions that creep up to 1: 1 / (1 - c), the number of steps of the last size that are left,
then grows with every step by 1/p for steps of size k^-p (to infinity for p <= 1), and tends to a
constant for a geometric one. Both are measured on the largest steps of three blocks, so that a
damped oscillation, whose single steps are of all sizes, is seen by its envelope.

A path of two modes of opposite signs turns before it ends: near its turn the steps are small and
shrink fast, and say nothing of the slower mode. Both modes are therefore read off five points
(Prony's method, the second of Shanks' transformations), and what they leave is no less than said.

What no path shows is not seen: a slower mode whose steps are still below the others (or below
rounding), half a period of an oscillation.
"""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

# A contraction is read off steps that are larger than this multiple of eps * size: smaller ones are
# rounding.
NOISE_ULPS = 256.0

# For a path of one mode the estimated distance to the limit is the distance: without headroom
# rounding decided whether it covered it.
SAFETY = 2.0

# Largest growth per step of the number of steps that are left. Steps k^-p have 1/p: sums of k^-4
# pass (the estimate holds for them, too), sums of k^-3 do not. Modes that take over from faster
# ones exceed it only while they do.
CREEP = 0.25

# Blocks of steps that are compared, and the share of the path that they cover: its later half, by
# when fast modes have died out.
BLOCKS = 3
LATE = 2


# Pieces between five points, and the share of the path that they cover, as above.
PIECES = 4


class Shrinking(NamedTuple):
    """How the steps of paths shrink at their ends."""

    left: Float[Array, "*lead"]
    """1 / (1 - contraction): so many steps of the last size are left, the last one included"""
    creep: Float[Array, "*lead"]
    """its growth per step"""
    since: Float[Array, "*lead"]
    """number of the step from which on this was measured"""


def distance_to_limit(path: Float[Array, "*lead times"]) -> Float[Array, "*lead"]:
    """A bound on |limit - end| of paths along their last axis; NaN where convergence is too slow.

    SAFETY * envelope of the last step * (left - 1) / (1 - creep), as if the contraction went on
    to creep up (exact for powers), or SAFETY * what two modes leave, if that is more; and what
    rounding adds up to: one ulp of the largest value for each step that is left. NaN where the
    steps do not shrink, the contraction creeps up to 1, or is so near 1 that the path has not come
    down by a factor of e; infinity where one of two modes grows. A path that is constant up to
    rounding, or falls to rest within two steps, is at its limit.
    """
    step = jnp.abs(jnp.diff(path, axis=-1))
    number = _numbers(step)
    ulp = jnp.finfo(path.dtype).eps * jnp.max(jnp.abs(path), axis=-1)
    seen = step > NOISE_ULPS * ulp[..., None]
    steps = jnp.max(jnp.where(seen, number + 1, 0), axis=-1)
    at_rest = jnp.maximum(_largest(step, number >= steps[..., None]), ulp)
    few = steps < BLOCKS
    both = zip(_fall(step, steps, at_rest), _shrinking(step, steps), strict=True)
    left, creep, since = (jnp.where(few, fall, slow) for fall, slow in both)
    geometric = (left <= step.shape[-1]) & (creep <= CREEP)
    left, creep = jnp.where(geometric, left, 1), jnp.where(geometric, creep, 0)
    to_the_end = (1 - 1 / left)[..., None] ** (step.shape[-1] - 1 - number)
    envelope = _largest(step * to_the_end, number >= since[..., None])
    remaining = jnp.maximum(envelope * (left - 1) / (1 - creep), _left_by_two_modes(path, steps))
    distance = SAFETY * remaining + left * ulp
    return jnp.where(steps == 0, at_rest + ulp, jnp.where(geometric, distance, jnp.nan))


def _numbers(step: Float[Array, "*lead steps"]) -> Float[Array, "*lead steps"]:
    """The number of every step, from 0."""
    return jnp.broadcast_to(jnp.arange(step.shape[-1], dtype=step.dtype), step.shape)


def _largest(
    step: Float[Array, "*lead steps"], which: Bool[Array, "*lead steps"]
) -> Float[Array, "*lead"]:
    """The largest of some steps; 0 where there are none."""
    return jnp.max(jnp.where(which, step, 0), axis=-1)


def _shrinking(step: Float[Array, "*lead steps"], steps: Float[Array, "*lead"]) -> Shrinking:
    """From the largest steps of blocks at the end of the first `steps`, extrapolated to the end."""
    length = jnp.maximum(steps // (LATE * BLOCKS), 1)
    block = (_numbers(step) - (steps - BLOCKS * length)[..., None]) // length[..., None]
    first, second, third = (_largest(step, block == index) for index in range(BLOCKS))

    def left(early: Array, late: Array) -> Array:
        shrinks = (late < early) & (late > 0)
        ratio = jnp.where(shrinks, late / jnp.where(shrinks, early, 1), 0.5)
        return jnp.where(shrinks, -1 / jnp.expm1(jnp.log(ratio) / length), jnp.inf)

    before, after = left(first, second), left(second, third)
    known = jnp.isfinite(before) & jnp.isfinite(after)
    creep = jnp.where(known, jnp.maximum(after - before, 0) / length, jnp.inf)
    # The last two blocks tell the contraction between their starts: one and a half blocks ago.
    at_end = after + 1.5 * length * creep
    return Shrinking(at_end, creep, steps - BLOCKS * length)


def _left_by_two_modes(
    path: Float[Array, "*lead times"], steps: Float[Array, "*lead"]
) -> Float[Array, "*lead"]:
    """|limit - end| of two real modes through five points; 0 where a second mode is not seen.

    Pieces d_0, ..., d_3 of two modes obey d_(i+2) = total d_(i+1) - product d_i with the sum and
    the product of their contractions. Modes that do not shrink have no limit.
    """
    length = (steps // (LATE * PIECES)).astype(int)
    pieces = jnp.arange(PIECES, -1, -1).reshape(*(1,) * steps.ndim, PIECES + 1)
    ends = steps[..., None].astype(int) - length[..., None] * pieces
    points = jnp.take_along_axis(path, ends, axis=-1)
    d = jnp.moveaxis(jnp.diff(points, axis=-1), -1, 0)
    ulp = jnp.finfo(path.dtype).eps * jnp.max(jnp.abs(path), axis=-1)
    determinant = d[0] * d[2] - d[1] ** 2
    seen = (length > 0) & (
        jnp.abs(determinant)
        > NOISE_ULPS * ulp * (jnp.abs(d[0]) + 2 * jnp.abs(d[1]) + jnp.abs(d[2]))
    )
    divisor = jnp.where(seen, determinant, 1)
    total = (d[0] * d[3] - d[1] * d[2]) / divisor
    product = (d[1] * d[3] - d[2] ** 2) / divisor
    real = seen & (total > 0) & (product > 0) & (total**2 >= 4 * product)
    shrinks = (1 - total + product > 0) & (total < 2)
    room = jnp.where(real & shrinks, 1 - total + product, 1)
    everything = (d[0] * (1 - total) + d[1]) / room
    slower = (total + jnp.sqrt(jnp.where(real, total**2 - 4 * product, 0))) / 2
    unseen = (path.shape[-1] - 1 - steps).astype(path.dtype) / jnp.maximum(length, 1).astype(
        path.dtype
    )
    left = jnp.abs(everything - jnp.sum(d, axis=0)) * slower**unseen
    return jnp.where(real, jnp.where(shrinks, left, jnp.inf), 0)


def _fall(
    step: Float[Array, "*lead steps"], steps: Float[Array, "*lead"], at_rest: Float[Array, "*lead"]
) -> Shrinking:
    """Of a path that comes to rest after one or two steps; infinite where it does not."""
    number = _numbers(step)
    last = _largest(step, number == steps[..., None] - 1)
    rests = (steps < step.shape[-1]) & (at_rest < last)
    ratio = jnp.where(rests, at_rest / jnp.where(rests, last, 1), 0)
    return Shrinking(jnp.where(rests, 1 / (1 - ratio), jnp.inf), jnp.zeros_like(last), steps - 1)
