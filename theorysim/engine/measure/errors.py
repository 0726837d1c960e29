"""Evaluating claims with their numerical error: one vmapped program per theorem and size.

Four sources of error are measured, each by running the formula again with that source disturbed:

- rounding: perturbed runs, their inputs jittered by a few ulps and their outputs by one; the
  largest spread of both sides over these and along the whole path, times a safety factor (at points
  that are small beside the largest: see `along_path`);
- integrator: a run with tolerances 32 times coarser, its largest difference along the path;
- limit: the formula with the ends of paths moved, by the signs that change it most;
- sampling: the formula with each batch of keys left out (jackknife).
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from functools import cache, partial, wraps
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Shaped

from theorysim.claims.evidence import Measurement
from theorysim.claims.instance import Instance, field_values
from theorysim.claims.kinds import Claim, OnAverage
from theorysim.claims.margins import place_of
from theorysim.claims.reading import ResolvedReading
from theorysim.claims.run import BATCHES, Run
from theorysim.engine.measure.along_path import at_points
from theorysim.engine.measure.declared import (
    PERTURBED_KEYS,
    edge_of,
    extremes,
    sides_with_errors,
)
from theorysim.engine.measure.over_keys import over_keys
from theorysim.errors import UsageError

# Measured over 30 to 200 seeds on diverse statements: one or two refuted true equalities.
PERTURBATIONS = 4
ROUNDING_SAFETY = 4.0
INPUT_ULPS = 4.0
OUTPUT_ULPS = 1.0
COARSER_SCALE = 32.0

# Length of the table of noise, and the shift between the arrays of an instance: primes, so that
# arrays of common shapes meet different noise.
NOISE_LENGTH = 8191
NOISE_STRIDE = 131

# What a simulation and a prediction may return, in trees.
ARRAYS = (jax.Array, np.ndarray, np.generic, bool, int, float, complex)

Measurements = dict[str, dict[str, Measurement]]


def measure(
    readings: tuple[ResolvedReading, ...],
    keys: int,
    integrates: bool,
    exact: frozenset[str],
    x: Instance,
    key: Array,
) -> Measurements:
    """All claims of all readings on one instance; pure, meant to be vmapped and jitted.

    Returns a measurement per name of reading and name of claim, whose `rounding` is how far each
    point moves, until it is completed by `with_errors_at_points`. Readings that share a simulation
    or a prediction share its run. `exact` names the fields that rounding does not move.
    """
    every_key = simulation_keys(key, keys)
    few = every_key[:PERTURBED_KEYS]
    perturbed = _perturbed_parts(readings, integrates, exact, x, few)
    plain = {
        name: Run(*jax.tree.map(lambda leaf: leaf[0], parts), keys=len(few))
        for name, parts in perturbed.items()
    }
    if keys > PERTURBED_KEYS:
        undisturbed = replace_tolerance_scale(x, 1.0 if integrates else jnp.nan)
        plain = runs(readings, undisturbed, every_key, over_keys)
    return {
        reading.name: {
            claim.name: _measurement(claim, plain[reading.name], perturbed[reading.name])
            for claim in reading.claims
        }
        for reading in readings
    }


def simulation_keys(key: Array, count: int) -> Array:
    """The keys of an instance's simulations."""
    return jax.random.split(jax.random.fold_in(key, 1), count)


def replace_tolerance_scale(x: Instance, tolerance_scale: Any) -> Instance:
    """The instance with its integrators' tolerances multiplied; NaN makes integrations fail.

    A theorem that integrates without declaring it gets NaN, so that an error that nobody measures
    cannot pass.
    """
    return dataclasses.replace(x, tolerance_scale=jnp.asarray(tolerance_scale, float))


@cache
def compiled(function: Callable) -> Callable:
    """The function under jit: traced once, however many perturbations, keys and programs use it.

    It raises UsageError where the function returns what is no array.
    """

    @wraps(function)
    def checked(*arguments: Any) -> Any:
        found = function(*arguments)
        if found is None:
            raise UsageError(f"{_named(function)} returned None: it lacks a `return`")
        for leaf in jax.tree.leaves(found):
            if not isinstance(leaf, ARRAYS):
                raise UsageError(
                    f"{_named(function)} returned {leaf!r}; expected an array, or a tree of arrays"
                )
        return found

    return jax.jit(checked)


def _named(function: Callable) -> str:
    """A function's name behind its place, as a message begins."""
    place = place_of(function)
    return f"{place}: " * bool(place) + str(getattr(function, "__name__", function))


