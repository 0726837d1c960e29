"""Nulls without runs of their own: the claims, on results that are changed before they are seen."""

import dataclasses
from collections.abc import Callable, Iterable
from typing import Any

from theorysim import claims


def seen(several: Iterable[claims.Claim], change: Callable[[Any], Any]) -> tuple[claims.Claim, ...]:
    """The same claims on `change` of what the runs gave: arrays that lead with the axis of runs."""

    def of(side: Callable[[claims.Run], Any]) -> Callable[[claims.Run], Any]:
        return lambda r: side(dataclasses.replace(r, sim=change(r.sim)))

    return tuple(
        dataclasses.replace(claim, lhs=of(claim.lhs), rhs=of(claim.rhs)) for claim in several
    )
