"""The number of steps of Theorem 5 as its own step size and alpha make it.

Theorem 5 of Dayi and Chen (2024), xi = xi_bar sqrt(k), orthogonal features: T = ceil(alpha
lambda_max^4 xi_bar^2 d k^4) = O~(lambda_max^4 / (lambda_min^4 gamma^2 xi_bar^2) d k^4 / epsilon^4),
divided by k where mu_1 != 0. While delta < 1 the printed alpha and delta make it of order k^2 and
k^3, a factor k less: the O~ stands as the bound that it is. The Theta~ of Theorem 1, "see Theorem
5", does not follow, nor does its eta of order k^(-7/2) where mu_1 != 0. This is an inference: that
so many steps of such a size suffice is not refuted. Logarithms are divided out. `theorem-5`
measures the steps.
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
    return x.xi_bar**2 * x.k**4


def _order(power: float) -> Order:
    return Order(lambda x: x.xi_bar**2 * x.k**power * x.gamma * x.least**2, _variance)


ODD, EVEN = _order(1.0), _order(0.5)  # mu_1 != 0, mu_1 = 0


def _over_k(odd: float, even: float, relation: str):
    over_k = partial(steps_scale, relation=relation)
    return (
        over_k("T over k, mu_1 != 0", ODD, odd),
        over_k("T over k, mu_1 = 0", EVEN, even),
    )


def _rates(odd: float, even: float):
    return (
        rate_scales("1/eta over k, mu_1 != 0", ODD, odd),
        rate_scales("1/eta over k, mu_1 = 0", EVEN, even),
    )


theorem = claims.Theorem(
    space=schedule_space(),
    simulate=lambda x, key: x.k,
    claims=_over_k(3, 4, "at_most"),
    printed="O~ as a bound",
    source=claims.Printed(
        "Theorem 5, Section 2.2.1", "T = O~(... d k^4 / epsilon^4), over k if mu_1 != 0"
    ),
    readings=(
        claims.Reading(
            "inference: Theorem 1 from alpha and delta of Theorem 5",
            claims.Printed(
                "Theorem 1, Section 1.2.3, beside Theorem 5, Section 2.2.1",
                "Theorem 1 (Informal, see Theorem 5): eta = Theta~(epsilon^3 / (d k^(7/2))), T = "
                "Theta~(d k^4 / epsilon^4); Theorem 5: T = ceil(alpha lambda_max^4 xi_bar^2 d k^4)",
            ),
            claims=(*_over_k(4, 4, "equal"), *_rates(3.5, 3.5)),
            note="Theorem 1 itself, that k^4 suffices, is not refuted: while delta < 1, alpha and "
            "delta as printed give k^2 and k^3, where the Theta~ has k^4; from delta = 1 on, which "
            "k reaches for a given C_delta, k^3 and k^(7/2)",
        ),
        claims.Reading(
            "corrected",
            claims.Corrected(
                "while delta < 1: T = Theta~(d k^2), eta = Theta~(1 / (d k^3)) if mu_1 != 0; "
                "Theta~(d k^3), Theta~(1 / (d k^(7/2))) otherwise"
            ),
            claims=(*_over_k(2, 3, "equal"), *_rates(3.0, 3.5)),
            note="while delta < 1 the printed alpha and delta give k^2, and k^3 where mu_1 = 0",
        ),
    ),
    mutants=(claims.Mutant("k and k^2, of two factors k fewer", claims=_over_k(1, 2, "at_most")),),
    instances=4,
)
