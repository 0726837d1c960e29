"""The cross Gram matrix of a pretrained network is near that of infinite width, in wide networks.

Lemma 3 (Eq. 11) of Liu et al. (2019), under the conditions of Lemma 1: with probability 1 - delta,
||H_PQ(P) - H_PQ||_F = O(n_P^2 n_Q / (sqrt(m) lambda_P kappa delta^(3/2))). The bound vanishes with
1 / kappa; the deviation of H_PQ(0) from its mean does not know kappa (Eq. 15), and the residual
that training removes grows with kappa. For kappa <= 1 the print survives: E ||H_PQ(0) - H_PQ||_F^2
is at most n_P n_Q / (4 m), far below its square, and with Hoeffding's inequality for Chebyshev's it
does so up to the root of log(n_P n_Q / delta). Lemma 1 then asks for widths that cannot be run, so
that the scales here are above 1. transferability/eq-12 and eq-13-14 have the proof.
"""

import jax.numpy as jnp

from theorysim import claims
from theorysim.numerics.products import dot
from theorysim.theorems.transferability import _problem as problem
from theorysim.theorems.transferability import _training as training


def simulate(x: claims.Instance, key):
    """||H_PQ(P) - H_PQ||_F."""
    network = training.started(x, key)
    ready = training.pretrained(x, network, training.lemma_1_rate(x))
    z_source = training.features(*network, problem.source(x).inputs)
    z_target = training.features(*ready, problem.target(x).inputs)
    return jnp.linalg.norm(dot(z_source.T, z_target) - problem.cross_gram(x))


def _order(r):
    rest = jnp.sqrt(r.x.width) * problem.lambda_p(r.x) * r.x.failure**1.5
    return r.x.p**2 * r.x.q / (rest * r.x.kappa)


def _sampling(r):
    """Eq. 15, corrected."""
    log = jnp.log(2 * r.x.p * r.x.q / r.x.failure)
    return r.x.p * r.x.q * jnp.sqrt(log / (2 * r.x.width))


printed = problem.likely_order(
    "|H_PQ(P) - H_PQ|_F",
    lambda r: r.sim,
    _order,
    over={"kappa": (100.0, 1e3, 1e4, 1e5), "failure": (0.5, 0.25, 0.125)},
)

theorem = claims.Theorem(
    space=training.lemma_1_space(),
    assumes=(problem.REGULAR,),
    hypotheses=training.LEMMA_1,
    requirements={"log10 of the width": lambda x: jnp.log10(training.lemma_1_width(x))},
    simulate=simulate,
    claims=(printed,),
    source=claims.Printed(
        "Appendix C.1, Lemma 3 (Eq. 11)", "O(n_P^2 n_Q / (sqrt(m) lambda_P kappa delta^(3/2)))"
    ),
    note="H_PQ(0) deviates from its mean whatever kappa; for kappa <= 1 the print bounds that, too",
    aliases=("eq-11",),
    readings=(
        claims.Reading(
            "corrected",
            claims.Corrected("(1 + kappa) / kappa for 1 / kappa, plus the error of Eq. 15"),
            claims=(printed.against(lambda r: (1 + r.x.kappa) * _order(r) + _sampling(r)),),
            primary=True,
            note="the sampling error of Eq. 15 added, which no scale makes small",
        ),
    ),
    mutants=(claims.Mutant("without the sampling error, as printed", claims=(printed,)),),
    keys=64,
    instances=16,
    mutant_instances=16,
)
