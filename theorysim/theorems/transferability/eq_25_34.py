"""The orders of the perturbation terms follow from those of their factors, with four exceptions.

Eq. 25 to 34 of Liu et al. (2019) and the sum that Theorem 1 prints. Their factors are printed
before: ||eps'|| (Eq. 23), ||eps|| (Eq. 9), ||H_PQ(P) - H_PQ|| (Lemma 3), ||Z|| <= sqrt(n),
||H_P^(-1) y_P|| <= sqrt(n_P) / lambda_P, ||u_Q(0)|| = O(sqrt(n_Q) kappa / sqrt(delta)). No network
is run: a product of factors is at most a constant times the printed order, over every variable.
The sum is that of the scales kappa that Theorem 1 allows. Eq. 30 prints eps^T Z_Q^T Z_P; eps has
m d entries, and a second Z_Q makes the shapes agree.
"""

import math

import jax.numpy as jnp

from theorysim import claims
from theorysim.theorems.transferability import _problem as problem

LARGE = (1.0, 10.0, 100.0, 1000.0)
SMALL = (1.0, 0.1, 0.01, 1e-3)
LADDERS = {
    "n_p": LARGE,
    "n_q": LARGE,
    "m": (1e6, 1e8, 1e10, 1e12),
    "kappa": SMALL,
    "lam": (0.5, 0.05, 0.005, 5e-4),
    "failure": (0.5, 0.05, 0.005, 5e-4),
}


def _order(x: claims.Instance, **powers: float):
    """A monomial in the variables of the space."""
    return math.prod((getattr(x, n) ** power for n, power in powers.items()), start=jnp.ones(()))


def factors(x: claims.Instance) -> dict:
    """The products that the proof takes, by equation."""
    error = _order(x, n_p=2, n_q=0.5, m=-0.5, lam=-2, failure=-2, kappa=-1)
    drift = _order(x, n_p=1, kappa=1, lam=-1, failure=-1)
    drift = drift + _order(x, n_p=2, m=-0.25, lam=-1.5, kappa=-0.5, failure=-1)
    change = _order(x, n_p=2, n_q=1, m=-0.5, lam=-1, kappa=-1, failure=-1.5)
    labels = _order(x, n_p=0.5, lam=-1)
    both = jnp.sqrt(x.n_p * x.n_q) * labels
    start = _order(x, n_q=0.5, kappa=1, failure=-0.5)
    return {
        "Eq. 25": error**2,
        "Eq. 26": error * both,
        "Eq. 27": error * jnp.sqrt(x.n_q) * drift,
        "Eq. 28": (labels * change) ** 2,
        "Eq. 29": drift**2,
        "Eq. 30": jnp.sqrt(x.n_q) * drift * both,
        "Eq. 31": start * both,
        "Eq. 32": start * jnp.sqrt(x.n_q) * drift,
        "Eq. 33": start * error,
        "Eq. 34": jnp.sqrt(x.n_q) * change * labels,
        "sum": _kappa_part(_allowed(x)),
    }


def _kappa_part(x: claims.Instance):
    """What Eq. 29 to 32 keep at infinite width."""
    terms = (
        _order(x, n_p=2, kappa=2, lam=-2, failure=-2),
        _order(x, n_p=2, n_q=1, kappa=1, lam=-2, failure=-1),
        _order(x, n_p=1, n_q=1, kappa=1, lam=-1, failure=-0.5),
        _order(x, n_p=1, n_q=1, kappa=2, lam=-1, failure=-1.5),
    )
    return sum(terms)


def _allowed(x: claims.Instance) -> claims.Instance:
    """kappa as a share of the largest scale of Theorem 1, lambda_P^2 delta / (n_P^2 sqrt(n_Q))."""
    largest = _order(x, n_p=-2, n_q=-0.5, lam=2, failure=1)
    return x.replace(kappa=x.kappa * largest)


