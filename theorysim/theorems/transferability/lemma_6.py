"""Features and Gram matrix of the target hardly change during fine-tuning of wide networks.

Lemma 6 of Liu et al. (2019), with probability 1 - delta: ||Z_Q(0) - Z_Q(k)||_F = O(m^(-1/4)) and
||H_Q(0) - H_Q(k)||_F = O(m^(-1/2)), at the printed powers of the width. ||Z_Q(0) - Z_Q(k)||_F^2 is
the share of units per input whose pattern has flipped. The width of Theorem 3 cannot be run: real
networks of practical widths and scales show the powers of m and of kappa (printed: -1 and -2, as
kappa falls). They are silent at first. transferability/eq-36-48 has the other powers.
"""

import jax.numpy as jnp

from theorysim import claims
from theorysim.numerics.products import dot
from theorysim.theorems.transferability import _problem as problem
from theorysim.theorems.transferability import _training as training
from theorysim.theorems.transferability._quantiles import quantile


def simulate(x: claims.Instance, key) -> tuple:
    """||Z_Q(0) - Z_Q(k)||_F, ||H_Q(0) - H_Q(k)||_F and the flips, summed over inputs, per unit."""
    network, inputs = training.silent(x, key), problem.target(x).inputs
    now = training.fine_tuned(x, training.pretrained(x, network))
    before, after = (training.features(*n, inputs) for n in (network, now))
    flips = training.active(now.weights, inputs) != training.active(network.weights, inputs)
    return (
        jnp.linalg.norm(after - before),
        jnp.linalg.norm(dot(after.T, after) - dot(before.T, before)),
        jnp.sum(flips) / x.width,
    )


features = training.width_rate("features", quantile(lambda r: r.sim[0]), -1 / 4)
gram = training.width_rate("gram", quantile(lambda r: r.sim[1]), -1 / 2)


def _in_kappa(name: str, index: int, exponent: float):
    """As kappa falls, the size grows by no more than this power."""
    return claims.scales_as(
        name,
        quantile(lambda r: r.sim[index]),
        over={"kappa": (1.0, 3.0, 9.0)},
        exponent=exponent,
        relation="at_least",
    )


features_kappa = _in_kappa("features, in kappa", 0, -1.0)
gram_kappa = _in_kappa("gram, in kappa", 1, -2.0)
share = claims.equal(
    "|Z_Q(0) - Z_Q(k)|^2 is the share of flips", lambda r: r.sim[0] ** 2, lambda r: r.sim[2]
)

theorem = claims.Theorem(
    space=problem.problem_space(
        width=claims.Size(256, low=2, high=65536),
        source_steps=claims.Size(24, high=100_000),
        target_steps=claims.Size(24, high=100_000),
        kappa=claims.Real(0.3, 10, log=True),
        rate_share=claims.Real(0.3, 0.9),
        failure=problem.FAILURE,
    ),
    assumes=(problem.REGULAR,),
    simulate=simulate,
    claims=(features, gram, features_kappa, gram_kappa, share),
    requirements={"log10 of the width of Theorem 3": training.log_theorem_3_width},
    source=claims.Printed(
        "Appendix C.2, Lemma 6",
        "||Z_Q(0) - Z_Q(k)||_F = O(n_P^(3/2) n_Q^(5/4) / sqrt(m^(1/2) lambda_P^2 lambda_Q kappa^2 "
        "delta^(3/2))), ||H_Q(0) - H_Q(k)||_F = O(n_P^3 n_Q^(7/2) / (sqrt(m) lambda_P^2 lambda_Q "
        "kappa^2 delta^(3/2)))",
    ),
    mutants=(
        claims.Mutant(
            "the square of the rates",
            claims=(features.with_exponent(-1 / 2), gram.with_exponent(-1.0)),
        ),
        claims.Mutant(
            "free of kappa",
            claims=(features_kappa.with_exponent(0.0), gram_kappa.with_exponent(0.0)),
        ),
        claims.Mutant("half of the flips", claims=(share.scaled(1 / 2),)),
    ),
    keys=16,
    instances=8,
    mutant_instances=8,
)
