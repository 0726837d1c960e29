"""A step of the selective scheme can raise the loss, though its condition is met as printed.

Commentary to Theorem 1 of Afzal et al. (2025): under the selective scheme "a non-increasing
||f - y*||^2 is guaranteed at step t", of any model. Here is one of a single parameter whose loss
has a top between the target's two sides, f(theta_0 + delta) = 2 delta - delta^2 and y = -depth.
From a point beyond the top descent leaves it behind, a strong pull crosses it, and both choices
meet their own condition: the pulled one, at which the loss has risen where it is the closer one to
the top. The print says nothing of which of two to take; the one that is pulled has met what is
asked of it. Where one choice alone meets its condition, no step in this family raises the loss. The
point before the step is any, as theta_{t-1} is in print, with no run from theta_0 to it
(theorem-1-steps has such runs, in valleys where no two choices do).
"""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from theorysim import claims
from theorysim.systems.fine_tuning import Loss, Scheme, regularised_step, squared_loss


class Stepped(NamedTuple):
    """The loss before and after a step, and how many choices meet their own condition."""

    before: Float[Array, ""]
    after: Float[Array, ""]
    consistent: Float[Array, ""]


def _loss(x: claims.Instance) -> Loss:
    """(f - y)^2, of the distance from theta_0."""
    return squared_loss(lambda delta: 2 * delta - delta**2, -x.depth)


def _rate(x: claims.Instance) -> Float[Array, ""]:
    """A share of 1 / (lambda + M); M >= |R''|, which is least 4 + 4 depth, for delta in [0, 2]."""
    return x.share / (x.strength + 12 + 4 * x.depth)


def _step(x: claims.Instance, scheme: Scheme) -> Stepped:
    loss = _loss(x)
    step = regularised_step(loss, jnp.zeros(()), x.before, _rate(x), x.strength, scheme)
    return Stepped(loss(x.before), loss(step.params), step.consistent)


def simulate(x: claims.Instance, key: PRNGKeyArray) -> Stepped:
    return _step(x, "printed")


def _always(x: claims.Instance, key: PRNGKeyArray) -> Stepped:
    return _step(x, "always")


ADMISSIBLE = claims.at_most(
    "||f_t - y||^2 after a step",
    lambda r: r.sim.after,
    lambda r: r.sim.before,
    where=lambda r: r.sim.consistent - 0.5,
)
ALONE = claims.at_most(
    ADMISSIBLE.name,
    ADMISSIBLE.lhs,
    ADMISSIBLE.rhs,
    where=lambda r: 0.5 - jnp.abs(r.sim.consistent - 1),
)

theorem = claims.Theorem(
    space=claims.Space(
        before=claims.Real(0, 2),
        depth=claims.Real(0.01, 10, log=True),
        strength=claims.Real(0.1, 1000, log=True),
        share=claims.Real(0.01, 1, log=True),
    ),
    simulate=simulate,
    claims=(ADMISSIBLE,),
    source=claims.Printed(
        "slides, Section 3, below Theorem 1",
        "The selective regularization scheme: a non-increasing ||f_t(x*) - y*||^2 is guaranteed "
        "at step t",
    ),
    note="a pull over a top of the loss meets its condition there, and can end higher",
    readings=(
        claims.Reading(
            "where one choice alone is consistent",
            claims.Corrected("in this family: a step whose condition excludes the other choice"),
            claims=(ALONE,),
            primary=True,
        ),
    ),
    mutants=(
        claims.Mutant("always pulled", simulate=_always),
        claims.Mutant("the loss rises", claims=(ALONE.reversed(),)),
    ),
)
