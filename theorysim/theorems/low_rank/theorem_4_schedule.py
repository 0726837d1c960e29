"""The numbers of steps of Theorems 4 and 6 as their own step sizes and alphas make them.

Dayi and Chen (2024), xi = 1. Theorem 4: T = ceil(alpha lambda_max^4 d k^2) = O~(lambda_max^4 /
(lambda_min^4 gamma^2) d k^3 / epsilon^4), times k where mu_1 = 0. The printed alpha and delta make
it of order k^2 and k^3, a factor k less: the O~ stands as the bound that it is. Theorem 6 and
Theorem 2 have d k^3 / epsilon^4 and eta of order epsilon^3 / (d k^(5/2)), which their alpha and
delta give. Logarithms are divided out. `theorem-4` and `theorem-6` measure the steps.
"""

from functools import partial

from theorysim import claims
from theorysim.theorems.low_rank._schedule import (
    Order,
    rate_scales,
    schedule_space,
    steps_scale,
)


def _variance(x: claims.Instance):
    """V, but for lambda_max."""
    return x.k**2


ODD = Order(lambda x: x.gamma * x.least**2, _variance)  # mu_1 != 0
EVEN = Order(lambda x: x.gamma * x.least**2 * x.k**-0.5, _variance)  # mu_1 = 0, and Theorem 6


def _over_k(odd: float, even: float, relation: str):
    over_k = partial(steps_scale, relation=relation)
    return (
        over_k("T over k, mu_1 != 0", ODD, odd),
        over_k("T over k, mu_1 = 0", EVEN, even),
    )


def _others(order: Order, d: float = 1.0, epsilon: float = -4.0, gamma: float = -2.0):
    return (
        steps_scale("T over d", order, d, over="dimension"),
        steps_scale("T over epsilon", order, epsilon, over="epsilon"),
        steps_scale("T over gamma", order, gamma, over="gamma"),
    )


def _separated(steps: float = 3.0, rate: float = 2.5):
    return (
        steps_scale("T over k", EVEN, steps),
        rate_scales("1/eta over k", EVEN, rate),
    )


theorem = claims.Theorem(
    space=schedule_space(),
    simulate=lambda x, key: x.k,
    claims=(*_over_k(3, 4, "at_most"), *_others(ODD)),
    printed="Theorem 4",
    source=claims.Printed(
        "Theorem 4, Section 2.2.1",
        "T = ceil(alpha lambda_max^4 d k^2) = O~(lambda_max^4 / (lambda_min^4 gamma^2) d k^3 / "
        "epsilon^4), times k if mu_1 = 0",
    ),
    readings=(
        claims.Reading(
            "what alpha and delta give",
            claims.Finding("the order of Theorem 4's T"),
            claims=_over_k(2, 3, "equal"),
            note="alpha and delta as printed give k^2 and k^3, a factor k below the printed bound",
        ),
        claims.Reading(
            "Theorems 2 and 6",
            claims.Printed(
                "Theorem 2, Section 1.2.3, and Theorem 6, Section 2.2.2",
                "eta = Theta~(epsilon^3 / (d k^(5/2))), T = Theta~(d k^3 / epsilon^4)",
            ),
            claims=(*_separated(), *_others(EVEN)),
        ),
    ),
    mutants=(
        claims.Mutant(
            "k and k^2; d^2, epsilon^-3, 1/gamma",
            claims=(*_over_k(1, 2, "at_most"), *_others(ODD, 2.0, -3.0, -1.0)),
        ),
        claims.Mutant(
            "k^4 and 1/eta of k^3; d^2, epsilon^-3, 1/gamma",
            of=("Theorems 2 and 6",),
            claims=(*_separated(4.0, 3.0), *_others(EVEN, 2.0, -3.0, -1.0)),
        ),
    ),
    instances=4,
)
