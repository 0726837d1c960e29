"""The distance of fine-tuning by the Gram matrix of the start, and by that of infinite width.

Eq. 45 of Liu et al. (2019), with r = y_Q - u_Q(P) as the pretrained network has it: ||W_Q(K) -
W(P)||_F^2 = eta^2 (S r)^T Z_Q(0)^T Z_Q(0) S r + O(m^(-1/4)), S the sum of (I - eta H_Q)^k over
k < K, and = r^T H_Q^(-1) r + O(m^(-1/4)) once fine-tuning has ended. Only the powers of m are
checked, at scales that networks of practical widths bear; Z_Q(0) is that of the random start.
"""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.numerics.products import dot
from theorysim.systems import two_layer_relu_limit as limit
from theorysim.theorems.transferability import _problem as problem
from theorysim.theorems.transferability import _training as training
from theorysim.theorems.transferability._quantiles import quantile

# What is left of the slowest mode is e^-6.
ENOUGH = 6


class Distances(NamedTuple):
    """The squared distance, and both forms of it."""

    real: Float[Array, "*keys"]
    by_start: Float[Array, "*keys"]
    by_limit: Float[Array, "*keys"]


def simulate(x: claims.Instance, key) -> Distances:
    network, inputs = training.started(x, key), problem.target(x).inputs
    ready = training.pretrained(x, network)
    tuned = training.fine_tuned(x, ready)
    rest = x.target_labels - training.outputs(*ready, inputs)
    gram, rate = problem.target_gram(x), problem.stable_rates(x)[1]
    sums = limit.kernel_descent(gram, rest, rate, x.target_steps).coefficients
    start = dot(training.features(*network, inputs), sums)
    return Distances(
        jnp.sum(jnp.square(tuned.weights - ready.weights)),
        jnp.sum(jnp.square(start)),
        problem.form(gram, rest),
    )


def _rate(name: str, form, factor: float = 1.0):
    """Relative to the form: outputs u(0) of any width have the same law, of whatever size."""
    return training.width_rate(name, quantile(lambda r: factor - r.sim.real / form(r.sim)), -1 / 4)


START, LIMIT = "Eq. 45: by Z_Q(0)", "Eq. 45: by H_Q"
by_start = _rate(START, lambda s: s.by_start)
by_limit = _rate(LIMIT, lambda s: s.by_limit)


def _ended(x: claims.Instance):
    rate = problem.stable_rates(x)[1] * problem.lambda_q(x)
    return x.target_steps * rate / ENOUGH - 1


def _wide(x: claims.Instance):
    """On every rung the empirical Gram matrix is near H_Q."""
    samples = (x.q / problem.lambda_q(x)) ** 2 * jnp.log(2 * x.q)
    return training.WIDTHS[0] / samples - 1


theorem = claims.Theorem(
    space=problem.problem_space(
        p=claims.Size(2, high=64),
        q=claims.Size(2, high=64),
        width=claims.Size(256, low=2, high=65536),
        source_steps=claims.Size(16, high=100_000),
        target_steps=claims.Size(64, high=100_000),
        kappa=claims.Real(1, 10, log=True),
        rate_share=claims.Real(0.3, 0.9),
        failure=problem.FAILURE,
    ),
    assumes=(problem.REGULAR,),
    hypotheses={"fine-tuning has ended": _ended, "m >= (n_Q / lambda_Q)^2 log(2 n_Q)": _wide},
    simulate=simulate,
    claims=(by_start, by_limit),
    source=claims.Printed(
        "Appendix C.2, Eq. 45",
        "||W_Q(K) - W(P)||_F^2 = eta^2 (y_Q - u_Q(P))^T sum_k (I - eta H_Q)^k Z_Q(0)^T Z_Q(0) "
        "sum_k (I - eta H_Q)^k (y_Q - u_Q(P)) + O(n_P^5 n_Q^5 / (m^(1/4) lambda_P^4 lambda_Q^4 "
        "kappa^2 delta^(3/2))) = (y_Q - u_Q(P))^T H_Q^(-1) (y_Q - u_Q(P)) + O(n_Q "
        "log(n/delta)^(1/4) / (m^(1/4) lambda_Q)) + ...",
    ),
    mutants=(
        claims.Mutant(
            "half of the form",
            claims=(
                _rate(START, lambda s: s.by_start, 0.5),
                _rate(LIMIT, lambda s: s.by_limit, 0.5),
            ),
        ),
        claims.Mutant("1 / m", claims=(by_start.with_exponent(-1.0), by_limit.with_exponent(-1.0))),
    ),
    keys=32,
    instances=8,
    mutant_instances=8,
)
