"""A preactivation is within R more often than a weight vector is.

Below Eq. 12 of Liu et al. (2019) and again above Eq. 20: "the distribution of w_r(0)^T x and w_r(0)
are the same Gaussian", so that P(|<w_r(0), x>| <= R) = P(|w_r(0)| <= R) <= 2 R / (sqrt(2 pi)
kappa). The norm of w_r(0) ~ N(0, kappa^2 I) has the law of kappa chi_d. The bound holds of the
preactivation, which is all that the proof needs.
"""

import jax.numpy as jnp

from theorysim import claims
from theorysim.numerics.products import dot
from theorysim.theorems.transferability import _problem as problem
from theorysim.theorems.transferability._training import started


def simulate(x: claims.Instance, key) -> tuple:
    """The shares of preactivations and of weight vectors that are at most R."""
    weights = started(x, key).weights
    sizes = jnp.abs(dot(weights, problem.target(x).inputs.T)), jnp.linalg.norm(weights, axis=1)
    return tuple(jnp.mean(size <= _radius(x)) for size in sizes)


def _radius(x: claims.Instance):
    """R."""
    return x.reach * x.kappa


def _bound(r):
    """2 R / (sqrt(2 pi) kappa)."""
    return jnp.sqrt(2 / jnp.pi) * r.x.reach


same_chance = claims.equal(
    "P(|<w_r, x>| <= R) = P(|w_r| <= R)",
    lambda r: r.mean(r.sim[0]),
    lambda r: r.mean(r.sim[1]),
)
bound = claims.at_most("P(|<w_r, x>| <= R)", lambda r: r.mean(r.sim[0]), _bound)

theorem = claims.Theorem(
    space=problem.problem_space(
        d=claims.Size(2, low=2, high=64),
        width=claims.Size(64, high=65536),
        kappa=claims.Real(1e-3, 10, log=True),
        reach=claims.Real(0.1, 3, log=True),
    ),
    simulate=simulate,
    claims=(bound,),
    printed="the bound",
    source=claims.Printed(
        "proof of Lemma 3, above Eq. 13",
        "E[I(|w_r(0)^T x_(Q,i)| <= R)] <= 2 R / (sqrt(2 pi) kappa)",
    ),
    readings=(
        claims.Reading(
            "the same Gaussian",
            claims.Printed(
                "proof of Lemma 3, below Eq. 12, and above Eq. 20",
                "the distribution of w_r(0)^T x_(Q,i) and w_r(0) are the same Gaussian. "
                "E[I(|w_r(0)^T x_(Q,i)| <= R)] = E[I(|w_r(0)| <= R)]",
            ),
            claims=(same_chance,),
            note="the norm of w_r has the law of kappa times chi with d degrees of freedom",
        ),
    ),
    mutants=(claims.Mutant("half of the density at zero", claims=(bound.scaled(1 / 2),)),),
    keys=256,
    instances=16,
    mutant_instances=16,
)
