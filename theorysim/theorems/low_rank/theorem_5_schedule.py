"""The number of steps of Theorem 5 as its own step size and alpha make it.

Theorem 5 of Dayi and Chen (2024), xi = xi_bar sqrt(k), orthogonal features: T = ceil(alpha
lambda_max^4 xi_bar^2 d k^4) = O~(lambda_max^4 / (lambda_min^4 gamma^2 xi_bar^2) d k^4 / epsilon^4),
divided by k where mu_1 != 0. While delta < 1 the printed alpha and delta make it of order k^2 and
k^3, a factor k less: the O~ stands as the bound that it is, the Theta~ of Theorem 1 does not.
`theorem-5` measures the steps.
"""

from functools import partial

import jax.numpy as jnp

from theorysim import claims

RUNGS = (8.0, 32.0, 128.0, 512.0)


def _steps(x: claims.Instance, faster):
    """alpha k^4 with lambda, xi_bar and logarithms 1; `faster` is sqrt(k) where mu_1 != 0, else 1.

    delta = min(small sqrt(k) faster, 1), small = C_delta gamma epsilon^3, and alpha = epsilon^2 /
    (small sqrt(k) delta faster) up to constants.
    """
    delta = jnp.minimum(x.small * x.k**0.5 * faster, 1)
    return x.k**4 / (x.k**0.5 * delta * faster)


def _claims(odd: float, even: float, relation: str):
    """T over k, where mu_1 != 0 and where mu_1 = 0."""
    over_k = partial(claims.scales_as, over={"k": RUNGS}, relation=relation)
    return (
        over_k("T over k, mu_1 != 0", lambda r: _steps(r.x, r.x.k**0.5), exponent=odd),
        over_k("T over k, mu_1 = 0", lambda r: _steps(r.x, 1.0), exponent=even),
    )


theorem = claims.Theorem(
    space=claims.Space(k=claims.Real(4, 1024, log=True), small=claims.Real(1e-6, 1e-3, log=True)),
    simulate=lambda x, key: x.k,
    claims=_claims(3, 4, "at_most"),
    printed="O~ as a bound",
    source=claims.Printed(
        "Theorem 5, Section 2.2.1", "T = O~(... d k^4 / epsilon^4), over k if mu_1 != 0"
    ),
    readings=(
        claims.Reading(
            "Theorem 1",
            claims.Printed("Theorem 1, Section 1.2.3", "T = Theta~(d k^4 / epsilon^4)"),
            claims=_claims(4, 4, "equal"),
            note="alpha and delta as printed give k^2 and k^3, where the Theta~ has k^4",
        ),
        claims.Reading(
            "corrected",
            claims.Corrected("Theta~(d k^2) if mu_1 != 0, Theta~(d k^3) otherwise"),
            claims=_claims(2, 3, "equal"),
            note="while delta < 1 the printed alpha and delta give k^2, and k^3 where mu_1 = 0",
        ),
    ),
    mutants=(claims.Mutant("k and k^2, of two factors k fewer", claims=_claims(1, 2, "at_most")),),
    instances=4,
)
