"""The orders of the perturbation terms follow from those of their factors, with some exceptions.

Eq. 25 to 34 of Liu et al. (2019) and the sum that Theorem 1 prints. Their factors are printed
before: ||eps'|| (Eq. 23), ||eps|| (Eq. 9), ||H_PQ(P) - H_PQ|| (Lemma 3), ||Z|| <= sqrt(n),
||H_P^(-1) y_P|| <= sqrt(n_P) / lambda_P, ||u_Q(0)|| = O(sqrt(n_Q) kappa / sqrt(delta)). A product
of factors is at most a constant times the printed order, over every variable. These are inferences:
no network is run, and an order that does not follow is not refuted by that. The sum is that of the
printed orders at the scales kappa that Theorem 1 allows. Eq. 26 prints two forms and calls them
equal. Eq. 30 prints eps^T Z_Q^T Z_P, and the product of these; eps has m d entries, a second Z_Q
makes the shapes agree and brings another root of n_Q. transferability/eq-29-32 and
transferability/theorem-1 measure what the terms of infinite width and their sum really are.
"""

from collections.abc import Mapping

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.theorems.transferability import _problem as problem
from theorysim.theorems.transferability._orders import (
    Orders,
    follows,
    order,
    order_space,
    small_scale,
    unrestricted,
)


def factors(x: claims.Instance, n_q_30: float) -> dict[str, Float[Array, ""]]:
    """The products that the proof takes, by equation; Eq. 30 with n_Q^n_q_30."""
    error = order(x, n_p=2, n_q=0.5, m=-0.5, lam_p=-2, failure=-2, kappa=-1)
    drift = order(x, n_p=1, kappa=1, lam_p=-1, failure=-1)
    drift = drift + order(x, n_p=2, m=-0.25, lam_p=-1.5, kappa=-0.5, failure=-1)
    change = order(x, n_p=2, n_q=1, m=-0.5, lam_p=-1, kappa=-1, failure=-1.5)
    labels = order(x, n_p=0.5, lam_p=-1)
    both = jnp.sqrt(x.n_p * x.n_q) * labels
    start = order(x, n_q=0.5, kappa=1, failure=-0.5)
    return {
        "Eq. 25": error**2,
        "Eq. 26": error * both,
        "Eq. 27": error * jnp.sqrt(x.n_q) * drift,
        "Eq. 28": (labels * change) ** 2,
        "Eq. 29": drift**2,
        "Eq. 30": order(x, n_p=1, n_q=n_q_30, lam_p=-1) * drift,
        "Eq. 31": start * both,
        "Eq. 32": start * jnp.sqrt(x.n_q) * drift,
        "Eq. 33": start * error,
        "Eq. 34": jnp.sqrt(x.n_q) * change * labels,
        "Eq. 26, first form": error * both,
        **_sum(x, n_q_30),
    }


def _sum(x: claims.Instance, n_q_30: float) -> dict[str, Float[Array, ""]]:
    """What Eq. 29 to 32 keep at infinite width: a sum is of an order if each of its terms is."""
    return {
        "sum of Theorem 1: Eq. 29": order(x, n_p=2, kappa=2, lam_p=-2, failure=-2),
        "sum of Theorem 1: Eq. 30": order(x, n_p=2, n_q=n_q_30, kappa=1, lam_p=-2, failure=-1),
        "sum of Theorem 1: Eq. 31": order(x, n_p=1, n_q=1, kappa=1, lam_p=-1, failure=-0.5),
        "sum of Theorem 1: Eq. 32": order(x, n_p=1, n_q=1, kappa=2, lam_p=-1, failure=-1.5),
    }


IN_SUM = tuple(f"sum of Theorem 1: Eq. {number}" for number in (29, 30, 31, 32))


def _each_in_sum(n_q: float) -> dict[str, Orders]:
    """Theorem 1's last error, with n_Q^n_q, for each term of the sum."""
    return dict.fromkeys(IN_SUM, ({"n_p": 2, "n_q": n_q, "kappa": 1, "lam_p": -2, "failure": -1},))


