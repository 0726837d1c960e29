"""Whether a violation is still there in Monte Carlo arithmetic, where every rounding errs anew."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache, partial, reduce
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from theorysim.chunks import Chunked
from theorysim.claims.evidence import Measurement
from theorysim.claims.fields import Field
from theorysim.claims.instance import Instance, SizeItems, field_values, size_items
from theorysim.claims.kinds import Claim, Probable
from theorysim.claims.reading import ResolvedReading
from theorysim.claims.run import Run
from theorysim.claims.space import Space
from theorysim.claims.theorem import Theorem
from theorysim.engine.confirm.conditions import with_unmoved
from theorysim.engine.confirm.speaking import (
    Told,
    is_spoken_of,
    nothing_told,
    told_of_rows,
    told_with_bits,
)
from theorysim.engine.confirm.suspect import Answer, Case, Finding, Suspect
from theorysim.engine.confirm.traced import traced
from theorysim.engine.measure.along_path import at_points
from theorysim.engine.measure.batch import instance_bytes
from theorysim.engine.measure.errors import (
    PERTURBATIONS,
    ROUNDING_SAFETY,
    replace_tolerance_scale,
    runs,
    simulation_keys,
)
from theorysim.engine.measure.making import made_of, no_key, shapes_of
from theorysim.jaxprs.cost import LIBRARIES
from theorysim.jaxprs.directions import LANES
from theorysim.jaxprs.monte_carlo_arithmetic import perturb_rounding
from theorysim.jaxprs.structure import contains
from theorysim.kept import Program, kept_value
from theorysim.memory import chunk_length
from theorysim.threads import threads_for

# In two of the lanes all results are moved one way, in six each by itself. The difference of two
# errs alike in all of them with a chance of 2^-6, so that what stands is looked at as often again,
# twice.
AGAIN = 2

# Compiling costs most: some milliseconds for each operation of the program. Above the first number
# a violation's size is asked before, above the second one nothing else is.
FEW_OPERATIONS = 100
MOST_OPERATIONS = 5_000

MEANS = "in Monte Carlo arithmetic"


class Sides(NamedTuple):
    """Both sides in all lanes, and the margins of the claim's condition, if it has one.

    One lane of the margins, the first, is not moved.
    """

    lhs: Float[np.ndarray, "*rows lanes path"]
    rhs: Float[np.ndarray, "*rows lanes path"]
    condition: Float[np.ndarray, "*rows lanes+1 path"] | None = None

    def beside(self, other: Sides) -> Sides:
        """With the lanes of another turn."""
        lhs, rhs = (np.concatenate(pair, axis=-2) for pair in zip(self[:2], other[:2]))
        if self.condition is None or other.condition is None:
            return Sides(lhs, rhs)
        return Sides(lhs, rhs, np.concatenate([self.condition, other.condition], axis=-2))

    def of_row(self, row: int) -> Sides:
        """Those of one row, without its axis."""
        condition = None if self.condition is None else self.condition[row]
        return Sides(self.lhs[row], self.rhs[row], condition)


def _told(case: Case, suspect: Suspect) -> Told:
    """What bits tell of a suspect's condition; nothing where there is none."""
    points = suspect.points.lhs.shape[1]
    if case.claim.where is None:
        return nothing_told((points,), enclosed=True)
    return told_with_bits(case, suspect.instance, suspect.key, points)


def _speaks(
    case: Case, told: Told, sides: Sides, origins: bool = False
) -> Bool[np.ndarray, "*rows path"]:
    """At which points a claim says something, by more than rounding."""
    if case.claim.where is None or sides.condition is None:
        return np.ones_like(told.met)
    return is_spoken_of(case.claim.where, told, sides.condition, origins)


def is_costly(case: Case, instance: Instance) -> bool:
    """Whether compiling the claim for other roundings takes a good part of a verification.

    The instance may be stacked: its sizes are asked for.
    """
    return traced(case, size_items(instance)).operations > FEW_OPERATIONS


