"""The part of pretraining outside of the features of the start, against its printed order.

Eq. 9 of Liu et al. (2019), with probability 1 - delta: ||eps|| = O(n_P kappa / (lambda_P delta)) +
O(n_P^2 / (m^(1/4) lambda_P^(3/2) kappa^(1/2) delta)), eps what vec(W(P) - W(0)) has beside the sum
of eta Z_P(0) (I - eta H_P)^k y_P. Real networks start at random. In those that start silent (pairs
of opposite signs) the first term is absent, and the second one's power of kappa is measured: as
kappa falls, eps grows by kappa^(-1/2) at most. No width is asked for: the first rungs of kappa are
far from the lazy regime.
"""

import jax.numpy as jnp

from theorysim import claims
from theorysim.numerics.products import dot
from theorysim.systems import two_layer_relu_limit as limit
from theorysim.theorems.transferability import _problem as problem
from theorysim.theorems.transferability import _training as training
from theorysim.theorems.transferability._quantiles import quantile


def simulate(x: claims.Instance, key) -> tuple:
    """||eps|| from a random start and from a silent one."""
    gram, rate = problem.source_gram(x), problem.stable_rates(x)[0]
    sums = limit.kernel_descent(gram, x.source_labels, rate, x.source_steps).coefficients

    def eps(network):
        ready = training.pretrained(x, network)
        lead = dot(
            training.features(network.weights, network.signs, problem.source(x).inputs), sums
        )
        return jnp.linalg.norm(training.vec(ready.weights - network.weights) - lead)

    return eps(training.started(x, key)), eps(training.silent(x, key))


def _order(power: float):
    """The printed order, with n_P kappa^power / (lambda_P delta)."""

    def scale(r):
        lam, kappa = problem.lambda_p(r.x), r.x.kappa
        second = r.x.p**2 / (r.x.width**0.25 * lam**1.5 * kappa**0.5)
        return (r.x.p * kappa**power / lam + second) / r.x.failure

    over = {
        "width": (128, 512, 2048),
        "kappa": (1.0, 10.0, 100.0, 1000.0),
        "source_spread": (1.0, 0.6, 0.36),
        "failure": (0.5, 0.25, 0.125),
        "p": (2, 4, 8),
    }
    return problem.likely_order("Eq. 9: |eps|", lambda r: r.sim[0], scale, over)


in_kappa = claims.scales_as(
    "Eq. 9: the second term, in kappa",
    quantile(lambda r: r.sim[1]),
    over={"kappa": (1.0, 3.0, 9.0)},
    exponent=-1 / 2,
    relation="at_least",
)

theorem = claims.Theorem(
    space=problem.problem_space(
        p=claims.Size(2, high=64),
        width=claims.Size(512, low=2, high=65536),
        source_steps=claims.Size(48, high=100_000),
        kappa=claims.Real(0.3, 1000, log=True),
        failure=problem.FAILURE,
        rate_share=claims.Real(0.3, 0.9),
    ),
    assumes=(problem.REGULAR_SOURCE,),
    simulate=simulate,
    claims=(_order(1.0), in_kappa),
    source=claims.Printed(
        "Appendix C, Eq. 9",
        "||eps||_2 = O(n_P kappa / (lambda_P delta)) + O(n_P^2 / (m^(1/4) lambda_P^(3/2) "
        "kappa^(1/2) delta))",
    ),
    mutants=(
        claims.Mutant("the first term free of kappa", claims=(_order(0.0),)),
        claims.Mutant("kappa^(1/2) in the second term", claims=(in_kappa.with_exponent(0.5),)),
    ),
    keys=128,
    instances=8,
    mutant_instances=8,
)