def runs(
    readings: tuple[ResolvedReading, ...],
    x: Instance,
    keys: Array,
    over: Callable[[Callable, Array], Any] = lambda simulate, keys: jax.vmap(simulate)(keys),
) -> dict[str, Run]:
    """A run per name of reading; readings that share a simulation or a prediction share it.

    With several keys, the arrays of a simulation lead with their axis, and come from `over`; with
    one they have none.
    """
    simulations: dict[Callable, Any] = {}
    predictions: dict[Callable, Any] = {}
    for reading in readings:
        if reading.simulate not in simulations:
            simulate = partial(compiled(reading.simulate), x)
            several = keys.shape[0] > 1
            simulations[reading.simulate] = over(simulate, keys) if several else simulate(keys[0])
        if reading.predict not in predictions:
            predictions[reading.predict] = compiled(reading.predict)(x)
    return {
        r.name: Run(x, predictions[r.predict], simulations[r.simulate], keys.shape[0])
        for r in readings
    }


def _noise_table() -> np.ndarray:
    """No noise, then uniform noise in [-1, 1] per perturbation.

    A table compiles faster than a generator.
    """
    noise = np.random.default_rng(0).uniform(-1, 1, (PERTURBATIONS, NOISE_LENGTH))
    still = np.zeros((1, NOISE_LENGTH))
    return np.concatenate([still, noise])


def _jitter(tree: Any, noise: Array, ulps: float) -> Any:
    """Every float of a tree moved by up to `ulps` units of its last place."""
    leaves, structure = jax.tree_util.tree_flatten(tree)

    def jitter(leaf: Array, index: int) -> Array:
        leaf = jnp.asarray(leaf)
        if not jnp.issubdtype(leaf.dtype, jnp.floating):
            return leaf
        own = jnp.roll(noise, NOISE_STRIDE * index).astype(leaf.dtype)
        return leaf * (1 + ulps * jnp.finfo(leaf.dtype).eps * jnp.resize(own, leaf.shape))

    jittered = [jitter(leaf, index) for index, leaf in enumerate(leaves)]
    return jax.tree_util.tree_unflatten(structure, jittered)


def _perturbed_parts(
    readings: tuple[ResolvedReading, ...],
    integrates: bool,
    exact: frozenset[str],
    x: Instance,
    keys: Array,
) -> dict[str, tuple[Instance, Any, Any]]:
    """The parts of runs: undisturbed, jittered, and (last) coarsely integrated."""
    still = jnp.zeros((int(integrates), NOISE_LENGTH))
    noise = jnp.concatenate([jnp.asarray(_noise_table()), still])
    plain = 1.0 if integrates else jnp.nan
    tolerance_scale = jnp.asarray([plain] * (1 + PERTURBATIONS) + [COARSER_SCALE] * integrates)
    over = partial(over_keys, beside=len(tolerance_scale))

    def perturb(noise: Array, tolerance_scale: Array) -> dict[str, tuple[Instance, Any, Any]]:
        moved = _jitter(field_values(x), noise, INPUT_ULPS)
        values = {name: value for name, value in moved.items() if name not in exact}
        near = replace_tolerance_scale(x.replace(**values), tolerance_scale)
        jittered = {}
        for name, run in runs(readings, near, keys, over).items():
            theory, sim = _jitter((run.theory, run.sim), noise[::-1], OUTPUT_ULPS)
            jittered[name] = (near, theory, sim)
        return jittered

    return jax.vmap(perturb)(noise, tolerance_scale)


def _along_path(
    sides: tuple[Array, Array], applies: Array, which: slice
) -> Float[Array, "*few_points"]:
    """The largest distance of some runs to the undisturbed one, of both sides together."""
    lhs, rhs = (_distance(side, applies, which) for side in sides)
    return lhs + rhs


def _of_all_keys(distance: Array, shape: tuple[int, ...]) -> Float[Array, "*points"]:
    """Distances of the first keys as those of all: of others they are the largest of these."""
    largest = distance if distance.shape == shape else jnp.max(distance, axis=0, initial=0.0)
    return jnp.broadcast_to(largest, shape)


def _distance(side: Array, applies: Array, which: slice) -> Array:
    """The largest distance of some runs to the undisturbed one, at every point.

    Where the undisturbed one is NaN the point is undefined, which says nothing of the others.
    """
    distance = jnp.where(jnp.isnan(side[0]), 0, jnp.abs(side[which] - side[0]))
    if side.ndim > 1:  # perturbed runs have the first keys only
        distance = jnp.where(applies[: side.shape[1]], distance, 0)
    return jnp.max(distance, axis=0, initial=0.0)


