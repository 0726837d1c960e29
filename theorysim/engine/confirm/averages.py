"""What averages are made of where results are rounded otherwise."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from jaxtyping import Bool, Float

from theorysim.claims.evidence import Measurement
from theorysim.claims.instance import Instance, size_items
from theorysim.claims.kinds import OnAverage
from theorysim.engine.confirm.other_roundings import MOST_OPERATIONS, sides_of_rows
from theorysim.engine.confirm.suspect import Case
from theorysim.engine.confirm.traced import traced
from theorysim.engine.measure.errors import ROUNDING_SAFETY
from theorysim.jaxprs.directions import LANES

# Nine means of as many runs, nearly normal ones, are so many standard errors apart with a chance of
# 5e-7. Runs with heavy tails are so more often, and left open.
CHANCE = 8


def averages_in_lanes(
    case: Case[OnAverage], own: Measurement, instances: Instance, keys: np.ndarray
) -> list[Measurement]:
    """The measurement in every lane, where the claim speaks; none of too large a program."""
    if traced(case, size_items(instances)).operations > MOST_OPERATIONS:
        return []
    found, speaks = sides_of_rows(case, own, instances, keys)
    met = own.applies & speaks.reshape(own.lhs.shape)

    def at(lane: int) -> Measurement:
        lhs, rhs = (side[:, lane].reshape(own.lhs.shape) for side in found[:2])
        return replace(own, lhs=lhs, rhs=rhs, applies=met)

    return [at(lane) for lane in range(LANES)]


def is_moved_by_rounding(
    lanes: list[Measurement], own: Measurement
) -> Bool[np.ndarray, "rows points"]:
    """Which mean differences of sides are rounding: lanes are apart by more than keys explain.

    Chaos makes another run of every key, whose mean is one of as many keys more. What is the same
    for all keys, or nearly, is not averaged by them.
    """
    rooms = _rooms([own, *lanes])
    with np.errstate(invalid="ignore"):
        means = rooms.mean(axis=2)
        apart = np.ptp(means, axis=0)
        by_keys = np.sqrt(rooms.var(axis=2, ddof=1).mean(axis=0) / rooms.shape[2])
        moved = (apart > CHANCE * by_keys) & (np.abs(means[0]) < ROUNDING_SAFETY * apart)
    return moved & np.asarray(lanes[0].applies).reshape(rooms.shape[1:]).all(axis=1)


def least_favourable(lanes: list[Measurement], holds: bool) -> Measurement:
    """Of every point the lane that speaks most against what was found."""
    rooms = _rooms(lanes).mean(axis=2)
    rooms = np.where(np.isnan(rooms), -np.inf if holds else np.inf, rooms)
    choice = rooms.argmin(axis=0) if holds else rooms.argmax(axis=0)

    def chosen(name: str) -> np.ndarray:
        sides = np.stack([np.asarray(getattr(lane, name)) for lane in lanes])
        flat = sides.reshape(*sides.shape[:3], -1)
        return np.take_along_axis(flat, choice[None, :, None, :], axis=0).reshape(sides.shape[1:])

    return replace(lanes[0], lhs=chosen("lhs"), rhs=chosen("rhs"))


def _rooms(several: list[Measurement]) -> Float[np.ndarray, "lanes rows keys points"]:
    """By how much the right sides of averages exceed the left ones, key by key."""
    with np.errstate(invalid="ignore"):
        rooms = np.stack([np.asarray(one.rhs) - np.asarray(one.lhs) for one in several])
    return rooms.reshape(*rooms.shape[:3], -1)
