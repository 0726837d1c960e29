"""A step of fine-tuning changes the outputs by at most eta n_Q times the residual.

Proof of Theorem 3 of Liu et al. (2019): ||u_Q(k+1) - u_Q(k)||^2 <= eta^2 sum_i (sum_r
||dL/dw_r||)^2 / m <= eta^2 n_Q^2 ||y_Q - u_Q(k)||^2, along real fine-tuning.
"""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.theorems.transferability import _training as training
from theorysim.theorems.transferability._problem import REGULAR, problem_space, stable_rates, target


class Steps(NamedTuple):
    """Along fine-tuning."""

    residual: Float[Array, "times_plus_1 q"]
    """y_Q - u_Q(k)"""
    slopes: Float[Array, " times"]
    """sum_r ||dL/dw_r||"""


def simulate(x: claims.Instance, key) -> Steps:
    path, inputs = training.paths(x, training.started(x, key)), target(x).inputs
    residual = x.target_labels - training.outputs(path.target, path.signs, inputs)
    pattern = training.active(path.target[:-1], inputs)
    slopes = jnp.einsum("tri,ti,id->trd", pattern, residual[:-1], inputs, precision="highest")
    lengths = jnp.linalg.norm(slopes, axis=-1) / jnp.sqrt(x.width)
    return Steps(residual, jnp.sum(lengths, axis=-1))


def _change(r):
    """||u_Q(k+1) - u_Q(k)||^2."""
    return jnp.sum(jnp.square(jnp.diff(r.sim.residual, axis=0)), axis=-1)


def _by_slopes(r):
    """sum_i (sum_r ||dL/dw_r||)^2 / m."""
    return r.x.q * r.sim.slopes**2 / r.x.width


def _by_residual(r):
    """n_Q^2 ||y_Q - u_Q(k)||^2."""
    return r.x.q**2 * jnp.sum(jnp.square(r.sim.residual[:-1]), axis=-1)


gradients = claims.at_most(
    "T7: by the gradients", _change, lambda r: stable_rates(r.x)[1] ** 2 * _by_slopes(r)
)
residual = claims.at_most("T7: by the residual", _by_slopes, _by_residual)

theorem = claims.Theorem(
    space=problem_space(**training.SIZES, kappa=training.KAPPA, rate_share=claims.Real(0.05, 0.95)),
    assumes=(REGULAR,),
    simulate=simulate,
    claims=(gradients, residual),
    source=claims.Printed(
        "proof of Theorem 3",
        "||u_Q(k+1) - u_Q(k)||^2 <= eta^2 sum_i (sum_r ||dL/dw_(Q,r)||)^2 / m <= eta^2 n_Q^2 "
        "||y_Q - u_Q(k)||^2",
    ),
    mutants=(
        claims.Mutant(
            "one output for the sum over all",
            claims=(gradients.against(lambda r: gradients.rhs(r) / r.x.q),),
        ),
        claims.Mutant(
            "without n_Q^2", claims=(residual.against(lambda r: _by_residual(r) / r.x.q**2),)
        ),
    ),
    instances=32,
    mutant_instances=32,
)
