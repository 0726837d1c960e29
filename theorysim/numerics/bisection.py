"""Roots of monotone functions between known ends."""

from __future__ import annotations

from collections.abc import Callable

import optimistix as optx
from jaxtyping import Array, Float

# Far below what any statement asks of a root, and far above rounding: 40 halvings of an interval
# that is as wide as the root is large.
TOLERANCE = 1e-12


def falling_root(
    function: Callable[[Array], Array],
    lower: Float[Array, ""],
    upper: Float[Array, ""],
    start: Float[Array, ""],
) -> Float[Array, ""]:
    """Where a function that falls from above 0 at `lower` to below 0 at `upper` is 0.

    To a relative error of TOLERANCE, from `start` between the ends. Nothing is raised where the
    function does not change its sign between them: what is returned has no meaning then.
    """
    solver = optx.Bisection(rtol=TOLERANCE, atol=0.0, flip=True)
    ends = {"lower": lower, "upper": upper}
    return optx.root_find(lambda t, _: function(t), solver, start, options=ends, throw=False).value
