"""Fine-tuning converges linearly, at half the smallest eigenvalue of the target's Gram matrix.

Theorem 3 (Eq. 35) and Condition 1 of Liu et al. (2019): with probability 1 - delta,
||u_Q(k) - y_Q||^2 <= (1 - eta lambda_Q / 2)^k ||u_Q(P) - y_Q||^2 for all k, where eta =
O(lambda_Q / n_Q^2), kappa = O(lambda_P^2 delta / (n_P^2 sqrt(n_Q))) and m = Omega(n_P^8 n_Q^6 /
(lambda_P^16 lambda_P^4 kappa^2 delta^10)). All orders are read with the constant one. No network of
that width can be run: it follows the law of infinite width, which transferability/ntk-two-stage
checks, from outputs u(0) drawn from theirs. The second lambda_P in print must be lambda_Q: no width
that is free of lambda_Q will do.
"""

from __future__ import annotations

import jax.numpy as jnp

from theorysim.claims import (
    Instance,
    Mutant,
    Printed,
    Reading,
    Real,
    Size,
    Theorem,
    with_probability,
)
from theorysim.systems import two_layer_relu as relu
from theorysim.systems import two_layer_relu_limit as limit
from theorysim.theorems.transferability import _training as training
from theorysim.theorems.transferability._problem import (
    HYPOTHESES,
    NORMALISATION,
    joint_gram,
    joint_inputs,
    problem_space,
    smallest,
    source,
    source_gram,
    stable_rates,
    target,
    target_gram,
)

RECORDED = 16

# Steps in units of the longest time 1 / (eta lambda_Q).
ENOUGH = 20


def _rate(x: Instance):
    return x.rate_share * smallest(target_gram(x)) / x.q**2


def simulate(x: Instance, key):
    """log ||u_Q(k) - y_Q|| at infinite width."""
    start = limit.sample_initial_outputs(key, joint_inputs(x), x.kappa)
    steps = jnp.linspace(0, x.target_steps, RECORDED + 1)
    before = limit.Stage(x.source_labels, start[: x.p], stable_rates(x)[0], x.source_steps)
    after = limit.Stage(x.target_labels, start[x.p :], _rate(x), steps)
    path = limit.transfer(joint_gram(x), before, after, normalisation=NORMALISATION)
    return {"norm": jnp.linalg.norm(path.fine_tuning.residual, axis=-1), "steps": steps}


def simulate_frozen(x: Instance, key):
    """The same of a network of finite width that is silent at first, in the limit of large scales.

    Patterns stay those of the start then, and its own Gram matrix carries it to the end.
    """
    network = relu.initialise_silent(key, x.width, x.d, 1.0)
    inputs, zero = joint_inputs(x), jnp.zeros(x.p + x.q)
    gram = relu.empirical_gram(network, inputs, network, inputs)
    end = ENOUGH / (_rate(x) * smallest(target_gram(x)))
    steps = jnp.linspace(0, end, RECORDED + 1)
    before = limit.Stage(x.source_labels, zero[: x.p], stable_rates(x)[0], x.source_steps)
    after = limit.Stage(x.target_labels, zero[x.p :], _rate(x), steps)
    path = limit.transfer(gram, before, after, normalisation=NORMALISATION)
    return {"norm": jnp.linalg.norm(path.fine_tuning.residual, axis=-1), "steps": steps}


def simulate_networks(x: Instance, key):
    """The same of a real network, pretrained and fine-tuned."""
    network = training.started(x, key)
    ready = relu.train_to(
        network, source(x), stable_rates(x)[0], x.source_steps, normalisation=NORMALISATION
    )

    def record(now):
        return jnp.linalg.norm(relu.outputs(now, target(x).inputs) - x.target_labels)

    every = x.target_steps // RECORDED
    norm = relu.train(
        ready,
        target(x),
        _rate(x),
        x.target_steps,
        normalisation=NORMALISATION,
        record=record,
        every=every,
    )
    return {"norm": norm, "steps": every * jnp.arange(RECORDED + 1.0)}


def _largest_scale(x: Instance):
    return smallest(source_gram(x)) ** 2 * x.failure / (x.p**2 * jnp.sqrt(x.q))


def _log_width(x: Instance):
    eigenvalue = smallest(source_gram(x))
    rest = eigenvalue**20 * jnp.minimum(x.kappa, _largest_scale(x)) ** 2 * x.failure**10
    return jnp.log10(x.p**8 * x.q**6) - jnp.log10(rest)


def _lazy(x: Instance):
    """Scales at which units of the widths that can be run move by less than their size."""
    return x.kappa - 1


def _width_for_target(x: Instance):
    """(n_Q / lambda_Q)^2 log(n_Q / delta): the empirical Gram matrix is near H_Q."""
    return (x.q / smallest(target_gram(x))) ** 2 * jnp.log(x.q / x.failure)


def _claims(share: float) -> tuple:
    """In logarithms, because both sides run over many orders of magnitude."""

    def decay(r):
        shrink = share * _rate(r.x) * smallest(target_gram(r.x))
        return r.sim["steps"][:, 1:] * jnp.log1p(-shrink)

    def ratio(r):
        return 2 * jnp.log(r.sim["norm"][:, 1:] / r.sim["norm"][:, :1])

    return (
        with_probability(
            "log of the contraction",
            ratio,
            decay,
            at_least=lambda r: 1 - r.x.failure,
            statement="||u_Q(k) - y_Q||^2 <= (1 - eta lambda_Q/2)^k ||u_Q(P) - y_Q||^2",
        ),
    )


theorem = Theorem(
    space=problem_space(
        q=Size(2, high=64),
        target_spread=Real(1e-4, 30, log=True),
        width=Size(1024, high=65536),
        source_steps=Size(16, high=100_000),
        target_steps=Size(64, low=16, high=100_000),
        kappa=Real(1e-6, 10, log=True),
        failure=Real(0.15, 0.5, log=True),
        rate_share=Real(0.05, 0.95, log=True),
    ),
    hypotheses={**HYPOTHESES, "kappa": lambda x: _largest_scale(x) / x.kappa - 1},
    requirements={"log10 of the width": _log_width},
    simulate=simulate,
    claims=_claims(1 / 2),
    printed="as printed, at infinite width",
    aliases=("condition-1", "eq-35"),
    readings=(
        Reading(
            "networks of a width free of lambda_Q",
            Printed("", ""),
            simulate=simulate_frozen,
            hypotheses=HYPOTHESES,
            note="nearly parallel inputs share all patterns: lambda_P^4 in print is lambda_Q^4",
        ),
        Reading(
            "networks, wide for lambda_Q",
            Printed("", ""),
            simulate=simulate_networks,
            hypotheses={
                **HYPOTHESES,
                "kappa >= 1": _lazy,
                "m >= (n_Q / lambda_Q)^2 log(n_Q / delta)": lambda x: (
                    x.width / _width_for_target(x) - 1
                ),
            },
            requirements={"log10 of the width": _log_width},
        ),
    ),
    mutants=(Mutant("ten times as fast", claims=_claims(10.0)),),
    keys=64,
    instances=16,
    mutant_instances=16,
)
