"""Untrained outputs are centred with covariance kappa^2 Sigma, and so of size kappa sqrt(n).

Section 6.1 of Liu et al. (2019): w_r ~ N(0, kappa^2 I), a_r = +-1 with equal chances. At every
width E u_i u_j = kappa^2 (sin t + (pi - t) cos t) / (2 pi) with t the angle of two inputs. Above
Eq. 47, with probability 1 - delta: ||u_Q(0)|| = O(sqrt(n_Q) kappa / sqrt(delta)); Markov's
inequality has the constant 1/sqrt(2). The proof of Lemma 4 says the same of y_Q - u_Q(0).
"""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.numerics.kernels import activation_gram
from theorysim.theorems.transferability import _problem as problem
from theorysim.theorems.transferability import _training as training


class Moments(NamedTuple):
    """Mean and second moments of the outputs."""

    mean: Float[Array, " p_plus_q"]
    second: Float[Array, "p_plus_q p_plus_q"]


def simulate(x: claims.Instance, key):
    """Outputs on source and target inputs."""
    network = training.started(x, key)
    return training.outputs(network.weights, network.signs, problem.joint_inputs(x))


def predict(x: claims.Instance) -> Moments:
    inputs = problem.joint_inputs(x)
    return Moments(jnp.zeros(len(inputs)), x.kappa**2 * activation_gram(inputs, inputs))


def one_sign(x: claims.Instance) -> Moments:
    mean = x.kappa * jnp.sqrt(x.width / (2 * jnp.pi))
    return predict(x)._replace(mean=jnp.full(x.p + x.q, mean))


def relu_of_full_variance(x: claims.Instance) -> Moments:
    right = predict(x)
    return right._replace(second=2 * right.second)


def _target_outputs(r):
    return r.sim[:, r.x.p :]


def _order(r):
    """kappa sqrt(n_Q / delta)."""
    return r.x.kappa * jnp.sqrt(r.x.q / r.x.failure)


mean = claims.equal("E u = 0", lambda r: r.mean(r.sim), lambda r: r.theory.mean)
second = claims.equal(
    "E u u^T = kappa^2 Sigma",
    lambda r: r.mean(r.sim[:, :, None] * r.sim[:, None]),
    lambda r: r.theory.second,
)
markov = problem.likely(
    "|u_Q(0)| <= kappa sqrt(n_Q / (2 delta))",
    lambda r: jnp.linalg.norm(_target_outputs(r), axis=1),
    lambda r: _order(r) / jnp.sqrt(2),
)
with_labels = problem.likely_order(
    "(v) of order kappa sqrt(n_Q / delta)",
    lambda r: jnp.linalg.norm(r.x.target_labels - _target_outputs(r), axis=1),
    _order,
    over={"kappa": (0.1, 0.01, 1e-3, 1e-4)},
)
inverted = markov.against(lambda r: _order(r) * r.x.failure / jnp.sqrt(2))

theorem = claims.Theorem(
    space=problem.problem_space(
        width=claims.Size(16, high=65536),
        kappa=claims.Real(1e-4, 10, log=True),
        failure=claims.Real(0.02, 0.5, log=True),
    ),
    simulate=simulate,
    predict=predict,
    claims=(mean, second, markov),
    source=claims.Printed(
        "Section 6.1 and above Eq. 47", "||u_Q(0)|| = O(sqrt(n_Q) kappa / sqrt(delta))"
    ),
    readings=(
        claims.Reading(
            "end of the proof of Lemma 4",
            claims.Printed(
                "proof of Lemma 4, last line", "||y_Q - u_Q(0)|| = O(kappa sqrt(n_Q) / sqrt(delta))"
            ),
            claims=(with_labels,),
            note="true of u_Q(0) alone: the labels do not vanish with kappa",
        ),
    ),
    mutants=(
        claims.Mutant("all signs equal", predict=one_sign),
        claims.Mutant("E relu(w)^2 = kappa^2, not half of it", predict=relu_of_full_variance),
        claims.Mutant("sqrt(delta) for 1 / sqrt(delta)", claims=(inverted,)),
    ),
    keys=512,
    instances=16,
    mutant_instances=16,
)
