"""In print errors and deviations go together, but are not proportional, and five points are few.

Table 1 and Section 3 of Liu et al. (2019): the deviation of the weights "is approximately
proportional to the generalization error". Its quotient by the error differs 31-fold over the five
targets for the last layer and 18-fold for all layers; whatever is called approximate, tenfold is
not. What is left: they are correlated (0.94 and 0.78), and a line through the origin leaves less of
the deviations than their mean. Of the 120 orders of five deviations 4 and 8 are correlated as much.
The numbers are those of the print, nothing is trained.
"""

from itertools import permutations

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.claims.kinds.average import EMPIRICAL_ALARM
from theorysim.theorems.transferability import _table_1 as table
from theorysim.theorems.transferability._digits_section_6 import about_the_mean, unexplained

ORDERS = np.array(list(permutations(range(len(table.ERRORS[0])))))


def simulate(x: claims.Instance, key) -> Float[Array, "2 targets"]:
    """The printed errors and deviations of one setting."""
    rows = jnp.array([table.ERRORS, table.DEVIATIONS])
    return jnp.where(x.setting < 0.5, rows[:, 0], rows[:, 1])


def _chance(
    errors: Float[Array, " targets"], deviations: Float[Array, " targets"]
) -> Float[Array, ""]:
    """That deviations in an order that is drawn are as correlated; their own order is one."""
    drawn = deviations[ORDERS]
    found = table.correlation(jnp.broadcast_to(errors, drawn.shape), drawn)
    own = jnp.argmax(jnp.all(jnp.asarray(ORDERS) == jnp.arange(len(errors)), axis=1))
    return jnp.mean(found >= found[own])


# Quotients that differ more are of different orders of magnitude.
ALIKE = 10.0


def _spread(r) -> Float[Array, ""]:
    """The largest quotient of deviation and error over the smallest."""
    errors, deviations = r.sim
    quotients = deviations / errors
    return jnp.max(quotients) / jnp.min(quotients)


PROPORTIONAL = claims.at_most("largest over smallest quotient", _spread, lambda r: ALIKE)
CORRELATED = claims.at_least(
    "correlation of errors and deviations", lambda r: table.correlation(*r.sim), lambda r: 0.0
)
ON_A_LINE = claims.at_most(
    "squares that a line through the origin leaves",
    lambda r: unexplained(r.sim[1], table.proportional(*r.sim)),
    lambda r: about_the_mean(r.sim[1]),
)
UNLIKELY = claims.at_most(
    "chance of as large a correlation", lambda r: _chance(*r.sim), lambda r: EMPIRICAL_ALARM
)

theorem = claims.Theorem(
    space=claims.Space(setting=claims.Choice(0.0, 1.0)),
    simulate=simulate,
    claims=(PROPORTIONAL,),
    source=claims.Printed(
        "Table 1 and Section 3",
        "(1/sqrt(n)) ||W - W_0||_F is approximately proportional to the generalization error "
        "shown in Table 1",
    ),
    note="deviation over error varies by factors of 31 and 18",
    readings=(
        claims.Reading(
            "they go together",
            claims.Corrected("correlated, and nearer to a line through the origin than a constant"),
            claims=(CORRELATED, ON_A_LINE),
            primary=True,
        ),
        claims.Reading(
            "surer than chance",
            claims.Finding("whether orders that are drawn are correlated as much"),
            claims=(UNLIKELY,),
            note="4 and 8 of 120 orders are",
        ),
    ),
    mutants=(
        claims.Mutant(
            "the contrary", claims=tuple(claim.reversed() for claim in (CORRELATED, ON_A_LINE))
        ),
        claims.Mutant(
            "the chance of a smaller correlation",
            of=("surer than chance",),
            claims=(UNLIKELY.reversed(),),
        ),
    ),
)