PRINTED = {
    "Eq. 25": ({"n_p": 4, "n_q": 1, "m": -1, "lam": -4, "failure": -4, "kappa": -2},),
    "Eq. 26": ({"n_p": 3, "n_q": 1, "m": -0.5, "lam": -2, "failure": -2, "kappa": -1},),
    "Eq. 27": (
        {"n_p": 3, "n_q": 1, "m": -0.5, "lam": -3, "failure": -3},
        {"n_p": 3, "n_q": 1, "m": -0.75, "lam": -3.5, "failure": -3, "kappa": -1.5},
    ),
    "Eq. 28": ({"n_p": 5, "n_q": 2, "m": -1, "lam": -4, "kappa": -2, "failure": -3},),
    "Eq. 29": (
        {"n_p": 2, "kappa": 2, "lam": -2, "failure": -2},
        {"n_p": 4, "m": -0.5, "lam": -3, "kappa": -1, "failure": -2},
    ),
    "Eq. 30": (
        {"n_p": 2, "n_q": 0.5, "kappa": 1, "lam": -2, "failure": -1},
        {"n_p": 3, "n_q": 0.5, "m": -0.25, "lam": -2.5, "kappa": -0.5, "failure": -1},
    ),
    "Eq. 31": ({"n_p": 1, "n_q": 1, "kappa": 1, "lam": -1, "failure": -0.5},),
    "Eq. 32": (
        {"n_p": 1, "n_q": 1, "kappa": 2, "lam": -1, "failure": -1.5},
        {"n_p": 2, "n_q": 1, "m": -0.25, "lam": -1.5, "kappa": -0.5, "failure": -1.5},
    ),
    "Eq. 33": ({"n_p": 2, "n_q": 1, "m": -0.5, "lam": -2, "failure": -2.5},),
    "Eq. 34": ({"n_p": 2.5, "n_q": 1.5, "m": -0.5, "lam": -2, "kappa": -1, "failure": -1.5},),
    "sum": ({"n_p": 2, "n_q": 0.5, "kappa": 1, "lam": -2, "failure": -1},),
}
CORRECTED = {
    **PRINTED,
    "Eq. 26": ({"n_p": 3, "n_q": 1, "m": -0.5, "lam": -3, "failure": -2, "kappa": -1},),
    "Eq. 27": (
        PRINTED["Eq. 27"][0],
        {"n_p": 4, "n_q": 1, "m": -0.75, "lam": -3.5, "failure": -3, "kappa": -1.5},
    ),
    "Eq. 30": tuple({**powers, "n_q": 1} for powers in PRINTED["Eq. 30"]),
    "sum": ({"n_p": 2, "n_q": 1, "kappa": 1, "lam": -2, "failure": -1},),
}


def _claims(orders: dict) -> tuple:
    def claim(name: str):
        def scale(r):
            x = _allowed(r.x) if name == "sum" else r.x
            return sum(_order(x, **powers) for powers in orders[name])

        return claims.exists_constant(name, lambda r: r.theory[name], scale, over=LADDERS)

    return tuple(claim(name) for name in PRINTED)


LESS_OF_LAMBDA = {
    name: tuple({**powers, "lam": powers["lam"] + 1} for powers in orders)
    for name, orders in CORRECTED.items()
}

theorem = claims.Theorem(
    space=claims.Space(
        n_p=claims.Real(1, 1000, log=True),
        n_q=claims.Real(1, 1000, log=True),
        m=claims.Real(1e6, 1e12, log=True),
        kappa=claims.Real(1e-3, 1, log=True),
        lam=claims.Real(5e-4, 0.5, log=True),
        failure=claims.Real(5e-4, 0.5, log=True),
    ),
    simulate=problem.nothing_to_run,
    predict=factors,
    claims=_claims(PRINTED),
    source=claims.Printed(
        "Appendix C.1, Eq. 25 to 34, and Eq. 4",
        "||eps'||^2 = O(n_P^4 n_Q / (m lambda_P^4 delta^4 kappa^2)), ..., "
        "O(n_P^2 n_Q^(1/2) kappa / (lambda_P^2 delta))",
    ),
    note="the printed orders of Eq. 26, 27, 30 and of the sum are below their factors' product",
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
                "lambda_P^3 in Eq. 26, n_P^4 in Eq. 27, n_Q for its root in Eq. 30 and in the sum "
                "of Theorem 1"
            ),
            claims=_claims(CORRECTED),
            primary=True,
            note="the product of the orders of the factors",
        ),
    ),
    mutants=(claims.Mutant("one power of 1 / lambda_P less", claims=_claims(LESS_OF_LAMBDA)),),
    instances=16,
)
