"""Fine-tuning converges linearly, at half the smallest eigenvalue of the target's Gram matrix.

Theorem 3 (Eq. 35) and Condition 1 of Liu et al. (2019): with probability 1 - delta,
||u_Q(k) - y_Q||^2 <= (1 - eta lambda_Q / 2)^k ||u_Q(P) - y_Q||^2 for all k, where eta =
O(lambda_Q / n_Q^2), kappa = O(lambda_P^2 delta / (n_P^2 sqrt(n_Q))) and m = Omega(n_P^8 n_Q^6 /
(lambda_P^16 lambda_P^4 kappa^2 delta^10)). All orders are read with the constant one. No network of
that width can be run: it follows the law of infinite width, which transferability/ntk-two-stage
checks, from outputs u(0) drawn from theirs. transferability/theorem-3-widths has real networks.
"""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.systems import two_layer_relu_limit as limit
from theorysim.theorems.transferability._problem import (
    NORMALISATION,
    REGULAR,
    joint_gram,
    joint_inputs,
    problem_space,
    smallest,
    source_gram,
    stable_rates,
    target_gram,
)

RECORDED = 16


class Decay(NamedTuple):
    """Along fine-tuning."""

    norm: Float[Array, "keys times"]
    """||u_Q(k) - y_Q||"""
    steps: Float[Array, "keys times"]
    """k"""


def rate(x: claims.Instance):
    """eta: a share of lambda_Q / n_Q^2."""
    return x.rate_share * smallest(target_gram(x)) / x.q**2


def simulate(x: claims.Instance, key) -> Decay:
    start = limit.sample_initial_outputs(key, joint_inputs(x), x.kappa)
    steps = jnp.linspace(0, x.target_steps, RECORDED + 1)
    before = limit.Stage(x.source_labels, start[: x.p], stable_rates(x)[0], x.source_steps)
    after = limit.Stage(x.target_labels, start[x.p :], rate(x), steps)
    path = limit.transfer(joint_gram(x), before, after, normalisation=NORMALISATION)
    return Decay(jnp.linalg.norm(path.fine_tuning.residual, axis=-1), steps)


def _largest_scale(x: claims.Instance):
    return smallest(source_gram(x)) ** 2 * x.failure / (x.p**2 * jnp.sqrt(x.q))


def _log_width(x: claims.Instance):
    rest = smallest(source_gram(x)) ** 20 * x.kappa**2 * x.failure**10
    return jnp.log10(x.p**8 * x.q**6) - jnp.log10(rest)


def _ratio(r):
    return 2 * jnp.log(r.sim.norm[:, 1:] / r.sim.norm[:, :1])


def decay(eigenvalue):
    """In logarithms, because both sides run over many orders of magnitude."""
    return lambda r: r.sim.steps[:, 1:] * jnp.log1p(-rate(r.x) * eigenvalue(r.x) / 2)


contraction = claims.with_probability(
    "log of the contraction",
    _ratio,
    decay(lambda x: smallest(target_gram(x))),
    at_least=lambda r: 1 - r.x.failure,
    statement="||u_Q(k) - y_Q||^2 <= (1 - eta lambda_Q/2)^k ||u_Q(P) - y_Q||^2",
)
theorem = claims.Theorem(
    space=problem_space(
        q=claims.Size(2, high=64),
        target_spread=claims.Real(1e-4, 30, log=True),
        source_steps=claims.Size(16, high=100_000),
        target_steps=claims.Size(64, low=16, high=100_000),
        kappa=claims.Real(1e-6, 10, log=True),
        failure=claims.Real(0.15, 0.5, log=True),
        rate_share=claims.Real(0.05, 0.95, log=True),
    ),
    assumes=(REGULAR,),
    hypotheses={"kappa": lambda x: _largest_scale(x) / x.kappa - 1},
    requirements={"log10 of the width": _log_width},
    simulate=simulate,
    claims=(contraction,),
    printed="as printed, at infinite width",
    source=claims.Printed(
        "Appendix C.2, Theorem 3 (Eq. 35)",
        "||u_Q(k) - y_Q||_2^2 <= (1 - eta lambda_Q / 2)^k ||u_Q(P) - y_Q||_2^2",
    ),
    aliases=("condition-1", "eq-35"),
    mutants=(
        claims.Mutant(
            "the largest eigenvalue of H_Q for the smallest",
            claims=(contraction.against(decay(lambda x: jnp.linalg.eigvalsh(target_gram(x))[-1])),),
        ),
    ),
    keys=64,
    instances=16,
    mutant_instances=16,
)
