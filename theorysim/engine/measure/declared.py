"""What the formulas of a claim declare they err by: by limits, and by means over the keys.

Each is measured by evaluating the formula again: with the ends of paths moved, by the signs that
change it most, and with each batch of keys left out (jackknife).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from theorysim.claims.evidence import BIASES, SURELY
from theorysim.claims.kinds import Claim
from theorysim.claims.run import BATCHES, Run
from theorysim.engine.measure.limit_error import limit_error
from theorysim.errors import UsageError

# So many of the largest samples of an instance show the tails of their law.
EXTREMES = 64


class Declared(NamedTuple):
    """The errors that a formula declares: of its limits, and of its means.

    Of those the standard error, the skewness of the batches behind it, the bias, and what is
    averaged, which leads with the keys.
    """

    limit: Array
    sampling: Array
    skewness: Array
    bias: Array
    averaged: list[Array]


def sides_with_errors(claim: Claim, run: Run) -> tuple[Array, Array, Declared]:
    """Both sides, and the errors of the slack that they declare, zero without a source."""
    run = run.disturb()
    lhs, rhs = claim.sides(run)

    def slack(run: Run) -> Array:
        left, right = claim.sides(run)
        return right - left

    return lhs, rhs, _declared(claim, run, rhs - lhs, slack)


def _declared(claim: Claim, run: Run, value: Array, formula: Callable[[Run], Array]) -> Declared:
    """The errors of a formula of a claim, which this run had evaluated alone."""

    def disturbed(**disturbance: Any) -> Array:
        return jnp.asarray(formula(run.disturb(**disturbance)), float)

    limit = sampling = skewness = bias = jnp.zeros(value.shape)
    if "limit" in run.sources:
        limit = limit_error(lambda moves: disturbed(moves=moves), run.paths)
    if "sampling" in run.sources:
        sampling, skewness, bias = _jackknife(claim, run.keys, value, disturbed)
    return Declared(limit, sampling, skewness, bias, run.samples)


def in_doubt(
    claim: Claim, run: Run, integrated: list[Run], shape: tuple[int, ...]
) -> Bool[Array, "*points"]:
    """At which points the condition lies within the error of what it is computed from.

    Those are limits, means, and integrations: `integrated` are the run and a coarser one, with the
    first keys only, or none. What rounding makes of a condition is looked at elsewhere.
    """
    if claim.where is None:
        return jnp.zeros(shape, bool)
    run = run.disturb()
    margin = claim.margin(run).astype(float)
    declared = _declared(claim, run, margin, claim.margin)
    error = declared.limit + SURELY * declared.sampling + BIASES * declared.bias
    if integrated:
        exact, coarse = (claim.margin(one).astype(float) for one in integrated)
        moved = jnp.abs(coarse - exact)
        error += moved if moved.shape == margin.shape else jnp.max(moved, initial=0.0)
    return jnp.broadcast_to(~jnp.isnan(margin) & ~(jnp.abs(margin) >= error), shape)


def _jackknife(
    claim: Claim, keys: int, value: Array, disturbed: Callable[..., Array]
) -> tuple[Array, Array, Array]:
    """Standard error, skewness, bias of a formula: a batch of keys is left out at a time."""
    if keys % BATCHES:
        raise UsageError(
            f"claim {claim.name!r} averages over {keys} keys; a Monte-Carlo error needs a "
            f"multiple of {BATCHES}: set keys={BATCHES * max(1, round(keys / BATCHES))}"
        )
    without = jax.vmap(lambda batch: disturbed(left_out=batch))(jnp.arange(BATCHES))
    mean = jnp.mean(without, axis=0)
    deviation = without - mean
    square = jnp.mean(deviation**2, axis=0)
    cube = jnp.mean(deviation**3, axis=0)
    skewness = jnp.where(square > 0, cube / jnp.where(square > 0, square, 1) ** 1.5, 0)
    bias = (BATCHES - 1) * jnp.abs(mean - value)
    return jnp.sqrt((BATCHES - 1) * square), skewness, bias


def extremes(samples: Sequence[Array]) -> Float[Array, " largest"]:
    """The largest deviations from medians over the keys, in units of the median deviation.

    Where most keys agree, as in rare events, it is the median of those that do not: in units of the
    mean, deviations are as large as events are rare, and events of all chances together look like
    a heavy tail.
    """
    if not samples:
        return jnp.zeros(0)
    real = [part for s in samples for part in ((s.real, s.imag) if jnp.iscomplexobj(s) else (s,))]
    table = jnp.concatenate([jnp.asarray(s, float).reshape(len(s), -1) for s in real], axis=1)
    deviation = jnp.abs(table - jnp.median(table, axis=0))
    typical = jnp.median(deviation, axis=0)
    among_others = jnp.nanmedian(jnp.where(deviation > 0, deviation, jnp.nan), axis=0)
    unit = jnp.where(typical > 0, typical, among_others)
    relative = jnp.ravel(deviation / jnp.where(unit > 0, unit, 1))
    return jax.lax.top_k(relative, min(relative.size, EXTREMES))[0]
