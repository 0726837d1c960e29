"""What Figures 9 and 10 say of a loss along a direction and its second-order Taylor polynomial.

That the polynomial is good "extremely close to zero" is hardly more than Taylor's theorem, and how
close is ours: no lambda is in print. It is no claim of the paper here, but a check of the runs.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.theorems.overtraining import _language_study as study
from theorysim.theorems.overtraining._language_along import LAMBDAS

# The paper has three models, those of its largest budgets.
MODELS = 3

# "Well-approximated" is to a tenth of the quadratic term, "substantially higher" is by more.
TENTH = 0.1

SMALLEST, LARGEST = 0, len(LAMBDAS) - 1

# L - T_2 in units of the quadratic term of T_2.
Above: TypeAlias = Callable[[claims.Run], Float[Array, "run lambda budget"]]


def _both(above: Above, small: int, large: int):
    def at(place: int) -> Callable[[claims.Run], Float[Array, "run budget"]]:
        return lambda r: above(r)[:, place, -MODELS:]

    return (
        claims.on_average(
            "left: well approximated where lambda is small",
            lambda r: jnp.abs(at(small)(r)),
            lambda r: TENTH,
            statement="|L - T_2| < 1/10 of the quadratic term of T_2 at lambda = 2^-16",
            printed=False,
        ),
        claims.on_average(
            "right: substantially higher where lambda is large",
            lambda r: TENTH,
            at(large),
            statement="L - T_2 > 1/10 of the quadratic term of T_2 at lambda = 1",
        ),
    )


def setting(above: Above) -> dict[str, Any]:
    """What an experiment on such a loss claims, and its nulls."""
    return {
        **study.SETTING,
        "claims": _both(above, SMALLEST, LARGEST),
        "mutants": (
            claims.Mutant(
                "the curvature is that before training",
                simulate=study.untrained_curvature,
                breaks=("left: well approximated where lambda is small",),
            ),
            claims.Mutant(
                "good where lambda is large, too low where it is small",
                claims=_both(above, LARGEST, SMALLEST),
            ),
        ),
    }
