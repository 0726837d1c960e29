"""A run: an instance with its prediction and its simulation, and the error sources of a formula.

A claim's side is a function of a run. Where it takes an average over keys or the end of a
converging path, it says so (`r.mean(samples)`, `r.limit(path)`), and the engine can evaluate the
same formula with that source disturbed: with a batch of keys left out, or with the end of the path
moved. The change of the claim's slack is the numerical error, however nonlinear the formula.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any

import jax
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

# Patterns of signs with which the ends of paths are moved, each up and down. With one sign for all
# entries there are instances, and a search finds them, where a formula of several entries hardly
# changes: the end of Theorem 5.2's flow (linear-teachers) lay at 1.01 of such an error.
LIMIT_PATTERNS = 16
LIMIT_PERTURBATIONS = 2 * LIMIT_PATTERNS


@dataclass(frozen=True)
class Disturbance:
    """The error source that an evaluation disturbs: none, the limits, one batch of keys.

    `moved` numbers the perturbation of the limits, `left_out` the batch that averages leave out.
    """

    moved: Array | None = None
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

    def disturb(self, **disturbance: Any) -> Run:
        """The same run with an error source disturbed."""
        return dataclasses.replace(self, disturbance=Disturbance(**disturbance))

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

        The distance is estimated as LIMIT_SAFETY * last step * contraction / (1 - contraction),
        where the contraction is the largest ratio of consecutive steps above the level of rounding,
        of the later half where it has some, plus one ulp of the largest value. A path whose steps
        do not shrink has no such estimate: the error is NaN, which never passes. Every entry may be
        off by its distance either way, so entries move with random signs. These depend on the
        entry's place and value: equal paths move alike, however often a formula takes their limit.
        """
        self.sources.add("limit")
        if self.disturbance.moved is None:
            return path[..., -1]
        step = jnp.abs(jnp.diff(path, axis=-1))
        noise = NOISE_ULPS * jnp.finfo(path.dtype).eps * jnp.max(jnp.abs(path), -1, keepdims=True)
        resolved = step[..., :-1] > noise
        ratio = jnp.where(resolved, step[..., 1:] / jnp.where(resolved, step[..., :-1], 1), 0)
        half = ratio.shape[-1] // 2
        late = jnp.max(ratio[..., half:], axis=-1)
        contraction = jnp.where(jnp.any(resolved[..., half:], -1), late, jnp.max(ratio, axis=-1))
        distance = LIMIT_SAFETY * step[..., -1] * contraction / (1 - contraction)
        distance = distance + jnp.squeeze(noise, -1) / NOISE_ULPS
        distance = jnp.where(contraction < 1, distance, jnp.nan)
        return path[..., -1] + _signs(path[..., -1], self.disturbance.moved) * distance


def _signs(ends: Shaped[Array, "*lead"], number: Array) -> Shaped[Array, "*lead"]:
    """The signs with which a perturbation moves the ends of a path.

    The second half of the perturbations has the opposite signs of the first. They are bits of a
    hash of the entry's place, its value, and the pattern: no two formulas of a path disagree.
    """
    word = jnp.uint64 if ends.dtype.itemsize == 8 else jnp.uint32
    bits = jax.lax.bitcast_convert_type(ends, word).astype(jnp.uint32)
    if ends.dtype.itemsize == 8:
        upper = jax.lax.bitcast_convert_type(ends, word) >> jnp.asarray(32, word)
        bits = bits ^ upper.astype(jnp.uint32)
    place = jnp.arange(ends.size, dtype=jnp.uint32).reshape(ends.shape)
    pattern = (number % LIMIT_PATTERNS).astype(jnp.uint32)
    mixed = _mixed(_mixed(bits + place) + pattern)
    sign = jnp.where(mixed & jnp.uint32(1), 1, -1)
    return jnp.where(number < LIMIT_PATTERNS, sign, -sign).astype(ends.dtype)


def _mixed(word: Shaped[Array, "*lead"]) -> Shaped[Array, "*lead"]:
    """A bijection of 32-bit words that spreads every bit (the finaliser of MurmurHash3)."""
    word = (word ^ (word >> jnp.uint32(16))) * jnp.uint32(0x85EBCA6B)
    word = (word ^ (word >> jnp.uint32(13))) * jnp.uint32(0xC2B2AE35)
    return word ^ (word >> jnp.uint32(16))
