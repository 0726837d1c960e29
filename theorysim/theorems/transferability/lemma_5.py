"""Few units have a small preactivation: at most C m n_Q R / (kappa delta), not C m n_Q R / delta.

Lemma 5 of Liu et al. (2019): with probability 1 - delta, sum_i |{r: |<w_r(0), x_i>| <= R}| <=
C m n_Q R / delta for some positive C. Du et al. (2019) have kappa = 1; here w_r(0) ~ N(0, kappa^2)
and the chance of the event is erf(R / (sqrt(2) kappa)) <= 2 R / (sqrt(2 pi) kappa). Eq. 20 (with
n_P, for one i) has the kappa. Printed beside them: <w_r, x> and w_r have "the same Gaussian"
distribution, so that |<w_r, x>| <= R and |w_r| <= R have the same chance.
"""

import jax.numpy as jnp

from theorysim import claims
from theorysim.numerics.products import dot
from theorysim.theorems.transferability import _problem as problem
from theorysim.theorems.transferability._training import started


def simulate(x: claims.Instance, key) -> tuple:
    """How many preactivations, and how many weight vectors, are at most R at the start."""
    weights = started(x, key).weights
    sizes = jnp.abs(dot(problem.target(x).inputs, weights.T)), jnp.linalg.norm(weights, axis=1)
    return tuple(jnp.sum(size <= x.radius).astype(float) for size in sizes)


def _scale(power: int):
    """m n_Q R / (kappa^power delta)."""
    return lambda r: r.x.width * r.x.q * r.x.radius / (r.x.failure * r.x.kappa**power)


printed = problem.likely_order(
    "sum_i |S_i| <= C m n_Q R / delta",
    lambda r: r.sim[0],
    _scale(0),
    over={"kappa": (1.0, 0.1, 0.01, 1e-3), "failure": (0.5, 0.25, 0.125)},
)
markov = problem.likely(
    "with C = sqrt(2 / pi) / kappa",
    lambda r: r.sim[0],
    lambda r: jnp.sqrt(2 / jnp.pi) * _scale(1)(r),
)
same_chance = claims.equal(
    "P(|<w_r, x>| <= R) = P(|w_r| <= R)",
    lambda r: r.mean(r.sim[0]) / (r.x.width * r.x.q),
    lambda r: r.mean(r.sim[1]) / r.x.width,
)
mean_alone = markov.against(lambda r: r.x.failure * markov.rhs(r))

theorem = claims.Theorem(
    space=problem.problem_space(
        width=claims.Size(512, high=65536),
        kappa=claims.Real(1e-3, 10, log=True),
        radius=claims.Real(1e-4, 1, log=True),
        failure=problem.FAILURE,
    ),
    simulate=simulate,
    claims=(printed,),
    source=claims.Printed("Appendix C.2, Lemma 5", "sum_i |S_i| <= C m n_Q R / delta"),
    note="the initial scale is lost: small weights have small preactivations",
    readings=(
        claims.Reading(
            "corrected",
            claims.Corrected("C m n_Q R / (kappa delta)"),
            claims=(printed.against(_scale(1)), markov),
            primary=True,
            note="as Eq. 20 has it",
        ),
        claims.Reading(
            "the same Gaussian",
            claims.Printed(
                "proof of Lemma 3, below Eq. 12",
                "the distribution of w_r(0)^T x_(Q,i) and w_r(0) are the same Gaussian",
            ),
            claims=(same_chance,),
            note="the norm of w_r has the law of kappa times chi with d degrees of freedom",
        ),
    ),
    mutants=(
        claims.Mutant("without kappa, as printed", claims=(printed,)),
        claims.Mutant("the mean, without 1 / delta", claims=(mean_alone,)),
    ),
    keys=256,
    instances=16,
    mutant_instances=16,
)
