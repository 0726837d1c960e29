"""Few units have a small preactivation: at most C m n_Q R / (kappa delta), not C m n_Q R / delta.

Lemma 5 of Liu et al. (2019): with R = c lambda_Q / n_Q^2 and probability 1 - delta,
sum_i |{r: |<w_r(0), x_i>| <= R}| <= C m n_Q R / delta for some positive C. Du et al. (2019) have
kappa = 1; here w_r(0) ~ N(0, kappa^2), kappa as small as Theorem 3 asks, and the chance of the
event is erf(R / (sqrt(2) kappa)) <= 2 R / (sqrt(2 pi) kappa). Eq. 20 (with n_P, for one i) has the
kappa.
"""

import jax.numpy as jnp

from theorysim import claims
from theorysim.numerics.products import dot
from theorysim.systems import two_layer_relu as relu
from theorysim.theorems.transferability import _problem as problem
from theorysim.theorems.transferability import _training as training


def _kappa(x: claims.Instance):
    """A share of the largest scale of Theorem 3."""
    return x.scale_share * training.theorem_3_scale(x)


def _radius(x: claims.Instance):
    """R = c lambda_Q / n_Q^2."""
    return x.constant * problem.lambda_q(x) / x.q**2


def simulate(x: claims.Instance, key):
    """How many preactivations are at most R at the start: sum_i |S_bar_i|."""
    weights = relu.initialise(key, x.width, x.d, _kappa(x)).weights
    values = jnp.abs(dot(weights, problem.target(x).inputs.T))
    return jnp.sum(values <= _radius(x)).astype(float)


def _scale(power: int):
    """m n_Q R / (kappa^power delta)."""
    return lambda r: r.x.width * r.x.q * _radius(r.x) / (r.x.failure * _kappa(r.x) ** power)


printed = problem.likely_order(
    "sum_i |S_bar_i| <= C m n_Q R / delta",
    lambda r: r.sim,
    _scale(0),
    over={"scale_share": (1.0, 0.3, 0.1, 0.03), "failure": (0.5, 0.25, 0.125)},
)
markov = problem.likely(
    "with C = sqrt(2 / pi) / kappa",
    lambda r: r.sim,
    lambda r: jnp.sqrt(2 / jnp.pi) * _scale(1)(r),
)
mean_alone = markov.against(lambda r: r.x.failure * markov.rhs(r))

theorem = claims.Theorem(
    space=problem.problem_space(
        p=claims.Size(2, high=64),
        q=claims.Size(2, high=64),
        width=claims.Size(4096, high=65536),
        target_spread=claims.Real(0.01, 30, log=True),
        scale_share=claims.Real(0.01, 1, log=True),
        constant=claims.Real(1e-3, 1, log=True),
        failure=problem.FAILURE,
    ),
    assumes=(problem.REGULAR,),
    simulate=simulate,
    claims=(printed,),
    source=claims.Printed("Appendix C.2, Lemma 5", "sum_i |S_bar_i| <= C m n_Q R / delta"),
    note="the initial scale is lost, with one C for all kappa: small weights have small "
    "preactivations",
    readings=(
        claims.Reading(
            "corrected",
            claims.Corrected("C m n_Q R / (kappa delta)"),
            claims=(printed.against(_scale(1)), markov),
            primary=True,
            note="as Eq. 20 has it",
        ),
    ),
    mutants=(
        claims.Mutant("without kappa, as printed", claims=(printed,)),
        claims.Mutant("the mean, without 1 / delta", claims=(mean_alone,)),
    ),
    keys=128,
    instances=16,
    mutant_instances=16,
)
