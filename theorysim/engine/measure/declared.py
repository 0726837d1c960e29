"""What the formulas of a claim declare they err by: by limits, and by means over the keys.

Each is measured by evaluating the formula again: with the ends of paths moved, by the signs that
change it most, and with each batch of keys left out (jackknife).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim.claims.evidence import BIASES, Edge
from theorysim.claims.kinds import Claim
from theorysim.claims.run import BATCHES, Run
from theorysim.engine.measure.limit_error import limit_error
from theorysim.errors import UsageError

# A few keys show how large roundings are, and integrations; what others may have beyond, `unseen`
# says.
PERTURBED_KEYS = 4

# Samples that differ from their median by less of the largest of them differ by rounding.
ROUNDED = 64

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
    """Both sides, and the errors of the slack that they declare, zero without a source.

    Raises:
        UsageError: for averages over keys that are no multiple of the batches.
    """
    run = run.disturb()
    lhs, rhs = claim.sides(run)

    def slack(run: Run) -> Array:
        left, right = claim.sides(run)
        return right - left

    if "sampling" in run.sources and run.keys % BATCHES:
        raise UsageError(
            f"claim {claim.name!r} averages over {run.keys} keys; a Monte-Carlo error needs a "
            f"multiple of {BATCHES}: set keys={BATCHES * max(1, round(run.keys / BATCHES))}"
        )
    return lhs, rhs, _declared(run, rhs - lhs, slack)


def _declared(run: Run, value: Array, formula: Callable[[Run], Array]) -> Declared:
    """The errors of a formula, which this run had evaluated alone."""

    def disturbed(**disturbance: Any) -> Array:
        return jnp.asarray(formula(run.disturb(**disturbance)), float)

    limit = sampling = skewness = bias = jnp.zeros(value.shape)
    if "limit" in run.sources:
        limit = limit_error(lambda moves: disturbed(moves=moves), run.paths)
    if "sampling" in run.sources:
        sampling, skewness, bias = _jackknife(run.keys, value, disturbed)
    return Declared(limit, sampling, skewness, bias, run.samples)


def edge_of(
    claim: Claim, run: Run, integrated: list[Run], shape: tuple[int, ...]
) -> tuple[Edge, list[Array]]:
    """How far the condition is from where it changes, and what it errs by, at points of this shape.

    What rounding makes of it is looked at elsewhere. `integrated` are the run and a coarser one,
    with the first keys only, or none. Beside it stands what the condition averages.
    """
    if claim.where is None:
        return Edge(jnp.asarray(jnp.inf), jnp.zeros(()), jnp.zeros(())), []
    run = run.disturb()
    margin = claim.margin(run).astype(float)
    declared = _declared(run, margin, claim.margin)
    error = declared.limit + BIASES * declared.bias
    if integrated:
        exact, coarse = (claim.margin(one).astype(float) for one in integrated)
        by_key = margin.shape[:1] == (run.keys,) and exact.shape[:1] != margin.shape[:1]
        error += _moved(exact, coarse, run.keys, by_key)
    distance = jnp.where(jnp.isnan(margin), jnp.inf, jnp.abs(margin))
    edge = Edge(distance, error, declared.sampling)
    return jax.tree.map(lambda part: jnp.broadcast_to(part, shape), edge), declared.averaged


def _moved(exact: Array, coarse: Array, keys: int, by_key: bool) -> Array:
    """How far a condition moves; where it leads with a few of so many keys, by the largest of them.

    There may be larger ones among the others (`unseen`).
    """
    moved = jnp.where((exact == coarse) | jnp.isnan(exact), 0, jnp.abs(coarse - exact))
    return math.sqrt(keys / len(moved)) * jnp.max(moved, axis=0) if by_key else moved


def _jackknife(
    keys: int, value: Array, disturbed: Callable[..., Array]
) -> tuple[Array, Array, Array]:
    """Standard error, skewness, bias of a formula: a batch of keys is left out at a time."""
    batches = min(keys, BATCHES)
    without = jax.vmap(lambda batch: disturbed(left_out=batch))(jnp.arange(batches))
    mean = jnp.mean(without, axis=0)
    deviation = without - mean
    square = jnp.mean(deviation**2, axis=0)
    cube = jnp.mean(deviation**3, axis=0)
    skewness = jnp.where(square > 0, cube / jnp.where(square > 0, square, 1) ** 1.5, 0)
    bias = (batches - 1) * jnp.abs(mean - value)
    return jnp.sqrt((batches - 1) * square), skewness, bias


def extremes(samples: Sequence[Array]) -> Float[Array, " largest"]:
    """The largest deviations from medians over the keys, in units of the median deviation.

    Where most keys agree, as in rare events, it is the median of those that do not: in units of the
    mean, deviations are as large as events are rare, and events of all chances together look like
    a heavy tail. What is only rounding counts as none.
    """
    if not samples:
        return jnp.zeros(0)
    real = [part for s in samples for part in ((s.real, s.imag) if jnp.iscomplexobj(s) else (s,))]
    table = jnp.concatenate([jnp.asarray(s, float).reshape(len(s), -1) for s in real], axis=1)
    deviation = jnp.abs(table - jnp.median(table, axis=0))
    kinds = [s.dtype for s in samples if jnp.issubdtype(s.dtype, jnp.inexact)]
    eps = max((float(jnp.finfo(kind).eps) for kind in kinds), default=0.0)
    rounded = deviation <= ROUNDED * eps * jnp.max(jnp.abs(table), axis=0)
    deviation = jnp.where(rounded, 0, deviation)
    typical = jnp.median(deviation, axis=0)
    among_others = jnp.nanmedian(jnp.where(deviation > 0, deviation, jnp.nan), axis=0)
    unit = jnp.where(typical > 0, typical, among_others)
    relative = jnp.ravel(deviation / jnp.where(unit > 0, unit, 1))
    return jax.lax.top_k(relative, min(relative.size, EXTREMES))[0]
