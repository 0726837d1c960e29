"""A scene at a grid of its sliders' values, for a page, and how far it may be interpolated.

Curves are interpolated linearly between the grid's values; along sliders and axes that are
logarithmic, in logarithms. A mark stands where the nearest of the grid's values has it, on the
curve that it is a mark of. A slider along which a curve would be drawn more than TOLERANCE of its
axes beside its place stops at the grid's values only.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import prod

import jax
import numpy as np
from jaxtyping import Float

from theorysim.scenes.scene import Panel, Role, Scene, Slider

# A page holds at most so many combinations of sliders' values, and so many numbers.
NODES, NUMBERS = 1500, 60_000
DIGITS = 5
# The share of an axis that interpolated curves may be off: nine pixels of 300.
TOLERANCE = 0.03
# Values of one slider are chosen from so many, and so many suffice or it has none between them.
PROBES, MOST = 33, 16
# So many places between grid values are compared with the kernel: along each slider, and of all.
COMPARED = 60

Points = tuple[np.ndarray, np.ndarray]  # x and y


@dataclass(frozen=True)
class Table:
    """One coordinate of one curve at all nodes of the grid.

    Attributes:
        rows: by node, in the order of `itertools.product`; a single row if they are all the same.
        log: whether it is interpolated in logarithms.
        jumps: whether it is of a mark, which is taken from the nearest node.
    """

    rows: Float[np.ndarray, "nodes points"]
    log: bool
    jumps: bool

    def at(self, nodes: Sequence[int], weights: Sequence[float]) -> Float[np.ndarray, " points"]:
        """The weighted mean of nodes, or the nearest one."""
        if len(self.rows) == 1:
            return self.rows[0]
        rows, shares = self.rows[list(nodes)], np.asarray(weights)
        if self.jumps:
            return rows[shares.argmax()]
        return np.exp(shares @ _log(rows)) if self.log else shares @ rows


@dataclass(frozen=True)
class Track:
    """A slider in a page: its precomputed values, and whether it also stops between them."""

    slider: Slider
    values: Float[np.ndarray, " values"]
    between: bool = True

    def neighbours(self, value: float) -> list[tuple[int, float]]:
        """The values around this one, each with its weight; a single one if it is precomputed."""
        right = int(np.clip(np.searchsorted(self.values, value), 1, len(self.values) - 1))
        ends = self.values[[right - 1, right]]
        low, high, here = np.log([*ends, value]) if self.slider.log else (*ends, value)
        share = (here - low) / (high - low)
        both = [(right - 1, 1 - share), (right, share)]
        return [(index, weight) for index, weight in both if weight]

    def midpoints(self) -> Float[np.ndarray, " cells"]:
        """The middle of every cell, as the slider goes."""
        low, high = self.values[:-1], self.values[1:]
        return np.sqrt(low * high) if self.slider.log else (low + high) / 2


@dataclass(frozen=True)
class Grid:
    """A precomputed scene.

    Attributes:
        tracks: by the names of sliders.
        panels: at the defaults of all sliders.
        tables: of x and y of every series of every panel.
        compared: at how many places between grid values the kernel was asked.
        error: the largest error of interpolation there, as a share of an axis.
    """

    tracks: Mapping[str, Track]
    panels: Sequence[Panel]
    tables: Sequence[Sequence[tuple[Table, Table]]]
    compared: int = 0
    error: float = 0.0

    @property
    def nodes(self) -> list[dict[str, float]]:
        """The values of all sliders at every node."""
        products = itertools.product(*(track.values.tolist() for track in self.tracks.values()))
        return [dict(zip(self.tracks, values)) for values in products]

    def drawn(self, values: Mapping[str, float]) -> list[list[Points]]:
        """What the page draws at these values: of every panel every series."""
        shape = [len(track.values) for track in self.tracks.values()]
        sides = [track.neighbours(values[name]) for name, track in self.tracks.items()]
        corners = list(itertools.product(*sides))
        nodes = [int(np.ravel_multi_index([i for i, _ in c], shape)) for c in corners]
        weights = [prod(weight for _, weight in corner) for corner in corners]
        return [
            _on_curves(panel, [(x.at(nodes, weights), y.at(nodes, weights)) for x, y in pairs])
            for panel, pairs in zip(self.panels, self.tables)
        ]


def _on_curves(panel: Panel, points: Sequence[Points]) -> list[Points]:
    """Marks are moved up or down to the nearest point of a curve at the same place."""
    marks = [series.role is Role.MARK for series in panel.series]
    places, heights = (
        np.concatenate([p[i] for p, is_mark in zip(points, marks) if not is_mark]) for i in (0, 1)
    )

    def lifted(x: float, y: float) -> float:
        there = heights[(places == x) & np.isfinite(heights)]
        return there[np.abs(there - y).argmin()] if len(there) and np.isfinite(y) else y

    return [
        (x, np.array([lifted(*point) for point in zip(x, y)])) if is_mark else (x, y)
        for (x, y), is_mark in zip(points, marks)
    ]


def precompute(scene: Scene) -> Grid:
    """The scene at all combinations of its sliders' values, with the error between them."""
    with jax.enable_x64(True):
        scene = replace(scene, panels=_remembered(scene))
        start = scene.panels(scene.defaults())
        most = min(NODES, NUMBERS // sum(s.y.size for p in start for s in p.series))
        placed = {name: _placed(scene, name) for name in scene.sliders}
        while True:
            grid = _grid(_tracks(scene.sliders, placed, most), start, scene.panels)
            missed = {n: _error(scene, grid, _along(grid, n)) for n in placed if placed[n]}
            worst = max(missed, key=lambda name: missed[name], default="")
            if not worst or missed[worst] <= TOLERANCE:
                break
            placed[worst] = ()
        places = _between(grid)
        return replace(grid, compared=len(places), error=_error(scene, grid, places))


def _remembered(scene: Scene) -> Callable[[Mapping[str, float]], Sequence[Panel]]:
    known = cache(lambda *values: scene.panels(dict(zip(scene.sliders, values))))
    return lambda values: known(*(float(values[name]) for name in scene.sliders))


def _grid(
    tracks: Mapping[str, Track], start: Sequence[Panel], panels: Callable[..., Sequence[Panel]]
) -> Grid:
    empty = Grid(tracks, start, ())
    return replace(empty, tables=_tables([panels(values) for values in empty.nodes]))


def _tracks(
    sliders: Mapping[str, Slider], placed: Mapping[str, Sequence[float]], most: int
) -> dict[str, Track]:
    """Values of every slider: as many as its curves need, or as there may be nodes."""
    many = {name: len(placed[name]) or _stops(slider) for name, slider in sliders.items()}
    while prod(many.values()) > most:
        many[max(many, key=lambda name: many[name])] -= 1
    return {
        name: Track(slider, np.sort(placed[name][: many[name]]))
        if placed[name]
        else Track(slider, _evenly(slider, many[name]), between=False)
        for name, slider in sliders.items()
    }


def _stops(slider: Slider) -> int:
    """At how many values a slider stops that has none between: all if they are whole numbers."""
    grid = slider.grid()
    return len(grid) if (grid == np.round(grid)).all() else 2 * len(grid) - 1


def _placed(scene: Scene, name: str) -> Sequence[float]:
    """Values of one slider, the most needed ones first; none if no few of them suffice.

    The ends and the default; then, again and again, where the curves between them are most off.
    """
    slider = scene.sliders[name]
    probes = np.sort(np.append(_evenly(slider, PROBES), slider.default))
    others = _others(scene)
    placed = list(dict.fromkeys([slider.low, slider.high, slider.default]))

    def misses(places: np.ndarray) -> np.ndarray:
        """The largest error at each place, for any choice of the other sliders."""
        track = {name: Track(slider, np.sort(placed))}
        found = []
        for rest in others:

            def panels(values: Mapping[str, float], rest: dict = rest) -> Sequence[Panel]:
                return scene.panels({**rest, **values})

            grid = _grid(track, panels({name: slider.default}), panels)
            found.append([_missed(panels({name: p}), grid, {name: p}) for p in places.tolist()])
        return np.max(found, axis=0)

    while len(placed) <= MOST:
        missed = misses(probes)
        if missed.max() <= TOLERANCE / 2:
            halves = Track(slider, np.sort(placed)).midpoints()
            return placed if misses(halves).max() <= TOLERANCE else ()
        worst = float(probes[missed.argmax()])
        if worst in placed:  # what is rounded to DIGITS is too coarse for its axis
            return ()
        placed.append(worst)
    return ()


def _others(scene: Scene) -> list[dict[str, float]]:
    """The sliders at their defaults, all low, all high, and in two random places."""
    names, rng = list(scene.sliders), np.random.default_rng(0)
    ends = [{n: getattr(scene.sliders[n], end) for n in names} for end in ("low", "high")]
    inside = [
        {n: float(rng.choice(_evenly(scene.sliders[n], PROBES))) for n in names} for _ in range(2)
    ]
    return [scene.defaults(), *ends, *inside]


def _evenly(slider: Slider, steps: int) -> Float[np.ndarray, " values"]:
    """So many values at equal distances; the default takes the place of the nearest inner one."""
    grid = replace(slider, steps=steps).grid()
    grid[[0, -1]] = slider.low, slider.high  # geomspace rounds
    if slider.default not in grid:
        grid[1 + np.abs(grid[1:-1] - slider.default).argmin()] = slider.default
    return grid


def _tables(nodes: Sequence[Sequence[Panel]]) -> list[list[tuple[Table, Table]]]:
    def table(p: int, s: int, axis: str, log: bool) -> Table:
        rows = np.array([getattr(node[p].series[s], axis) for node in nodes], float)
        return _table(rows, log, nodes[0][p].series[s].role is Role.MARK)

    return [
        [
            (table(p, s, "x", panel.log_x), table(p, s, "y", panel.log_y))
            for s in range(len(panel.series))
        ]
        for p, panel in enumerate(nodes[0])
    ]


def _table(rows: np.ndarray, log: bool, is_mark: bool) -> Table:
    """Rounded to DIGITS."""
    with np.errstate(divide="ignore", invalid="ignore"):
        power = np.nan_to_num(np.floor(np.log10(np.abs(rows))), neginf=0.0)
    unit = 10.0 ** (power - DIGITS + 1)
    rounded = np.round(rows / unit) * unit
    same = np.array_equal(rounded, np.broadcast_to(rounded[0], rounded.shape), equal_nan=True)
    return Table(rounded[:1] if same else rounded, log, is_mark)


def _log(values: np.ndarray) -> np.ndarray:
    """Logarithms; NaN of what a logarithmic axis does not show."""
    return np.log(np.where(values > 0, values, np.nan))


def _along(grid: Grid, name: str) -> list[dict[str, float]]:
    """Midpoints along one slider, the others at precomputed values."""
    choices = {
        other: track.midpoints() if other == name else track.values
        for other, track in grid.tracks.items()
    }
    return _some(choices)


def _between(grid: Grid) -> list[dict[str, float]]:
    """Midpoints along all sliders that stop between their precomputed values."""
    if not any(track.between for track in grid.tracks.values()):
        return []
    return _some(
        {
            name: track.midpoints() if track.between else track.values
            for name, track in grid.tracks.items()
        }
    )


def _some(choices: Mapping[str, np.ndarray]) -> list[dict[str, float]]:
    """All combinations, or COMPARED of them."""
    every = [dict(zip(choices, values)) for values in itertools.product(*choices.values())]
    if len(every) <= COMPARED:
        return every
    chosen = np.random.default_rng(0).choice(len(every), COMPARED, replace=False)
    return [every[index] for index in sorted(chosen)]


def _error(scene: Scene, grid: Grid, places: Sequence[Mapping[str, float]]) -> float:
    """The largest distance of what is drawn from what the kernel gives, as a share of an axis."""
    return max((_missed(scene.panels(values), grid, values) for values in places), default=0.0)


def _missed(panels: Sequence[Panel], grid: Grid, values: Mapping[str, float]) -> float:
    drawn = zip(panels, grid.panels, grid.drawn(values))
    return max((share for three in drawn for share in _misses(*three)), default=0.0)


def _misses(panel: Panel, start: Panel, drawn: Sequence[Points]) -> Iterator[float]:
    """By curve and coordinate: the error, where something is drawn, as a share of the axis.

    The axis spans the curves and those of the start. What is drawn where the kernel gives nothing
    is as wrong as can be.
    """
    both = [*panel.series, *start.series]
    for number, log in ((0, panel.log_x), (1, panel.log_y)):
        scaled = _log if log else np.asarray
        exact = [scaled(s.x if number == 0 else s.y) for s in both]
        finite = np.concatenate(exact)[np.isfinite(np.concatenate(exact))]
        extent = np.ptp(finite) if len(finite) else 0.0
        for series, found, true in zip(panel.series, drawn, exact):
            if series.role is Role.MARK:
                continue
            shown = np.isfinite(scaled(found[0])) & np.isfinite(scaled(found[1]))
            if shown.any() and extent:
                missed = np.abs(scaled(found[number]) - true)[shown]
                yield float(np.max(np.where(np.isnan(missed), 1.0, missed / extent)))