PRINTED = {
    "Eq. 25": ({"n_p": 4, "n_q": 1, "m": -1, "lam_p": -4, "failure": -4, "kappa": -2},),
    "Eq. 26": ({"n_p": 3, "n_q": 1, "m": -0.5, "lam_p": -2, "failure": -2, "kappa": -1},),
    "Eq. 26, first form": (
        {"n_p": 3, "n_q": 1, "m": -0.5, "lam_p": -3, "failure": -1, "kappa": -1},
    ),
    "Eq. 27": (
        {"n_p": 3, "n_q": 1, "m": -0.5, "lam_p": -3, "failure": -3},
        {"n_p": 3, "n_q": 1, "m": -0.75, "lam_p": -3.5, "failure": -3, "kappa": -1.5},
    ),
    "Eq. 28": ({"n_p": 5, "n_q": 2, "m": -1, "lam_p": -4, "kappa": -2, "failure": -3},),
    "Eq. 29": (
        {"n_p": 2, "kappa": 2, "lam_p": -2, "failure": -2},
        {"n_p": 4, "m": -0.5, "lam_p": -3, "kappa": -1, "failure": -2},
    ),
    "Eq. 30": (
        {"n_p": 2, "n_q": 0.5, "kappa": 1, "lam_p": -2, "failure": -1},
        {"n_p": 3, "n_q": 0.5, "m": -0.25, "lam_p": -2.5, "kappa": -0.5, "failure": -1},
    ),
    "Eq. 31": ({"n_p": 1, "n_q": 1, "kappa": 1, "lam_p": -1, "failure": -0.5},),
    "Eq. 32": (
        {"n_p": 1, "n_q": 1, "kappa": 2, "lam_p": -1, "failure": -1.5},
        {"n_p": 2, "n_q": 1, "m": -0.25, "lam_p": -1.5, "kappa": -0.5, "failure": -1.5},
    ),
    "Eq. 33": ({"n_p": 2, "n_q": 1, "m": -0.5, "lam_p": -2, "failure": -2.5},),
    "Eq. 34": ({"n_p": 2.5, "n_q": 1.5, "m": -0.5, "lam_p": -2, "kappa": -1, "failure": -1.5},),
    **_each_in_sum(0.5),
}
EQ_26 = ({"n_p": 3, "n_q": 1, "m": -0.5, "lam_p": -3, "failure": -2, "kappa": -1},)
CORRECTED = {
    **PRINTED,
    "Eq. 26": EQ_26,
    "Eq. 26, first form": EQ_26,
    "Eq. 27": (
        PRINTED["Eq. 27"][0],
        {"n_p": 4, "n_q": 1, "m": -0.75, "lam_p": -3.5, "failure": -3, "kappa": -1.5},
    ),
    "Eq. 30": tuple({**powers, "n_q": 1} for powers in PRINTED["Eq. 30"]),
    **_each_in_sum(1.0),
}


def _claims(orders: Mapping[str, Orders], n_q_30: float) -> tuple:
    def claim(name: str):
        regime = small_scale if name in IN_SUM else unrestricted
        return follows(name, lambda x: factors(x, n_q_30)[name], orders[name], regime)

    return tuple(claim(name) for name in PRINTED)


LESS_OF_LAMBDA = {
    name: tuple({**powers, "lam_p": powers["lam_p"] + 1} for powers in orders)
    for name, orders in CORRECTED.items()
}

theorem = claims.Theorem(
    space=order_space(),
    simulate=problem.nothing_to_run,
    claims=_claims(PRINTED, 0.5),
    source=claims.Printed(
        "Appendix C.1, Eq. 25 to 34, and Eq. 4",
        "using ||Z_P(0)||_F <= sqrt(n_P) and ||Z_Q(P)||_F <= sqrt(n_Q) ... eps'^T Z_Q(P)^T Z_P(0) "
        "H_P^(-1) y_P = O(n_P^2 n_Q^(1/2) / (sqrt(m) lambda_P^2 delta kappa) sqrt(n_P) sqrt(n_Q) "
        "1 / lambda_P sqrt(n_P)) = O(n_P^3 n_Q / (sqrt(m) lambda_P^2 delta^2 kappa)), eps'^T "
        "Z_Q(P)^T eps = O(...) + O(n_P^3 n_Q / (m^(3/4) lambda_P^(7/2) delta^3 kappa^(3/2))), ... "
        "u_Q(0)^T Z_Q(P)^T Z_P(0) H_P^(-1) y_P = O(n_P n_Q kappa / (lambda_P sqrt(delta))), ... "
        "Substituting ... completes the proof (O(n_P^2 n_Q^(1/2) kappa / (lambda_P^2 delta)))",
    ),
    printed="inference: the orders from their factors",
    note="the orders of Eq. 26 and 27 are below the product of their factors, that of the sum is "
    "below its term of Eq. 31; that alone refutes none of them (theorem-1 measures the sum)",
    aliases=(
        "eq-25",
        "eq-26",
        "eq-27",
        "eq-28",
        "eq-29",
        "eq-30",
        "eq-31",
        "eq-32",
        "eq-33",
        "eq-34",
    ),
    readings=(
        claims.Reading(
            "corrected",
            claims.Corrected(
                "lambda_P^3 delta^2 in both forms of Eq. 26, n_P^4 in Eq. 27, a second Z_Q and n_Q "
                "for its root in Eq. 30, n_Q in the sum of Theorem 1"
            ),
            claims=_claims(CORRECTED, 1.0),
            primary=True,
            note="the product of the orders of the factors",
        ),
    ),
    mutants=(
        claims.Mutant("one power of 1 / lambda_P less", claims=_claims(LESS_OF_LAMBDA, 1.0)),
        claims.Mutant(
            "n_Q^(1/2) in the sum of Theorem 1, as printed",
            claims=_claims({**CORRECTED, **_each_in_sum(0.5)}, 1.0)[-len(IN_SUM) :],
        ),
    ),
    survivors=dict.fromkeys(
        (IN_SUM[0], IN_SUM[3]),
        "of second order in kappa: at the scales that Theorem 1 allows, far below its last error",
    ),
    instances=16,
)
