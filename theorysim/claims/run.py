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
from theorysim.numerics.convergence import distance_to_limit

# Fewer batches made confidence intervals miss their level (8 batches: 35 % errors at nominal 10 %).
BATCHES = 64


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
    samples: list[Array] = field(default_factory=list, compare=False)

    def disturb(self, **disturbance: Any) -> Run:
        """The same run with an error source disturbed; it takes notes of its own."""
        return dataclasses.replace(
            self, disturbance=Disturbance(**disturbance), sources=set(), paths=[], samples=[]
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
        self.samples.append(samples)
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

        The convergence must be geometric: a path that closes in like a power of time shows no
        distance, its error is NaN, and no claim is decided by it (`distance_to_limit`).
        The engine moves every entry by its distance, up and down, with the signs that change the
        claim most. Entries of paths that are equal move alike, however often a formula takes their
        limit.

        Raises:
            UsageError: for a path that is not of real numbers, or of fewer than two points.
        """
        path = jnp.asarray(path)
        if not jnp.issubdtype(path.dtype, jnp.floating):
            raise UsageError(
                f"r.limit takes a path of real numbers, but one of {path.dtype} arrived: convert "
                "integers, take real and imaginary parts apart"
            )
        if path.ndim == 0 or path.shape[-1] < 2:
            raise UsageError(
                f"r.limit takes a path, time last, but an array of shape {path.shape} arrived"
            )
        self.sources.add("limit")
        self.paths.append(Path(path, distance_to_limit(path)))
        moves = self.disturbance.moves
        return path[..., -1] + (0 if moves is None else moves[len(self.paths) - 1])
