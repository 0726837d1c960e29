"""What points of a path err by, from the largest error along it."""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Float, Shaped

from theorysim.claims.evidence import EQUALITY_RESOLUTION

# Numbers are rounded to multiples of the least one, not to parts of their own, below this.
UNDERFLOW = float(np.finfo(np.float64).tiny / np.finfo(np.float64).eps)


def at_points(
    largest: Shaped[Any, "..."], part: Shaped[Any, "..."], scale: Shaped[Any, "..."]
) -> Float[np.ndarray, "..."]:
    """The error of every point, whose sides have the size `scale`.

    It is the largest along the path, since that of one point may be small by luck. Where that would
    hide a thousandth of the sides, as beside numbers 1e16 times as large, it is the largest `part`
    of the sides along the path, if it is less.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        hides = (largest > EQUALITY_RESOLUTION * scale) & np.isfinite(part)
        return np.where(hides, np.minimum(largest, part * scale + UNDERFLOW), largest)
