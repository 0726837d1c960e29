"""Whether a condition is met by more than rounding, as it is seen in Monte Carlo arithmetic."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from jaxtyping import Bool, Float

from theorysim.claims.margins import Margin, is_met, is_strict

# Margins that are larger than so many times the distance of their lanes, and than such a part of
# the largest one beside them, need not be computed once more.
FAR, PART = 16, 1e-3


def with_unmoved(
    moved: Float[np.ndarray, "rows lanes points"],
    unmoved: Callable[[], Float[np.ndarray, "rows points"]],
) -> Float[np.ndarray, "rows lanes+1 points"]:
    """Margins in all lanes, with the unmoved ones as a lane before them, where it could tell."""
    with np.errstate(invalid="ignore", over="ignore"):
        least, apart = moved.min(axis=1), np.ptp(moved, axis=1)
        largest = np.max(np.abs(moved), initial=0.0, where=np.isfinite(moved))
        far = (least == np.inf) | ((least > FAR * apart) & (least > PART * largest))
    first = moved[:, 0] if far.all() else unmoved()
    return np.concatenate([first[:, None], moved], axis=1)


def is_clearly_met(
    margin: Margin,
    values: Float[np.ndarray, "*rows lanes points"],
    equalities: bool | Bool[np.ndarray, "*rows points"],
) -> Bool[np.ndarray, "*rows points"]:
    """At which points all lanes meet a condition, by more than they are apart.

    The distance of |a - b|, of an a that is b, from 0 is rounding, whatever lane it is seen in.
    At points of `equalities`, a condition that is not strict is also met where its unmoved margin
    is exactly 0: it may hold so by the way it is written, as 1 - r^k >= 0 does at k = 0.
    """
    with np.errstate(invalid="ignore"):
        least, apart = values.min(axis=-2), np.ptp(values, axis=-2)
        clear = (least == np.inf) | (is_met(margin, least) & is_met(margin, least - apart))
    return clear if is_strict(margin) else clear | (equalities & (values[..., 0, :] == 0))
