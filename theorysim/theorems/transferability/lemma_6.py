"""Features and Gram matrix of the target hardly change during fine-tuning of wide networks.

Lemma 6 of Liu et al. (2019), with probability 1 - delta: ||Z_Q(0) - Z_Q(k)||_F = O(m^(-1/4)) and
||H_Q(0) - H_Q(k)||_F = O(m^(-1/2)), at the printed powers of the width. ||Z_Q(0) - Z_Q(k)||_F^2 is
the share of units per input whose pattern has flipped. Real networks are silent at first.
"""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.numerics.products import dot
from theorysim.theorems.transferability import _training as training
from theorysim.theorems.transferability._problem import REGULAR, problem_space, target

WIDTHS = (256, 1024, 4096)


class Changes(NamedTuple):
    """From the random start to the end of fine-tuning."""

    features: Float[Array, " keys"]
    """||Z_Q(0) - Z_Q(k)||_F"""
    gram: Float[Array, " keys"]
    """||H_Q(0) - H_Q(k)||_F"""
    flips: Float[Array, " keys"]
    """units that change their pattern, summed over inputs, over the width"""


def simulate(x: claims.Instance, key) -> Changes:
    network, inputs = training.silent(x, key), target(x).inputs
    now = training.fine_tuned(x, training.pretrained(x, network))
    before, after = (training.features(*n, inputs) for n in (network, now))
    flips = training.active(now.weights, inputs) != training.active(network.weights, inputs)
    return Changes(
        jnp.linalg.norm(after - before),
        jnp.linalg.norm(dot(after.T, after) - dot(before.T, before)),
        jnp.sum(flips) / x.width,
    )


def _rate(name: str, change, exponent: float):
    """The root of the mean square over keys."""
    return claims.scales_as(
        name,
        lambda r: jnp.sqrt(jnp.mean(jnp.square(change(r)))),
        over={"width": WIDTHS},
        exponent=exponent,
        relation="at_most",
    )


features = _rate("features", lambda r: r.sim.features, -1 / 4)
gram = _rate("gram", lambda r: r.sim.gram, -1 / 2)
share = claims.equal(
    "|Z_Q(0) - Z_Q(k)|^2 is the share of flips", lambda r: r.sim.features**2, lambda r: r.sim.flips
)

theorem = claims.Theorem(
    space=problem_space(
        width=claims.Size(256, low=2, high=65536),
        source_steps=claims.Size(24, high=100_000),
        target_steps=claims.Size(24, high=100_000),
        kappa=claims.Real(0.3, 10, log=True),
        rate_share=claims.Real(0.3, 0.9),
    ),
    assumes=(REGULAR,),
    simulate=simulate,
    claims=(features, gram, share),
    source=claims.Printed(
        "Appendix C.3, Lemma 6",
        "||Z_Q(0) - Z_Q(k)||_F = O(n_P^(3/2) n_Q^(5/4) / sqrt(m^(1/2) lambda_P^2 lambda_Q kappa^2 "
        "delta^(3/2))), ||H_Q(0) - H_Q(k)||_F = O(n_P^3 n_Q^(7/2) / (sqrt(m) lambda_P^2 lambda_Q "
        "kappa^2 delta^(3/2)))",
    ),
    mutants=(
        claims.Mutant(
            "the square of the rates",
            claims=(features.with_exponent(-1 / 2), gram.with_exponent(-1.0)),
        ),
        claims.Mutant("half of the flips", claims=(share.scaled(1 / 2),)),
    ),
    keys=16,
    instances=8,
    mutant_instances=8,
)
