"""The choices of m, R and eta with which Theorem 3 is proved do not give the steps they are for.

Liu et al. (2019), proof of Theorem 3, with R = c lambda_Q / n_Q^2. "With the conditions on m, we
have R' < R": R' is that of Lemma 4, and R' / R contains lambda_Q to the power -2. The width that
the theorem sets does not know it; Theorem 1's unnamed polynomial, whose conditions it takes over,
does. What the width gives by itself is therefore a finding, not an erratum: lambda_P^16 lambda_Q^4
for its lambda_P^16 lambda_P^4 would need no polynomial beside it. ||H_perp||
is bounded by C n_Q^2 R / delta and enters the final display as C n_Q R / delta. "The bound of the
step size and the bound of R" give (1 - eta lambda_Q / 2) only if R has a factor delta. These are
inferences of the proof: no network is run, and Theorem 3 is not refuted by them. kappa is a
constant here, as in the printed Lemma 5; where it may shrink, R needs a factor kappa, too.
"""

from collections.abc import Callable

from jaxtyping import Array, Float

from theorysim import claims
from theorysim.theorems.transferability import _problem as problem
from theorysim.theorems.transferability._orders import (
    LADDERS,
    Orders,
    follows,
    order,
    order_space,
    small_scale,
    total,
)


def _at_the_width(x: claims.Instance, lam_q: float) -> claims.Instance:
    """m at least the printed width, its lambda_P^4 split as lambda_P^(4 - lam_q) lambda_Q^lam_q."""
    x = small_scale(x)
    least = order(x, n_p=8, n_q=6, lam_p=lam_q - 20, lam_q=-lam_q, kappa=-2, failure=-10)
    return x.replace(m=x.m / 1e6 * least)


def _moved(x: claims.Instance, lam_q: float, radius: Orders) -> Float[Array, ""]:
    """R' / R at that width."""
    x = _at_the_width(x, lam_q)
    movement = order(x, n_p=3, n_q=1.5, m=-0.5, lam_p=-2, lam_q=-1, failure=-1.5)
    return movement / total(x, radius)


def _decay(power: float, radius: Orders) -> Callable[[claims.Instance], Float[Array, ""]]:
    """n_Q^power R / delta + n_Q^(3/2) R / delta + eta n_Q^2, eta = lambda_Q / n_Q^2."""

    def product(x: claims.Instance) -> Float[Array, ""]:
        reach = total(x, radius)
        lost = order(x, n_q=power, failure=-1) + order(x, n_q=1.5, failure=-1)
        return lost * reach + order(x, lam_q=1)

    return product


RADIUS: Orders = ({"lam_q": 1, "n_q": -2},)
SMALLER: Orders = ({"lam_q": 1, "n_q": -2, "failure": 1},)


def _stays(lam_q: float, radius: Orders) -> claims.Claim:
    return claims.exists_constant(
        "R' < R, whatever lambda_Q",
        lambda r: _moved(r.x, lam_q, radius),
        lambda r: _moved(r.x.replace(lam_q=r.x.lam_p), lam_q, radius),
        over={"lam_q": LADDERS["lam_q"]},
        statement="R' / R is at most a constant times what it is at lambda_Q = lambda_P",
    )


def _final(power: float, radius: Orders) -> tuple[claims.Claim, ...]:
    def perp(x: claims.Instance) -> Float[Array, ""]:
        return order(x, n_q=2, failure=-1) * total(x, radius)

    entered = ({**radius[0], "n_q": power - 2, "failure": radius[0].get("failure", 0) - 1},)
    return (
        follows("H_perp in the final display", perp, entered),
        follows("the final inequality", _decay(power, radius), ({"lam_q": 1},)),
    )


theorem = claims.Theorem(
    space=order_space(),
    simulate=problem.nothing_to_run,
    claims=_final(1, RADIUS),
    source=claims.Printed(
        "proof of Theorem 3",
        "R = c lambda_Q / n_Q^2 ... the L2 norm of H(k)_perp is "
        "bounded with C n_Q^2 R / delta ... ||y_Q - u_Q(k+1)||^2 <= (1 - eta "
        "lambda_Q + 2 C eta n_Q R / delta + 2 C eta n_Q^(3/2) R / delta + eta^2 n_Q^2) ||y_Q - "
        "u_Q(k)||^2 <= (1 - eta lambda_Q / 2) ||y_Q - u_Q(k)||^2",
    ),
    printed="inference: the steps from the choices",
    note="steps of the proof do not follow, the theorem is not refuted: R is free of delta, and "
    "n_Q^2 becomes n_Q in the final display",
    readings=(
        claims.Reading(
            "the width by itself",
            claims.Finding(
                "R' < R from m = Omega(n_P^8 n_Q^6 / (lambda_P^16 lambda_P^4 kappa^2 delta^10)) "
                "alone, without the polynomial in 1 / lambda_Q of Theorem 1's conditions"
            ),
            claims=(_stays(0, RADIUS),),
            note="free of lambda_Q; the conditions of Theorem 1, which the theorem takes over, ask "
            "for a width above a polynomial in 1 / lambda_Q, which serves where it is large enough",
        ),
        claims.Reading(
            "corrected",
            claims.Corrected(
                "lambda_P^16 lambda_Q^4 in the width, R = c delta lambda_Q / n_Q^2, and "
                "C n_Q^2 R / delta in the final display"
            ),
            claims=(_stays(4, SMALLER), *_final(2, SMALLER)),
            primary=True,
            note="what the steps of the proof need, where kappa is a constant",
        ),
    ),
    mutants=(
        claims.Mutant("lambda_Q^2 in the width", claims=(_stays(2, SMALLER),)),
        claims.Mutant("n_Q in the final display", claims=_final(1, SMALLER)[:1]),
        claims.Mutant("R free of delta", claims=_final(2, RADIUS)[1:]),
    ),
    instances=16,
)
