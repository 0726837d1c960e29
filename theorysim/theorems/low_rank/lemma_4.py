"""Polynomials of Gaussians are rarely small.

Lemma 4 of Dayi and Chen (2024), the inequality of Carbery and Wright: for a multilinear polynomial
Q of degree d and variance 1, Pr[|Q(g)| <= epsilon] <= B epsilon^(1/d), where B is absolute.
Decided at the limit of multilinear polynomials g_1^d / sd, whose law is exact; epsilon^(1/d) is the
instance's `root`. The inequality has B d for B.
"""

import jax.numpy as jnp
from jax.scipy.special import erf, gammaln

from theorysim import claims

DEGREES, ROOTS = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0), (0.3, 0.1, 0.03, 0.01)


def _log_moment(power):
    """log E |g|^power."""
    return power / 2 * jnp.log(2.0) + gammaln((power + 1) / 2) - gammaln(0.5)


def simulate(x: claims.Instance, key):
    """Pr[|g|^d <= epsilon sd], where sd^2 = E g^(2d) - (E g^d)^2 and odd moments vanish."""
    even = jnp.where(jnp.round(x.degree) % 2 == 0, 1.0, 0.0)
    mean_square = even * jnp.exp(2 * _log_moment(x.degree) - _log_moment(2 * x.degree))
    log_deviation = (_log_moment(2 * x.degree) + jnp.log1p(-mean_square)) / 2
    return erf(x.root * jnp.exp(log_deviation / x.degree) / jnp.sqrt(2.0))


def _claims(degree_power: float, power: float = 1.0):
    return (
        claims.exists_constant(
            "Pr[|Q| <= epsilon]",
            lambda r: r.sim,
            lambda r: r.x.degree**degree_power * r.x.root**power,
            over={"degree": DEGREES, "root": ROOTS},
        ),
    )


theorem = claims.Theorem(
    space=claims.Space(degree=claims.Real(1, 32, log=True), root=claims.Real(0.01, 0.3, log=True)),
    simulate=simulate,
    claims=_claims(0.0),
    source=claims.Printed("Lemma 4, Appendix A.3.1", "Pr[|Q(g)| <= epsilon] <= B epsilon^(1/d)"),
    note="no absolute constant serves powers of one Gaussian of all degrees",
    readings=(
        claims.corrected(
            "B d for B, as in the inequality",
            claims=_claims(1.0),
            note="B d is enough; for powers of one Gaussian the constant grows as sqrt(d)",
        ),
    ),
    mutants=(claims.Mutant("epsilon^(2/d)", claims=_claims(1.0, 2.0)),),
)
