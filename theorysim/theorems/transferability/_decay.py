"""What the statements on Theorem 3 compare: the residual of fine-tuning and its linear decay."""

from collections.abc import Callable
from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.systems import two_layer_relu_limit as limit
from theorysim.theorems.transferability import _problem as problem
from theorysim.theorems.transferability._training import theorem_3_rate

RECORDED = 16


class Decay(NamedTuple):
    """Along fine-tuning."""

    norm: Float[Array, "*keys times"]
    """||u_Q(k) - y_Q||"""
    steps: Float[Array, "*keys times"]
    """k"""


def decay_space(**parts: claims.Size | claims.Field) -> claims.Space:
    """Target inputs that can be near each other, and both stages; `parts` add to the fields."""
    return problem.problem_space(
        q=claims.Size(2, high=64),
        target_spread=claims.Real(1e-4, 30, log=True),
        **parts,
        source_steps=claims.Size(16, high=100_000),
        target_steps=claims.Size(64, low=16, high=100_000),
        kappa=claims.Real(1e-6, 10, log=True),
        failure=claims.Real(0.15, 0.5, log=True),
        rate_share=claims.Real(0.05, 0.95, log=True),
    )


def linear_decay(
    x: claims.Instance,
    gram: Float[Array, "p_plus_q p_plus_q"],
    start: Float[Array, " p_plus_q"],
    end: Float[Array, ""] | int,
) -> Decay:
    """Both stages of a network whose Gram matrix stays, from these outputs, up to step `end`."""
    steps = jnp.linspace(0, end, RECORDED + 1)
    rate = problem.stable_rates(x)[0]
    before = limit.Stage(x.source_labels, start[: x.p], rate, x.source_steps)
    after = limit.Stage(x.target_labels, start[x.p :], theorem_3_rate(x), steps)
    path = limit.transfer(gram, before, after, normalisation=problem.NORMALISATION)
    return Decay(jnp.linalg.norm(path.fine_tuning.residual, axis=-1), steps)


def log_bound(eigenvalue: Callable[[claims.Instance], Float[Array, ""]]) -> Callable:
    """k ln(1 - eta lambda / 2): in logarithms, because both sides run over many orders."""
    return lambda r: r.sim.steps[:, 1:] * jnp.log1p(-theorem_3_rate(r.x) * eigenvalue(r.x) / 2)


contraction = problem.likely(
    "log of the contraction",
    lambda r: 2 * jnp.log(r.sim.norm[:, 1:] / r.sim.norm[:, :1]),
    log_bound(problem.lambda_q),
    statement="||u_Q(k) - y_Q||^2 <= (1 - eta lambda_Q/2)^k ||u_Q(P) - y_Q||^2",
)
