"""The root of Eq. 48 gives an error of m^(-1/8); Eq. 5, with m^(-1/4), does not follow from it.

Theorem 2 of Liu et al. (2019) is printed twice: Eq. 48, which is proved, bounds the squared
distance with an error of order n_P^5 n_Q^5 / (m^(1/4) lambda_P^4 lambda_Q^4 delta^2 kappa^2), and
Eq. 5 the distance itself with poly / m^(1/4). Where the tasks agree (y_Q = y_(P->Q)) the root of
that error is all that Eq. 48 leaves. This is an inference, and no network is run: Eq. 5 itself is
not refuted, real networks have a smaller error still (transferability/theorem-2-widths). Any
polynomial serves; the root of that of Eq. 48 stands in.
"""

from theorysim import claims
from theorysim.theorems.transferability import _problem as problem
from theorysim.theorems.transferability._orders import LADDERS, order, order_space


def _polynomial(x: claims.Instance):
    """The numerator of Eq. 48's error, and the square of that of Eq. 5."""
    return order(x, n_p=5, n_q=5, lam_p=-4, lam_q=-4, failure=-2, kappa=-2)


def _claim(power: float) -> tuple:
    """Eq. 48's error against the square of poly / m^power."""
    return (
        claims.exists_constant(
            "Eq. 5: the error of finite width, by Eq. 48",
            lambda r: _polynomial(r.x) * r.x.m**-0.25,
            lambda r: _polynomial(r.x) * r.x.m ** (-2 * power),
            over={"m": LADDERS["m"]},
        ),
    )


theorem = claims.Theorem(
    space=order_space(),
    simulate=problem.nothing_to_run,
    claims=_claim(1 / 4),
    source=claims.Printed(
        "Section 6.3, Theorem 2 (Eq. 5), beside Appendix C.2, Eq. 48",
        "Proof of Theorem 2 ... ||W_Q(K) - W(P)||_F^2 = ... + O(n_P^5 n_Q^5 / (m^(1/4) lambda_P^4 "
        "lambda_Q^4 delta^2 kappa^2)); Theorem 2: ||W(Q) - W(P)||_F <= ... + poly(n_P, n_Q, "
        "1/delta, 1/lambda_P, 1/lambda_Q, 1/kappa) / m^(1/4)",
    ),
    printed="inference: Eq. 5 from Eq. 48",
    note="Eq. 5 is not refuted, its proof ends too early: Eq. 48 bounds the square, and where its "
    "first term vanishes, the root has m^(1/8)",
    readings=(
        claims.Reading(
            "corrected",
            claims.Corrected("from Eq. 48 follows m^(1/8); m^(1/4) needs another proof"),
            claims=_claim(1 / 8),
            primary=True,
            note="the root of the error of Eq. 48",
        ),
    ),
    mutants=(claims.Mutant("m^(1/4), as printed", claims=_claim(1 / 4)),),
    instances=16,
)