def _unseen(points: Array, perturbed: Array) -> float:
    """Headroom of the largest of all points over the largest of those that were perturbed.

    Roundings are as large as the condition of a key makes them, and so are errors of
    integrations. The model is that its mean square is finite: the largest of N draws then grows
    no faster than sqrt(N). Without headroom, 2 to 5 of 64 instances of a true identity (low-
    rank/equation-5-6) were refuted at 1024 keys, by up to four times the estimate that four of
    these keys gave; the model gives 16. Points that average the keys are all perturbed.
    """
    return math.sqrt(max(points.size / max(perturbed[0].size, 1), 1.0))


def _measurement(claim: Claim, run: Run, perturbed: tuple[Instance, Any, Any]) -> Measurement:
    lhs, rhs, declared = sides_with_errors(claim, run)
    few = min(run.keys, PERTURBED_KEYS)
    sides = _perturbed_sides(claim, perturbed, few, run.keys)
    _check_axis_of_keys(claim, lhs.shape, sides[0].shape[1:], run.keys)
    applies, unseen = claim.applies(run, lhs.shape), _unseen(lhs, sides[0])
    roundings, coarser = slice(1, 1 + PERTURBATIONS), slice(1 + PERTURBATIONS, None)
    moved = _along_path(sides, applies, roundings)
    edge, averaged_there = edge_of(claim, run, _integrated(perturbed, few), lhs.shape)
    averaged = [*declared.averaged, *averaged_there]
    if isinstance(claim, OnAverage) and run.keys >= BATCHES:  # the spread of a few is no unit
        averaged = [*averaged, jnp.where(jnp.all(applies, axis=0), rhs - lhs, 0.0)]
    return Measurement(
        lhs=lhs,
        rhs=rhs,
        applies=applies,
        edge=edge,
        probability=jnp.asarray(claim.printed_probability(run), float),
        rounding=ROUNDING_SAFETY * unseen * _of_all_keys(moved, lhs.shape),
        integrator=unseen * jnp.max(_along_path(sides, applies, coarser), initial=0.0),
        limit=declared.limit,
        sampling=declared.sampling,
        skewness=declared.skewness,
        bias=declared.bias,
        extremes=extremes(averaged),
        by_key=jnp.asarray(lhs.shape != sides[0].shape[1:]),
    )


def with_errors_at_points(found: Measurements) -> Measurements:
    """What `measure` returns, alone or stacked, with its error of rounding at each point.

    That of an integrator is the largest along the path: an absolute tolerance leaves no part of
    small states.
    """
    return {
        reading: {
            name: dataclasses.replace(claim, rounding=_rounding_at_points(claim))
            for name, claim in claims.items()
        }
        for reading, claims in found.items()
    }


def _rounding_at_points(claim: Measurement) -> Shaped[np.ndarray, "*points"]:
    instances = np.shape(claim.integrator)
    rows = math.prod(instances)
    scale = np.abs(np.asarray(claim.lhs)) + np.abs(np.asarray(claim.rhs))
    found = at_points(np.reshape(claim.rounding, (rows, -1)), np.reshape(scale, (rows, -1)))
    return np.reshape(found, scale.shape)


def _perturbed_sides(
    claim: Claim, perturbed: tuple[Instance, Any, Any], few: int, keys: int
) -> tuple[Array, Array]:
    """Both sides of the perturbed runs, which have the first keys only.

    Raises:
        UsageError: where the formulas, which went through with all keys, need their number.
    """
    try:
        return jax.vmap(lambda *parts: claim.sides(Run(*parts, keys=few)))(*perturbed)
    except (TypeError, ValueError) as error:
        if few == keys:
            raise
        raise UsageError(
            f"claim {claim.name!r} has sides with its {keys} keys, but none with the {few} by "
            f"which its rounding is measured ({error}): write `r.keys` for their number"
        ) from error


def _check_axis_of_keys(
    claim: Claim, shape: tuple[int, ...], of_few: tuple[int, ...], keys: int
) -> None:
    """Refuse points that other keys change along another axis than the first."""
    if shape[1:] != of_few[1:]:
        raise UsageError(
            f"claim {claim.name!r} has sides of shape {shape} with its {keys} keys, and {of_few} "
            "with fewer: the axis of the keys must be the first"
        )


def _integrated(perturbed: tuple[Instance, Any, Any], keys: int) -> list[Run]:
    """The undisturbed run and the coarsely integrated one, where there is one."""
    if len(jax.tree.leaves(perturbed)[0]) == 1 + PERTURBATIONS:
        return []
    lanes = (jax.tree.map(lambda leaf, lane=lane: leaf[lane], perturbed) for lane in (0, -1))
    return [Run(*parts, keys=keys) for parts in lanes]