def look_with_other_roundings(case: Case, suspect: Suspect) -> Finding:
    """Whether a suspect violates its claim beyond what its roundings make of it.

    The estimate of rounding is that of a measurement: a multiple of the largest change of both
    sides along the whole path, here under other directions of every single rounding.
    """
    operations = traced(case, size_items(suspect.instance)).operations
    if operations > MOST_OPERATIONS:
        why = f"it is too large ({operations} operations) to be run {MEANS}"
        return Finding(Answer.UNKNOWN, why)
    told = _told(case, suspect)
    first = _moved(case, suspect, range(1))[0]
    finding = _judged(case, suspect, told, first)
    if finding.answer is not Answer.VIOLATED:
        return finding
    again = _moved(case, suspect, range(1, 1 + AGAIN))
    return _judged(case, suspect, told, reduce(Sides.beside, again, first))


def spread_of_origins(case: Case, suspect: Suspect) -> Float[np.ndarray, " path"]:
    """By how much both sides of a suspect move, along its path, if origins of numbers do.

    Infinite where there is no number, and at points of which the claim need not speak then.
    """
    turns, told = _moved(case, suspect, range(1 + AGAIN), origins=True), _told(case, suspect)
    speaking = [(one, _speaks(case, told, one, origins=True)) for one in turns]
    return np.max([np.where(s, _spread(suspect, one, s)[0], np.inf) for one, s in speaking], axis=0)


def _moved(
    case: Case, suspect: Suspect, turns: Sequence[int], origins: bool = False
) -> list[Sides]:
    """Both sides of a suspect in all lanes, for every turn, which takes other directions."""
    x, keys = jax.tree.map(
        lambda leaf: np.stack([leaf] * len(turns)), (suspect.instance, suspect.key)
    )
    program = _in_parts(case, size_items(suspect.instance), LANES, origins)
    points = suspect.points.lhs.shape[1]
    found = _computed(case, program, (np.asarray(turns), x, keys), points)
    return [found.of_row(row) for row in range(len(turns))]


def _in_parts(case: Case, sizes: SizeItems, lanes: int, origins: bool) -> Chunked:
    """The program of a case's sides, run in so many lanes at once, whichever row they are of."""
    sides = perturbed_sides(case.theorem, case.reading, sizes, origins)
    return Chunked(sides, lanes, case.theorem.id, threads_of_sides(case, sizes))


def _computed(
    case: Case, program: Callable, rows: tuple[np.ndarray, Instance, np.ndarray], points: int
) -> Sides:
    """Both sides of rows of (turns, instances, keys), in all lanes of each.

    No numbers where a run raises an error, as a solver does that cannot converge.
    """
    shape = len(rows[0]), LANES, points
    turns, x, keys = rows
    lanes = _in_lanes(case.theorem.space, x), np.repeat(keys, LANES, axis=0)
    try:
        found = program((numbers_of_lanes(turns), *lanes))[case.claim.name]
    except jax.errors.JaxRuntimeError as error:
        if "callback" not in str(error):  # out of memory
            raise
        return Sides(np.full(shape, np.nan), np.full(shape, np.nan))
    lhs, rhs, *condition = (np.reshape(side, shape) for side in found)
    if not condition:
        return Sides(lhs, rhs)
    unmoved = partial(_unmoved_conditions, case, x, keys)
    return Sides(lhs, rhs, with_unmoved(condition[0], unmoved))


