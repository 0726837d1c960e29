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

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Shaped

from theorysim.claims.instance import Instance

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
LIMIT_PATTERNS = 4
LIMIT_LANES = 2 * LIMIT_PATTERNS


@dataclass(frozen=True)
class Disturbance:
    """The error source that an evaluation disturbs: none, the limits, one batch of keys.

    `moved` is the lane in which the limits are moved, `left_out` the batch that averages leave out.
    """

    moved: Array | None = None
    left_out: Array | None = None


@dataclass(frozen=True)
class Run:
    """What a claim looks at: the instance `x`, `theory` = predict(x), `sim` = simulate(x, keys).

    Arrays of `sim` lead with the axis of keys.
    """

    x: Instance
    theory: Any
    sim: Any
    disturbance: Disturbance = Disturbance()
    sources: set[str] = field(default_factory=set, compare=False)
    paths: list[Array] = field(default_factory=list, compare=False)

    def disturbed(self, **disturbance: Any) -> Run:
        """The same run with an error source disturbed."""
        return dataclasses.replace(self, disturbance=Disturbance(**disturbance), paths=[])

    def mean(self, samples: Shaped[Array, "keys *rest"]) -> Shaped[Array, "*rest"]:
        """Average over the leading axis of keys; declares the Monte-Carlo error."""
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
        off by its distance either way: they move with random signs, those of one path alike
        wherever it is used.
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
        return path[..., -1] + self._signs(path)[self.disturbance.moved] * distance

    def _signs(self, path: Shaped[Array, "*lead times"]) -> Shaped[Array, "lanes *lead"]:
        """The signs with which the end of this path is moved, in every lane."""
        if not any(other is path for other in self.paths):
            self.paths.append(path)
        number = next(n for n, other in enumerate(self.paths) if other is path)
        shape = (LIMIT_PATTERNS, *path.shape[:-1])
        signs = np.random.default_rng(number).choice((-1.0, 1.0), size=shape)
        return jnp.asarray(np.concatenate([signs, -signs]), path.dtype)
