"""Moves that make new points of a population: steps, differences, edges, equal values, integers."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from theorysim.claims.fields import Interval, Options
from theorysim.claims.fields.base import Sizes
from theorysim.claims.space import Space

Cube = Float[np.ndarray, "points dimension"]

BOUNDARY_POINTS = 2187  # 3^7: every combination of 0, 1/2, 1 in up to seven dimensions

# Steps have log-uniform scales between the narrowest basin that is sought and the whole cube.
FINEST_STEP = 1e-6

# Shares of the children that are changed besides, so small that most children still evolve: moved
# onto faces of the cube, given equal coordinates, or drawn anew, which keeps every place in reach.
SNAPPED = 0.06
EQUALISED = 0.1
FRESH = 0.05
# How often a choice that changes goes to the one beside it, where choices are ordered.
TO_NEIGHBOUR = 0.5


@dataclass(frozen=True)
class Coordinates:
    """What is known of a space's coordinates, one entry each.

    `low`, `high`, `log` are those of the interval that it runs through, NaN where it is none;
    `cell` is the width of one integer or choice, 0 where values are continuous.
    """

    low: Float[np.ndarray, " dimension"]
    high: Float[np.ndarray, " dimension"]
    log: Bool[np.ndarray, " dimension"]
    cell: Float[np.ndarray, " dimension"]

    @staticmethod
    def of(space: Space, sizes: Sizes) -> Coordinates:
        """The coordinates of a space at some sizes."""
        rows: list[tuple[float, float, bool, float]] = []
        for field in space.fields.values():
            box = field.box(sizes)
            row = (np.nan, np.nan, False, 0.0)
            if isinstance(box, Interval):
                row = (box.low, box.high, box.log, 0.0)
            elif isinstance(box, Options):
                row = (np.nan, np.nan, False, 1 / len(box.values))
            rows += [row] * field.count(sizes)
        low, high, log, cell = (np.array(column) for column in zip(*rows, strict=True))
        return Coordinates(low, high, log.astype(bool), cell)

    def values(self, cube: Cube, column: np.ndarray) -> np.ndarray:
        """Per point, the value of one of its coordinates."""
        u = np.take_along_axis(cube, column[:, None], 1)[:, 0]
        low, high = self.low[column], self.high[column]
        with np.errstate(invalid="ignore", divide="ignore"):
            inner = low ** (1 - u) * high**u
        return np.where(self.log[column], inner, low * (1 - u) + high * u)

    def locate(self, value: np.ndarray, column: np.ndarray) -> np.ndarray:
        """Per point, where one of its coordinates has a value; NaN where it cannot."""
        low, high = self.low[column], self.high[column]
        with np.errstate(invalid="ignore", divide="ignore"):
            linear = (value - low) / (high - low)
            logarithmic = np.log(value / low) / np.log(high / low)
        return np.where(self.log[column], logarithmic, linear)


def boundary_points(dimension: int, rng: np.random.Generator) -> Cube:
    """Points with coordinates 0, 1/2 and 1: all of them, or a random choice where too many."""
    if 3**dimension <= BOUNDARY_POINTS:
        return np.array(list(itertools.product((0.0, 0.5, 1.0), repeat=dimension)))
    choice = rng.integers(0, 3, size=(BOUNDARY_POINTS, dimension)) / 2
    choice[:3] = np.array([[0.0], [0.5], [1.0]])
    return choice


def edge_points(known: Coordinates, count: int, rng: np.random.Generator) -> Cube:
    """At most `count` points of the boundary, of equal values, and of integers beside their ends.

    Corners, edges and middles first; the others are random but for what makes them special.
    """
    dimension = len(known.cell)
    corners = boundary_points(dimension, rng)
    inner = rng.random((max(len(corners) // 2, min(count, 16 * dimension)), dimension))
    sides = np.where(
        rng.random(inner.shape) < 1 / dimension, rng.integers(0, 2, inner.shape), inner
    )
    special = np.concatenate([corners, _beside_ends(known, _equalise(known, sides, rng), rng)])
    if len(special) <= count:
        return special
    return special[rng.choice(len(special), count, replace=False)]


def _beside_ends(known: Coordinates, cube: Cube, rng: np.random.Generator) -> Cube:
    """Integers and choices moved to the first two and last two, in half of the points each."""
    ends = rng.integers(0, 2, cube.shape)
    place = np.abs(ends - (rng.integers(0, 2, cube.shape) + 0.5) * known.cell)
    return np.where((known.cell > 0) & (rng.random(cube.shape) < 0.5), place, cube)


def _equalise(known: Coordinates, cube: Cube, rng: np.random.Generator) -> Cube:
    """Per point, one coordinate's value given to another one that can have it."""
    count, dimension = cube.shape
    source, target = rng.integers(0, dimension, (2, count))
    place = known.locate(known.values(cube, source), target)
    moved = cube.copy()
    possible = (place >= 0) & (place <= 1)
    moved[np.flatnonzero(possible), target[possible]] = place[possible]
    return moved


def vary(members: Cube, parents: np.ndarray, known: Coordinates, rng: np.random.Generator) -> Cube:
    """A child for each of the `parents`, rows of a population.

    A third add a difference of two members (differential evolution), a third a normal step with the
    covariance of the population: both learn its scales and directions. The others step by a
    log-uniform scale. All but the second kind move random coordinates only. Some children snap to
    0, 1/2, 1, or take an equal value; integers step to their neighbours.
    """
    count, dimension = len(parents), members.shape[1]
    parent = members[parents]
    first, second = members[rng.integers(0, len(members), (2, count))]
    difference = rng.uniform(0.3, 1.0, (count, 1)) * (first - second)
    spread = (members - np.mean(members, axis=0)) / np.sqrt(len(members))
    along = rng.uniform(0.3, 1.5, (count, 1)) * rng.normal(size=(count, len(members))) @ spread
    normal = 10 ** rng.uniform(np.log10(FINEST_STEP), 0, (count, 1)) * rng.normal(size=along.shape)
    kind = rng.integers(0, 3, (count, 1))
    step = np.choose(kind, [difference, along, normal])
    some = rng.random(step.shape) < rng.choice([0.1, 0.3, 1.0], size=(count, 1))
    some[np.arange(count), rng.integers(0, dimension, count)] = True
    neighbour = known.cell * rng.choice([-1, 1], size=some.shape)
    step = np.where((known.cell > 0) & (rng.random(some.shape) < TO_NEIGHBOUR), neighbour, step)
    children = np.clip(np.where(some | (kind == 1), parent + step, parent), 0, 1)
    snapped = rng.random((count, 1)) < SNAPPED
    which = rng.random(some.shape) < 0.2
    children = np.where(snapped & which, rng.integers(0, 3, some.shape) / 2, children)
    equal = rng.random((count, 1)) < EQUALISED
    children = np.where(equal, _equalise(known, children, rng), children)
    return np.where(rng.random((count, 1)) < FRESH, rng.random(children.shape), children)