def _in_lanes(space: Space, x: Instance) -> Instance:
    """Stacked instances, each for every lane in turn: as they are, and what they stand for.

    A printed orthogonal matrix has orthogonal rows up to rounding only, and what that has left of a
    0 is a number like any other to whoever computes with it.
    """
    repeated = jax.tree.map(lambda leaf: np.repeat(leaf, LANES, axis=0), x)
    meant = {}
    for name, field in space.fields.items():
        if type(field).normalised is not Field.normalised:
            members = [field.normalised(entries) for entries in field_values(x)[name]]
            meant[name] = field_values(repeated)[name].copy()
            meant[name][1::2] = np.repeat(members, LANES // 2, axis=0)
    return repeated.replace(**meant)


def numbers_of_lanes(turns: np.ndarray) -> Float[np.ndarray, " rows*lanes"]:
    """Of every turn in order: each takes other lanes, in which numbers err otherwise."""
    return np.ravel(1.0 + LANES * turns[:, None] + np.arange(LANES))


def threads_of_sides(case: Case, sizes: SizeItems) -> int:
    """How many parts of `sides_of_run` may run at once, which computes all claims of a reading."""
    return threads_for(_calls_libraries(case.theorem, case.reading, sizes))


@lru_cache(maxsize=256)
def _calls_libraries(theorem: Theorem, reading: ResolvedReading, sizes: SizeItems) -> bool:
    known_by = made_of(theorem, (reading,), sizes, "sides of a run")

    def looked_for() -> bool:
        fields = dict(zip(theorem.space.fields, shapes_of(theorem, sizes)))
        program = jax.make_jaxpr(sides_of_run(theorem, reading))
        x = Instance(fields, sizes, np.float64(1))
        return contains(program(x, no_key()).jaxpr, LIBRARIES)

    return kept_value(known_by, "whether it calls libraries", looked_for)


def _unmoved_conditions(
    case: Case, x: Instance, keys: np.ndarray
) -> Float[np.ndarray, "rows path"]:
    """What a claim's condition is at stacked instances in double precision."""
    program = _conditions(case.theorem, case.reading, size_items(x))
    return np.asarray(program(x, keys)[case.claim.name])


def with_other_roundings(
    case: Case, measurement: Measurement, instances: Instance, keys: np.ndarray, turn: int = 0
) -> Measurement:
    """The measurement of stacked instances with the larger rounding: its own, or of these runs.

    Of claims that no second look at one instance decides. Every turn takes other directions. Of a
    program that is too large nothing is known: its rounding is infinite.
    """
    if traced(case, size_items(instances)).operations > MOST_OPERATIONS:
        return replace(measurement, rounding=np.full(len(keys), np.inf))
    spread = spread_of_rows(case, measurement, instances, keys, turn)
    own = np.reshape(measurement.rounding, (len(keys), -1))
    return replace(measurement, rounding=np.fmax(own, ROUNDING_SAFETY * spread))


def sides_of_rows(
    case: Case,
    measurement: Measurement,
    instances: Instance,
    keys: np.ndarray,
    turn: int = 0,
    origins: bool = False,
) -> tuple[Sides, Bool[np.ndarray, "rows path"]]:
    """Both sides of stacked instances in all lanes, and of which points the claim speaks."""
    found, where = _in_chunks(case, measurement, turn, instances, keys, origins), case.claim.where
    told = nothing_told((len(keys), found.lhs.shape[-1]), enclosed=True)
    if where is not None and found.condition is not None:
        told = told_of_rows(case, where, found.condition, instances, keys)
    return found, _speaks(case, told, found, origins)


def spread_of_rows(
    case: Case,
    measurement: Measurement,
    instances: Instance,
    keys: np.ndarray,
    turn: int = 0,
    origins: bool = False,
) -> Float[np.ndarray, "rows #columns"]:
    """By how much both sides of stacked instances move; infinite where there is no number, and
    where the claim need not speak of a point.

    Of a probability by key, for all its points: a run that hangs on rounding tells of no other.
    """
    shape = np.shape(measurement.lhs)
    by_key = shape[:2] if isinstance(case.claim, Probable) else (shape[0], 1)
    known = np.asarray(measurement.applies).reshape(*by_key, -1)
    spread = np.zeros(by_key)
    found, speaks = sides_of_rows(case, measurement, instances, keys, turn, origins)
    for side, own in zip(found[:2], (measurement.lhs, measurement.rhs), strict=True):
        apart = distances(np.asarray(side), np.reshape(own, (shape[0], 1, -1))).max(axis=1)
        apart = np.where(speaks, apart, np.inf)
        spread = np.maximum(spread, apart.reshape(known.shape).max(2, where=known, initial=0))
    return 2 * np.repeat(spread, known.shape[2] if by_key[1] > 1 else 1, axis=1)  # of both sides


def distances(moved: np.ndarray, plain: np.ndarray) -> np.ndarray:
    """Distances; infinite where only the moved side is no number, none where both are alike."""
    with np.errstate(invalid="ignore"):
        apart = np.where(moved == plain, 0.0, np.abs(moved - plain))
    return np.where(np.isnan(apart) & ~np.isnan(plain), np.inf, np.nan_to_num(apart, posinf=np.inf))


def _in_chunks(
    case: Case,
    measurement: Measurement,
    turn: int,
    instances: Instance,
    keys: np.ndarray,
    origins: bool = False,
) -> Sides:
    """Both sides of all instances in all lanes, so many at once as fit."""
    sizes = size_items(instances)
    need = instance_bytes(case.theorem, (case.reading,), dict(sizes)) // PERTURBATIONS
    rows = len(keys)
    chunk = chunk_length(need, rows * LANES, f"{case.theorem.id}, {case.reading.name}")
    program = _in_parts(case, sizes, chunk, origins)
    given = np.full(rows, turn), jax.tree.map(np.asarray, instances), keys
    return _computed(case, program, given, np.size(measurement.lhs) // rows)


@lru_cache(maxsize=64)
def perturbed_sides(
    theorem: Theorem, reading: ResolvedReading, sizes: SizeItems, origins: bool = False
) -> Program:
    """What `sides_of_run` gives, of (numbers of lanes, instances, keys), all stacked.

    Compiled once, whichever claims are in doubt.
    """
    sides = sides_of_run(theorem, reading)
    moved = perturb_rounding(sides, origins, ties=not theorem.integrates, lanes=True)
    known_by = made_of(theorem, (reading,), sizes, "other roundings", origins)
    return Program(lambda rows: jax.vmap(moved)(*rows), known_by)


def sides_of_run(theorem: Theorem, reading: ResolvedReading) -> Callable:
    """The sides of a reading's claims without a ladder, of an instance and its keys.

    Beside them a claim's condition, where it has one, at all points.
    """
    claims = [claim for claim in reading.claims if not claim.over]

    def sides(x: Instance, key_data: Array) -> dict[str, list[Array]]:
        keys = simulation_keys(jax.random.wrap_key_data(key_data), theorem.keys)
        x = replace_tolerance_scale(x, 1.0 if theorem.integrates else jnp.nan)
        run = runs((reading,), x, keys)[reading.name]
        return {claim.name: parts(claim, run) for claim in claims}

    def parts(claim: Claim, run: Run) -> list[Array]:
        lhs, rhs = claim.sides(run)
        if claim.where is None:
            return [jnp.ravel(lhs), jnp.ravel(rhs)]
        condition = jnp.asarray(claim.where(run), float)
        return list(map(jnp.ravel, [lhs, rhs, jnp.broadcast_to(condition, lhs.shape)]))

    return sides


@lru_cache(maxsize=64)
def _conditions(theorem: Theorem, reading: ResolvedReading, sizes: SizeItems) -> Program:
    """The conditions of claims that have one, of (instances, keys), stacked: (rows, path) each."""
    sides = sides_of_run(theorem, reading)

    def one(x: Instance, key_data: Array) -> dict[str, Array]:
        parts = sides(x, key_data)
        return {name: given for name, (_, _, *condition) in parts.items() for given in condition}

    return Program(jax.vmap(one), made_of(theorem, (reading,), sizes, "conditions"))


def _judged(case: Case, suspect: Suspect, told: Told, sides: Sides) -> Finding:
    speaks, points = _speaks(case, told, sides), suspect.points
    spread = at_points(_spread(suspect, sides, speaks), points.scale)[0]
    least = ROUNDING_SAFETY * spread + points.non_rounding_error[0]
    with np.errstate(invalid="ignore"):
        room = np.max(case.claim.slack(sides.lhs, sides.rhs), axis=0)
        violated = suspect.violated & speaks & (room < -least)
    if not violated.any():
        return Finding(Answer.VANISHED, MEANS)
    return Finding(Answer.VIOLATED, MEANS, suspect.worst(violated))


def _spread(
    suspect: Suspect, sides: Sides, speaks: Bool[np.ndarray, " path"]
) -> Float[np.ndarray, "1 path"]:
    """By how much both sides move together, where the claim speaks for certain; 0 elsewhere."""
    points = suspect.points
    known = points.applies[0] & speaks & ~np.isnan(points.lhs[0] + points.rhs[0])
    both = (sides.lhs, points.lhs), (sides.rhs, points.rhs)
    moves = [np.max(distances(*pair), axis=0) for pair in both]
    return np.where(known, sum(moves), 0.0)[None]
