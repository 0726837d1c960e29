"""In valleys the selective scheme does not raise the loss, with its condition taken as printed.

Commentary to Theorem 1 of Afzal et al. (2025): under the selective scheme "a non-increasing
||f - y*||^2 is guaranteed at step t", of any model, which is not so (theorem-1-one-step). The
theorem is about the flow; this is the descent, with steps below 1 / (lambda + smoothness), and in
one family of valleys of two parameters that turn back. The condition is printed at theta_t, the
point that it decides; where neither choice is consistent the pull is left off (selective-update).
Taken at theta_(t-1) or at the half step, as a program must, it guarantees nothing here: where the
gradient is small a pull raises the loss to second order in the step.
"""

from collections.abc import Callable

import jax
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.systems.fine_tuning import Scheme
from theorysim.theorems.linearization import _valley as valley

STEPS = 1000


def _simulate(scheme: Scheme) -> Callable:
    """The loss at the start and after every step."""

    def simulate(x: claims.Instance, key) -> Float[Array, " states"]:
        return jax.vmap(valley.loss(x))(valley.descent(x, scheme, STEPS).path)

    return simulate


FALLS = claims.decreasing("||f_t - y||^2 from step to step", lambda r: r.sim)

theorem = claims.Theorem(
    space=valley.space(),
    simulate=_simulate("printed"),
    claims=(FALLS,),
    source=claims.Finding("the printed scheme in valleys, where no two choices are consistent"),
    printed="the condition at theta_t",
    readings=(
        claims.Reading(
            "the condition at theta_(t-1)",
            claims.Finding("the condition at the point before the step"),
            simulate=_simulate("old"),
            note="a pull that lowers the loss to first order raises it to second",
        ),
        claims.Reading(
            "the condition at the half step",
            claims.Finding("the condition at the point between gradient and pull"),
            simulate=_simulate("intermediate"),
            note="as for the point before",
        ),
    ),
    mutants=(
        claims.Mutant("always pulled", simulate=_simulate("always")),
        claims.Mutant("the loss rises", claims=(FALLS.reversed(),)),
    ),
)
