"""The number of steps of Theorem 5 as its own step size and alpha make it.

Theorem 5 of Dayi and Chen (2024), xi = xi_bar sqrt(k), orthogonal features: T = ceil(alpha
lambda_max^4 xi_bar^2 d k^4) = O~(lambda_max^4 / (lambda_min^4 gamma^2 xi_bar^2) d k^4 / epsilon^4),
divided by k where mu_1 != 0. The printed alpha and delta make it of order k^2 and k^3, a factor k
less; as an upper bound the O~ stands. `theorem-5` measures the steps.
"""

from __future__ import annotations

from theorysim.claims import (
    Corrected,
    Mutant,
    Printed,
    Reading,
    Real,
    Space,
    Theorem,
    equal,
    scales_as,
)

RUNGS = (8.0, 32.0, 128.0, 512.0)


def _steps(mu_1_vanishes: bool):
    """alpha k^4 with epsilon, lambda, gamma, C_delta, xi_bar and logarithms 1."""

    def steps(k):
        faster = 1.0 if mu_1_vanishes else k**0.5
        delta = k**0.5 * faster
        return k**4 / (k**0.5 * faster * delta)

    return steps


ODD, EVEN = _steps(False), _steps(True)


def _rates(relation: str):
    """The printed O~ in k: k^3, k^4 where mu_1 = 0."""
    return tuple(
        scales_as(
            name,
            lambda r, steps=steps: steps(r.sim[0]),
            over={"k": RUNGS},
            exponent=exponent,
            relation=relation,
        )
        for name, steps, exponent in (
            ("T over k, mu_1 != 0", ODD, 3.0),
            ("T over k, mu_1 = 0", EVEN, 4.0),
        )
    )


def _exact(odd_power: int, even_power: int):
    return (
        equal("T(k), mu_1 != 0", lambda r: ODD(r.sim[0]), lambda r: r.x.k**odd_power),
        equal("T(k), mu_1 = 0", lambda r: EVEN(r.sim[0]), lambda r: r.x.k**even_power),
    )


theorem = Theorem(
    space=Space(k=Real(4, 1024, log=True)),
    simulate=lambda x, key: x.k,
    claims=_rates("equal"),
    printed="O~ as an equality",
    readings=(
        Reading(
            "corrected",
            Corrected(""),
            claims=_exact(2, 3),
            primary=True,
            note="alpha and delta as printed give k^2 and k^3: the O~ has a factor k too many",
        ),
        Reading("O~ as a bound", Printed("", ""), claims=_rates("at_most")),
    ),
    mutants=(Mutant("k and k^2", claims=_exact(1, 2)),),
    instances=4,
)
