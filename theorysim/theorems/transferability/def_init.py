"""Untrained outputs are centred with covariance kappa^2 Sigma, and so of size kappa sqrt(n).

Section 6.1 of Liu et al. (2019): w_r ~ N(0, kappa^2 I), a_r = +-1 with equal chances. At every
width E u_i u_j = kappa^2 (sin t + (pi - t) cos t) / (2 pi) with t the angle of two inputs. Above
Eq. 47, with probability 1 - delta: ||u_Q(0)|| = O(sqrt(n_Q) kappa / sqrt(delta)); Markov's
inequality has the constant 1/sqrt(2).
"""

from __future__ import annotations

import jax.numpy as jnp

from theorysim.claims import Instance, Mutant, Real, Size, Theorem, equal, with_probability
from theorysim.numerics.kernels import activation_gram
from theorysim.systems.two_layer_relu import outputs
from theorysim.theorems.transferability._problem import joint_inputs, problem_space
from theorysim.theorems.transferability._training import KAPPA, started


def simulate(x: Instance, key):
    """Outputs on source and target inputs."""
    return outputs(started(x, key), joint_inputs(x))


def predict(x: Instance):
    """Mean and covariance."""
    inputs = joint_inputs(x)
    return jnp.zeros(len(inputs)), x.kappa**2 * activation_gram(inputs, inputs)


def one_sign(x: Instance):
    """The same with all a_r = 1 for the mean, and kappa for its square."""
    inputs = joint_inputs(x)
    mean = jnp.full(len(inputs), x.kappa * jnp.sqrt(x.width / (2 * jnp.pi)))
    return mean, x.kappa * activation_gram(inputs, inputs)


def _target_norm(r):
    return jnp.linalg.norm(r.sim[:, r.x.p :], axis=1)


def _markov(r):
    return r.x.kappa * jnp.sqrt(r.x.q / (2 * r.x.failure))


def _claims(constant: float) -> tuple:
    return (
        equal("E u = 0", lambda r: r.mean(r.sim), lambda r: r.theory[0]),
        equal(
            "E u u^T = kappa^2 Sigma",
            lambda r: r.mean(r.sim[:, :, None] * r.sim[:, None]),
            lambda r: r.theory[1],
        ),
        with_probability(
            "|u_Q(0)| <= kappa sqrt(n_Q / (2 delta))",
            _target_norm,
            lambda r: constant * _markov(r),
            at_least=lambda r: 1 - r.x.failure,
        ),
    )


theorem = Theorem(
    space=problem_space(width=Size(16, high=65536), kappa=KAPPA, failure=Real(0.02, 0.5, log=True)),
    simulate=simulate,
    predict=predict,
    claims=_claims(1.0),
    mutants=(Mutant("signs all equal, kappa unsquared", predict=one_sign, claims=_claims(0.1)),),
    keys=512,
    instances=16,
    mutant_instances=16,
)
