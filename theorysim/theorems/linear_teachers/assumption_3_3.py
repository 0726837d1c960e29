"""Zero train loss: fine-tuning converges to a model that fits its samples.

Assumption 3.3 of Shachaf et al. (2021), and the text below it: gradient descent of linear
regression meets it, and so do deep linear networks, here of three 0-balanced layers under gradient
flow. Theorem 5.5 takes over "the setting of Theorem 5.2" with it, for networks whose first layers
are frozen. These can only rescale theta_S, and fit y only where it is a multiple of X theta_S: with
two samples or more no generic target is.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.systems import linear_regression as regression
from theorysim.theorems.linear_teachers import _deep as deep
from theorysim.theorems.linear_teachers import _problem as problem

DEPTH, STEPS = 3, 2000


def share_left(x: claims.Instance, key) -> Float[Array, ""]:
    """Share of the loss that is left by gradient flow of three balanced layers."""
    start = {DEPTH: deep.balanced(x, key, DEPTH, problem.source(x))}
    path = deep.flows(start, problem.data(x), problem.labels(x), x.tolerance_scale)[DEPTH]
    return deep.VANISHED - deep.observed(path, problem.data(x), problem.labels(x)).vanished


def _left_by_descent(rate_share: Callable) -> Callable:
    """Share of the loss that is left by gradient descent of one layer."""

    def simulate(x: claims.Instance, key) -> Float[Array, ""]:
        rate = rate_share(x) * regression.largest_learning_rate(problem.data(x))
        path = regression.train(
            problem.data(x), problem.labels(x), problem.source(x), rate, STEPS, every=STEPS
        )
        before, after = (
            jnp.sum(jnp.square(problem.outputs(x, w) - problem.labels(x))) for w in path
        )
        return after / before

    return simulate


def least_frozen_share(x: claims.Instance, labels: Callable = problem.labels) -> Float[Array, ""]:
    """Share of ||y||^2 that is left by c X theta_S for the best c >= 0: all that frozen layers fit.

    With two trained layers or more, which start at c = 1, c does not change its sign.
    """
    fitted, wanted = problem.outputs(x, problem.source(x)), labels(x)
    scale = jnp.maximum(jnp.vdot(fitted, wanted) / jnp.vdot(fitted, fitted), 0)
    return jnp.sum(jnp.square(scale * fitted - wanted)) / jnp.sum(jnp.square(wanted))


ZERO_TRAIN_LOSS = claims.Assumption(
    "Assumption 3.3",
    claims.Printed("Section 3, Assumption 3.3", "The fine-tuning converges, lim L(Theta(t)) = 0"),
    # The loss along balanced flow does not depend on the hidden directions that the key draws.
    {"lim L(Theta(t)) = 0": lambda x: deep.VANISHED - share_left(x, jax.random.key(0))},
)


def zero_frozen_loss(labels: Callable = problem.labels) -> claims.Assumption:
    """Zero train loss on these labels with the first layers frozen."""
    return claims.Assumption(
        "Assumption 3.3, first layers frozen",
        claims.Printed("Section 5.2, Theorem 5.5", "Assume the setting of Theorem 5.2"),
        {"y is a multiple of X theta_S": lambda x: deep.VANISHED - least_frozen_share(x, labels)},
    )


ZERO_FROZEN_LOSS = zero_frozen_loss()


def _vanishes(name: str):
    return claims.at_most(name, lambda r: r.sim, lambda r: deep.VANISHED)


DEEP, ONE_LAYER = "L(Theta(t)) vanishes, L = 3", "L(Theta(t)) vanishes, L = 1"

theorem = claims.Theorem(
    space=problem.problem_space(rate_share=claims.Real(0.1, 0.95)),
    simulate=share_left,
    claims=(*ZERO_TRAIN_LOSS.can_be_met(), _vanishes(DEEP)),
    source=claims.Printed(
        "Section 3, Assumption 3.3 and the text below it",
        "lim L(Theta(t)) = 0; for deep linear networks, under suitable initialization a global "
        "optimum can be reached, and thus Assumption 3.3 holds for this framework as well",
    ),
    readings=(
        claims.Reading(
            "linear regression",
            claims.Printed(
                "Section 3, below Assumption 3.3",
                "when f is standard linear regression, arbitrarily small train loss can be "
                "obtained via gradient descent",
            ),
            simulate=_left_by_descent(lambda x: x.rate_share),
            claims=(_vanishes(ONE_LAYER),),
        ),
        claims.Reading(
            "first layers frozen",
            ZERO_FROZEN_LOSS.source,
            claims=ZERO_FROZEN_LOSS.can_be_met(),
            note="frozen layers fit two samples or more only where y is a multiple of X theta_S",
        ),
    ),
    mutants=(
        claims.Mutant("the first layer frozen", simulate=lambda x, key: least_frozen_share(x)),
        claims.Mutant(
            "at the stability limit of the learning rate",
            of=("linear regression",),
            simulate=_left_by_descent(lambda x: 1.0),
        ),
    ),
    survivors={
        name: "a witness either exists or not: draws cannot refute existence"
        for name in (claim.name for claim in ZERO_TRAIN_LOSS.can_be_met())
    },
    instances=16,
    mutant_instances=16,
    integrates=True,
)
