"""The orders of the proof of Theorem 2 follow from those of their factors, with two exceptions.

Eq. 36 to 48 of Liu et al. (2019). Their factors are printed before: the movement R' of Lemma 4 and
||y_Q - u_Q(P)|| = O(n_P sqrt(n_Q) / lambda_P) (Eq. 39), Lemma 6, Eq. 9 and 23, and the series of
Eq. 41 and 44. Eq. 37 has |S_bar_i| of Lemma 5 with R' for R (with R = c lambda_Q / n_Q^2 it is of
order m). Lemma 6 is that of scales kappa within Theorem 3's condition, Eq. 45 to 48 of widths above
a polynomial, too. These are inferences: no network is run, and an order that does not follow is not
refuted by that.
"""

from collections.abc import Mapping

from jaxtyping import Array, Float

from theorysim import claims
from theorysim.theorems.transferability import _problem as problem
from theorysim.theorems.transferability._orders import (
    Orders,
    follows,
    order,
    order_space,
    small_scale,
    total,
    unrestricted,
    wide,
)

MOVEMENT: Orders = ({"n_p": 3, "n_q": 1.5, "m": -0.5, "lam_p": -2, "lam_q": -1, "failure": -1.5},)
UNITS: Orders = ({"n_p": 3, "n_q": 1.5, "m": 0.5, "lam_p": -2, "lam_q": -1, "failure": -1.5},)
FEATURES: Orders = (
    dict(n_p=1.5, n_q=1.25, m=-0.25, lam_p=-1, lam_q=-0.5, kappa=-1, failure=-0.75),
)
GRAM: Orders = (dict(n_p=3, n_q=3.5, m=-0.5, lam_p=-2, lam_q=-1, kappa=-2, failure=-1.5),)
REST: Orders = ({"n_p": 1, "n_q": 0.5, "lam_p": -1},)
EPS_4: Orders = (
    {"n_p": 2, "n_q": 1, "m": -0.25, "lam_p": -1.5, "kappa": -0.5, "failure": -1},
    {"n_p": 1, "n_q": 0.5, "kappa": 1, "lam_p": -1, "failure": -1},
)
EQ_41: Orders = (dict(n_p=4, n_q=4, m=-0.5, lam_p=-3, lam_q=-2, kappa=-2, failure=-1.5),)
EQ_43: Orders = (dict(n_p=2.5, n_q=0.75, m=-0.25, lam_p=-2, lam_q=-1.5, kappa=-1, failure=-0.75),)
EQ_44: Orders = (dict(n_p=4, n_q=4.5, m=-0.5, lam_p=-3, lam_q=-3, kappa=-2, failure=-1.5),)
EQ_45: Orders = (dict(n_p=5, n_q=5, m=-0.25, lam_p=-4, lam_q=-4, kappa=-2, failure=-1.5),)
EQ_48: Orders = (
    {"n_p": 2, "n_q": 1, "kappa": 1, "lam_p": -2, "lam_q": -2, "failure": -1},
    dict(n_p=5, n_q=5, m=-0.25, lam_p=-4, lam_q=-4, kappa=-2, failure=-2),
)


def factors(x: claims.Instance) -> dict[str, Float[Array, ""]]:
    """The products that the proof takes, by display."""
    rest, moved = total(x, REST), total(x, MOVEMENT)
    flips = order(x, n_q=1, failure=-1, kappa=-1) * moved
    series = order(x, lam_q=-1) * total(x, GRAM) * rest
    features, errors = total(x, FEATURES) * order(x, lam_q=-1) * rest, total(x, EQ_44)
    lead = order(x, lam_q=-0.5) * rest
    second = features + errors
    eps_4 = (
        order(x, n_p=2.5, n_q=1, m=-0.5, lam_p=-2, kappa=-1, failure=-1.5)
        + order(x, n_p=1, n_q=0.5, kappa=1, lam_p=-1, failure=-1)
        + order(x, n_p=2, n_q=0.5, m=-0.25, lam_p=-1.5, kappa=-0.5, failure=-1)
        + order(x, n_p=2, n_q=0.5, m=-0.5, lam_p=-2, kappa=-1, failure=-2)
        + order(x, n_q=0.5, kappa=1, failure=-0.5)
    )
    bound = total(x, EPS_4)
    return {
        "Eq. 36": order(x, n_p=1, m=-0.5, lam_p=-1, failure=-0.5)
        + order(x, n_q=0.5, m=-0.5, lam_q=-1) * rest,
        "Lemma 6: features": flips**0.5,
        "Lemma 6: Gram matrix": order(x, n_q=1) * flips,
        "Eq. 37: |S_bar_i|": order(x, m=1, n_q=1, failure=-1) * moved,
        "Eq. 41": series,
        "Eq. 43": features,
        "Eq. 44": order(x, n_q=0.5, lam_q=-1) * series,
        "Eq. 45": lead * second + second**2,
        "Eq. 47": eps_4,
        "Eq. 48": order(x, lam_q=-1) * (bound * rest + bound**2) + total(x, EQ_45),
    }


