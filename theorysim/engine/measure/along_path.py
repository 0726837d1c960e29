"""What points of a path err by, from how far each of them moves."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Shaped

from theorysim.claims.evidence import EQUALITY_RESOLUTION

# Numbers are rounded to multiples of the least one, not to parts of their own, below this.
UNDERFLOW = float(np.finfo(np.float64).tiny / np.finfo(np.float64).eps)


def at_points(
    distance: Shaped[np.ndarray, "rows columns"], scale: Shaped[np.ndarray, "rows columns"]
) -> Float[np.ndarray, "rows columns"]:
    """The errors along paths, a row each, of points that move by a distance; their sides' size.

    It is the largest distance along the path, since that of one point may be small by luck. Where
    that would hide a thousandth of the sides, as beside numbers 1e16 times as large, it is the
    point's own, or the largest *part* of their sides by which points move, if that is more. Points
    that move by more than a thousandth of theirs, as where these cancel, tell of no other's part.
    """
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        largest = np.max(distance, axis=1, keepdims=True, initial=0.0)
        parts = np.where(distance > 0, distance / scale, 0.0)
        fine = np.where(parts <= EQUALITY_RESOLUTION, parts, 0.0)
        own = np.maximum(distance, np.max(fine, axis=1, keepdims=True, initial=0.0) * scale)
        hides = (largest > EQUALITY_RESOLUTION * scale) & np.isfinite(largest)
        return np.where(hides, np.minimum(largest, own + UNDERFLOW), largest)
