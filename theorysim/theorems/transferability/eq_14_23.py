"""The orders of Eq. 14 and Eq. 23 do not follow from the factors that are printed beside them.

Liu et al. (2019), Appendix C.1. Inferences are checked here: no network is run, and neither order
is refuted. Eq. 14 inserts "||y_P - u(0)|| = O(n_P / delta)" into n_P n_Q R / (delta kappa), R =
sqrt(n_P) ||y_P - u_P(0)|| / (sqrt(m) lambda_P); its order follows from the root of n_P / delta,
which is what Markov's inequality gives. Eq. 23 multiplies sqrt(n_Q / m), |S_bar_i| of Eq. 20 and
the movement of Lemma 1, which is R: its n_P^2 takes the second form of Eq. 20, which lost n_P.
"""

from jaxtyping import Array, Float

from theorysim import claims
from theorysim.theorems.transferability import _problem as problem
from theorysim.theorems.transferability._orders import Orders, follows, order, order_space


def _radius(x: claims.Instance, power: float) -> Float[Array, ""]:
    """R, from ||y_P - u_P(0)|| = (n_P / delta)^power."""
    return order(x, n_p=0.5 + power, failure=-power, m=-0.5, lam_p=-1)


def _change(power: float):
    """n_P n_Q R / (delta kappa): the first term of Eq. 14."""
    return lambda x: order(x, n_p=1, n_q=1, failure=-1, kappa=-1) * _radius(x, power)


def _error(x: claims.Instance) -> Float[Array, ""]:
    """sqrt(n_Q / m) m n_P R / (kappa delta) R."""
    units = order(x, m=1, n_p=1, kappa=-1, failure=-1) * _radius(x, 0.5)
    return order(x, n_q=0.5, m=-0.5) * units * _radius(x, 0.5)


EQ_14: Orders = ({"n_p": 2, "n_q": 1, "m": -0.5, "lam_p": -1, "kappa": -1, "failure": -1.5},)
EQ_23: Orders = ({"n_p": 2, "n_q": 0.5, "m": -0.5, "lam_p": -2, "failure": -2, "kappa": -1},)
EQ_23_CORRECTED: Orders = ({**EQ_23[0], "n_p": 3},)


def _less(orders: Orders, name: str) -> Orders:
    """One power of 1 / name less."""
    return tuple({**powers, name: powers[name] + 1} for powers in orders)


def _claims(power: float, eq_14: Orders, eq_23: Orders) -> tuple:
    return follows("Eq. 14", _change(power), eq_14), follows("Eq. 23", _error, eq_23)


theorem = claims.Theorem(
    space=order_space(),
    simulate=problem.nothing_to_run,
    claims=_claims(1.0, EQ_14, EQ_23),
    source=claims.Printed(
        "Appendix C.1, Eq. 14 and 23",
        "noting that ||y_P - u(0)||_2 = O(n_P / delta) ... n_P n_Q / delta (2 R / (sqrt(2 pi) "
        "kappa) + delta / m) = O(n_P^2 n_Q / (sqrt(m) lambda_P kappa delta^(3/2))); using lemma 1 "
        "and the estimation of |S_bar_i| ... sqrt(n_Q / m) |S_bar_i| ||w_r(P) - w_r(0)||_2 = "
        "O(n_P^2 n_Q^(1/2) / (sqrt(m) lambda_P^2 delta^2 kappa))",
    ),
    printed="inference: the orders from their factors",
    note="neither order is refuted: that of Eq. 14 stands and follows from the root of the n_P / "
    "delta beside it; that of Eq. 23 follows from the second form of Eq. 20, too small by n_P",
    readings=(
        claims.Reading(
            "corrected",
            claims.Corrected(
                "||y_P - u(0)|| = O(sqrt(n_P / delta)) beside Eq. 14, whose order stays; n_P^3 in "
                "Eq. 23"
            ),
            claims=_claims(0.5, EQ_14, EQ_23_CORRECTED),
            primary=True,
            note="the products of the factors that the proof names, kappa at most one",
        ),
    ),
    mutants=(
        claims.Mutant(
            "one power of 1 / delta less",
            claims=_claims(0.5, _less(EQ_14, "failure"), _less(EQ_23_CORRECTED, "failure")),
        ),
    ),
    instances=16,
)
