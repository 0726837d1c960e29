"""A step of fine-tuning changes the outputs by at most eta n_Q times the residual.

Proof of Theorem 3 of Liu et al. (2019): ||u_Q(k+1) - u_Q(k)||^2 <= eta^2 sum_i (sum_r
||dL/dw_r||)^2 / m <= eta^2 n_Q^2 ||y_Q - u_Q(k)||^2, along real fine-tuning.
"""

import jax.numpy as jnp

from theorysim import claims
from theorysim.theorems.transferability import _problem as problem
from theorysim.theorems.transferability import _training as training


def simulate(x: claims.Instance, key) -> tuple:
    """y_Q - u_Q(k) and sum_r ||dL/dw_r||, along fine-tuning."""
    path, inputs = training.paths(x, training.started(x, key)), problem.target(x).inputs
    residual = x.target_labels - training.outputs(path.target, path.signs, inputs)
    pattern = training.active(path.target[:-1], inputs)
    slopes = jnp.einsum("tri,ti,id->trd", pattern, residual[:-1], inputs, precision="highest")
    lengths = jnp.linalg.norm(slopes, axis=-1) / jnp.sqrt(x.width)
    return residual, jnp.sum(lengths, axis=-1)


def _change(r):
    """||u_Q(k+1) - u_Q(k)||^2."""
    residual, _ = r.sim
    return jnp.sum(jnp.square(jnp.diff(residual, axis=0)), axis=-1)


def _by_slopes(r):
    """sum_i (sum_r ||dL/dw_r||)^2 / m."""
    _, slopes = r.sim
    return r.x.q * slopes**2 / r.x.width


def _squares(r):
    residual, _ = r.sim
    return jnp.sum(jnp.square(residual[:-1]), axis=-1)


def _by_residual(r):
    """n_Q^2 ||y_Q - u_Q(k)||^2."""
    return r.x.q**2 * _squares(r)


gradients = claims.at_most(
    "T7: by the gradients", _change, lambda r: problem.stable_rates(r.x)[1] ** 2 * _by_slopes(r)
)
residual = claims.at_most("T7: by the residual", _by_slopes, _by_residual)
one_output = gradients.against(lambda r: gradients.rhs(r) / r.x.q)
one_sample = residual.against(_squares)
lower_power = residual.against(lambda r: r.x.q**1.5 * _squares(r))

theorem = claims.Theorem(
    # So many samples that another power of their number shows.
    space=training.training_space(q=claims.Size(24, high=64)),
    assumes=(problem.REGULAR,),
    simulate=simulate,
    claims=(gradients, residual),
    source=claims.Printed(
        "proof of Theorem 3", "||u_Q(k+1) - u_Q(k)||^2 <= eta^2 n_Q^2 ||y_Q - u_Q(k)||^2"
    ),
    mutants=(
        claims.Mutant("one output for the sum over all", claims=(one_output,)),
        claims.Mutant("without n_Q^2", claims=(one_sample,)),
        claims.Mutant("n_Q^(3/2) for n_Q^2", claims=(lower_power,)),
    ),
    instances=32,
    mutant_instances=32,
)