PRINTED: Mapping[str, Orders] = {
    "Eq. 36": MOVEMENT,
    "Lemma 6: features": FEATURES,
    "Lemma 6: Gram matrix": GRAM,
    "Eq. 37: |S_bar_i|": UNITS,
    "Eq. 41": EQ_41,
    "Eq. 43": EQ_43,
    "Eq. 44": EQ_44,
    "Eq. 45": EQ_45,
    "Eq. 47": EPS_4,
    "Eq. 48": EQ_48,
}
CORRECTED: Mapping[str, Orders] = {
    **PRINTED,
    "Eq. 37: |S_bar_i|": ({**UNITS[0], "n_q": 2.5, "failure": -2.5},),
    "Eq. 43": ({**EQ_43[0], "n_q": 1.75},),
}
REGIMES = {
    "Lemma 6: features": small_scale,
    "Lemma 6: Gram matrix": small_scale,
    "Eq. 45": lambda x: wide(small_scale(x)),
    "Eq. 47": lambda x: wide(small_scale(x)),
    "Eq. 48": lambda x: wide(small_scale(x)),
}


def _claims(orders: Mapping[str, Orders]) -> tuple:
    def claim(name: str):
        regime = REGIMES.get(name, unrestricted)
        return follows(name, lambda x: factors(x)[name], orders[name], regime)

    return tuple(claim(name) for name in orders)


def _powers_more(**more: float) -> tuple:
    """Claims about orders with further powers."""

    def changed(orders: Orders) -> Orders:
        return tuple({**p, **{n: p.get(n, 0) + m for n, m in more.items()}} for p in orders)

    return _claims({name: changed(orders) for name, orders in CORRECTED.items()})


theorem = claims.Theorem(
    space=order_space(),
    simulate=problem.nothing_to_run,
    claims=_claims(PRINTED),
    source=claims.Printed(
        "Appendix C.2, Eq. 36 to 48",
        "|S_bar_i| <= C m n_Q R / delta = O(sqrt(m) n_P^3 n_Q^(3/2) / (lambda_P^2 lambda_Q "
        "delta^(3/2))); ||Z_Q(0) - Z_Q(k)||_F = O(n_P^(3/2) n_Q^(5/4) / sqrt(m^(1/2) lambda_P^2 "
        "lambda_Q kappa^2 delta^(3/2))) ... O(n_P sqrt(n_Q) / lambda_P) ... ||sum_k eta (Z_Q(k) - "
        "Z_Q(0)) (I - eta H_Q)^k (y_Q - u_Q(P))|| = O(n_P^(5/2) n_Q^(3/4) / sqrt(m^(1/2) "
        "lambda_P^4 lambda_Q^3 kappa^2 delta^(3/2)))",
    ),
    printed="inference: the orders from their factors",
    note="neither order is refuted: that of Eq. 43 has lost a factor n_Q of its product, and that "
    "of |S_bar_i| beside Eq. 37 n_Q / delta",
    readings=(
        claims.Reading(
            "corrected",
            claims.Corrected("n_Q^(7/4) in Eq. 43, n_Q^(5/2) / delta^(5/2) beside Eq. 37"),
            claims=_claims(CORRECTED),
            primary=True,
            note="the product of the orders of the factors",
        ),
    ),
    mutants=(
        claims.Mutant(
            "one power of n_Q and of 1 / lambda_P less", claims=_powers_more(n_q=-1, lam_p=1)
        ),
        claims.Mutant("one power of 1 / m more", claims=_powers_more(m=-1)),
    ),
    instances=16,
)
