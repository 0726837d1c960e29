"""Two sums over Hermite coefficients are one, and bounded by E[s'^2].

Eq. 13 of Dayi and Chen (2024), xi = 1: sum_l (1/k)^l sum_s C(l+s, l) (l+s+1) mu_(l+s+1)^2
(k/(k+1))^(l+s+1) = sum_p (k/(k+1))^p (1 + 1/k)^(p-1) p mu_p^2 <= sum_p p mu_p^2.
"""

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.numerics import gaussian
from theorysim.systems.rank_one import RankOne
from theorysim.systems.rank_one_overlap import series_coefficients

DEGREE = 12


def simulate(x: claims.Instance, key) -> Float[Array, ""]:
    """The double sum, of the coefficients of Proposition 1's series times k."""
    one = jnp.ones((1, 1))
    # One neuron of scale 1 / sqrt(k) has A = 1 + 1/k and scale^2 = 1/k.
    neuron = RankOne(one, one[0], one[0], one[0], 1 / jnp.sqrt(x.k))
    table = series_coefficients(neuron, gaussian.from_coefficients(x.mu), DEGREE - 1)
    return x.k * jnp.sum(table)


def _predict(shift: int):
    """The sum over p, and sum_p p mu_p^2 = E[s'^2]."""

    def predict(x: claims.Instance):
        p = jnp.arange(1, DEGREE)
        weights = p * jnp.square(x.mu[1:])
        powers = (x.k / (x.k + 1)) ** p * (1 + 1 / x.k) ** (p - shift)
        return jnp.sum(powers * weights), jnp.sum(weights)

    return predict


BOUND = claims.at_most("at most sum_p p mu_p^2", lambda r: r.theory[0], lambda r: r.theory[1])

theorem = claims.Theorem(
    space=claims.Space(k=claims.Real(1, 1e4, log=True), mu=claims.Real(-1, 1, shape=DEGREE)),
    simulate=simulate,
    predict=_predict(1),
    claims=(claims.equal("the single sum", lambda r: r.sim, lambda r: r.theory[0]), BOUND),
    source=claims.Printed(
        "Eq. 13, Appendix A.5.2", "= sum_p (k/(k+1))^p (1 + 1/k)^(p-1) p mu_p^2 <= sum_p p mu_p^2"
    ),
    mutants=(
        claims.Mutant("(1 + 1/k)^(p-2)", predict=_predict(2)),
        claims.Mutant(
            "the factor p of the bound is lost",
            claims=(BOUND.against(lambda r: jnp.sum(r.x.mu[1:] ** 2)),),
        ),
    ),
)
