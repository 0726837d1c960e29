"""A run: an instance with its prediction and its simulation, and the error sources of a formula.

A claim's side is a function of a run. Where it takes an average over keys or the end of a
converging path, it says so (`r.mean(samples)`, `r.limit(path)`), and the engine can evaluate the
same formula with that source disturbed: with a batch of keys left out, or with the end of the path
moved. The change of the claim's slack is the numerical error, however nonlinear the formula.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Shaped

from theorysim.claims.instance import Instance
from theorysim.errors import UsageError

# Fewer batches made confidence intervals miss their level (8 batches: 35 % errors at nominal 10 %).
BATCHES = 64

# Contraction is read off steps that are larger than this multiple of eps * size: smaller ones are
# rounding.
NOISE_ULPS = 256.0

# For a path of one mode the estimated distance to the limit is the distance: without headroom
# rounding decided whether it covered it.
LIMIT_SAFETY = 2.0


class Path(NamedTuple):
    """A path whose limit a formula took: all of it, and how far its end may be from the limit."""

    points: Array
    distance: Array


@dataclass(frozen=True)
class Disturbance:
    """The error source that an evaluation disturbs: none, the limits, one batch of keys.

    `moves` are what the ends of paths move by, in the order in which a formula takes their limits,
    `left_out` is the batch that averages leave out.
    """

    moves: Sequence[Array] | None = None
    left_out: Array | None = None


@dataclass(frozen=True)
class Run:
    """What a claim looks at: the instance `x`, `theory` = predict(x), `sim` = simulate(x, key).

    With several keys the arrays of `sim` lead with the axis of keys.
    """

    x: Instance
    theory: Any
    sim: Any
    keys: int = 1
    disturbance: Disturbance = Disturbance()
    sources: set[str] = field(default_factory=set, compare=False)
    paths: list[Path] = field(default_factory=list, compare=False)

    def disturb(self, **disturbance: Any) -> Run:
        """The same run with an error source disturbed; it takes notes of its own."""
        return dataclasses.replace(
            self, disturbance=Disturbance(**disturbance), sources=set(), paths=[]
        )

    def mean(self, samples: Shaped[Array, "keys *rest"]) -> Shaped[Array, "*rest"]:
        """Average over the leading axis of keys; declares the Monte-Carlo error.

        Raises:
            UsageError: where the simulation has one key only, or the axis is not that of the keys.
        """
        if self.keys == 1 or samples.shape[:1] != (self.keys,):
            raise UsageError(
                f"r.mean averages over the leading axis of {self.keys} keys, but samples of shape "
                f"{samples.shape} arrived: set Theorem(keys={BATCHES}) or another multiple of it"
            )
        self.sources.add("sampling")
        left_out = self.disturbance.left_out
        if left_out is None:
            return jnp.mean(samples, axis=0)
        keys = samples.shape[0]
        batch = jnp.arange(keys) * min(BATCHES, keys) // keys
        weight = (batch != left_out).astype(samples.dtype)
        kept = jnp.where(weight.reshape(-1, *[1] * (samples.ndim - 1)) > 0, samples, 0)
        return jnp.sum(kept, axis=0) / jnp.sum(weight)

    def limit(self, path: Shaped[Array, "*lead times"]) -> Shaped[Array, "*lead"]:
        """End of a path (time is the last axis) that converges; declares the distance to the limit.

        The engine moves every entry by its distance, up and down, with the signs that change the
        claim most. Entries of paths that are equal move alike, however often a formula takes their
        limit.

        Raises:
            UsageError: for a path that is not of real numbers.
        """
        path = jnp.asarray(path)
        if not jnp.issubdtype(path.dtype, jnp.floating):
            raise UsageError(
                f"r.limit takes a path of real numbers, but one of {path.dtype} arrived: convert "
                "integers, take real and imaginary parts apart"
            )
        self.sources.add("limit")
        self.paths.append(Path(path, _distance(path)))
        moves = self.disturbance.moves
        return path[..., -1] + (0 if moves is None else moves[len(self.paths) - 1])


def _distance(path: Shaped[Array, "*lead times"]) -> Shaped[Array, "*lead"]:
    """How far the end of a path may be from its limit.

    LIMIT_SAFETY * last step * contraction / (1 - contraction), where the contraction is the largest
    ratio of consecutive steps above the level of rounding, of the later half where it has some,
    plus one ulp of the largest value. A path whose steps do not shrink has no such estimate: NaN,
    which never passes.
    """
    step = jnp.abs(jnp.diff(path, axis=-1))
    noise = NOISE_ULPS * jnp.finfo(path.dtype).eps * jnp.max(jnp.abs(path), -1, keepdims=True)
    resolved = step[..., :-1] > noise
    ratio = jnp.where(resolved, step[..., 1:] / jnp.where(resolved, step[..., :-1], 1), 0)
    half = ratio.shape[-1] // 2
    late = jnp.max(ratio[..., half:], axis=-1)
    contraction = jnp.where(jnp.any(resolved[..., half:], -1), late, jnp.max(ratio, axis=-1))
    distance = LIMIT_SAFETY * step[..., -1] * contraction / (1 - contraction)
    distance = distance + jnp.squeeze(noise, -1) / NOISE_ULPS
    return jnp.where(contraction < 1, distance, jnp.nan)
