"""How wide a network must be to converge as Theorem 3 says: (n_Q / lambda_Q)^2 log(n_Q / delta).

The width that Theorem 3 of Liu et al. (2019) asks for has lambda_P twice, as lambda_P^16
lambda_P^4; lambda_Q does not enter. Nearly parallel target inputs share all patterns in a network
that knows nothing of their angle, and their difference is then learned at the rate of its square.
"""

import jax.numpy as jnp

from theorysim import claims
from theorysim.systems import two_layer_relu_limit as limit
from theorysim.theorems.transferability import _training as training
from theorysim.theorems.transferability._problem import (
    NORMALISATION,
    REGULAR,
    joint_inputs,
    problem_space,
    smallest,
    stable_rates,
    target,
    target_gram,
)
from theorysim.theorems.transferability.theorem_3 import RECORDED, Decay, contraction, decay, rate

# Steps in units of the longest time 1 / (eta lambda_Q).
ENOUGH = 20


def simulate(x: claims.Instance, key) -> Decay:
    """A real network, pretrained and fine-tuned."""
    ready = training.pretrained(x, training.started(x, key))

    def record(now):
        outputs = training.outputs(now.weights, now.signs, target(x).inputs)
        return jnp.linalg.norm(outputs - x.target_labels)

    every = x.target_steps // RECORDED
    norm = training.fine_tuning(x, ready, record, every=every, rate=rate(x))
    return Decay(norm, every * jnp.arange(RECORDED + 1.0))


def simulate_frozen(x: claims.Instance, key) -> Decay:
    """A network that is silent at first, in the limit of large scales.

    Patterns stay those of the start then, and its own Gram matrix carries it to the end.
    """
    network = training.silent(x.replace(kappa=1.0), key)
    z, zero = training.features(*network, joint_inputs(x)), jnp.zeros(x.p + x.q)
    gram = jnp.einsum("mi,mj->ij", z, z, precision="highest")
    end = ENOUGH / (rate(x) * smallest(target_gram(x)))
    steps = jnp.linspace(0, end, RECORDED + 1)
    before = limit.Stage(x.source_labels, zero[: x.p], stable_rates(x)[0], x.source_steps)
    after = limit.Stage(x.target_labels, zero[x.p :], rate(x), steps)
    path = limit.transfer(gram, before, after, normalisation=NORMALISATION)
    return Decay(jnp.linalg.norm(path.fine_tuning.residual, axis=-1), steps)


def _width(x: claims.Instance):
    """The empirical Gram matrix is near H_Q."""
    return (x.q / smallest(target_gram(x))) ** 2 * jnp.log(x.q / x.failure)


theorem = claims.Theorem(
    space=problem_space(
        q=claims.Size(2, high=64),
        target_spread=claims.Real(1e-4, 30, log=True),
        width=claims.Size(1024, high=65536),
        source_steps=claims.Size(16, high=100_000),
        target_steps=claims.Size(64, low=16, high=100_000),
        kappa=claims.Real(1e-6, 10, log=True),
        failure=claims.Real(0.15, 0.5, log=True),
        rate_share=claims.Real(0.05, 0.95, log=True),
    ),
    assumes=(REGULAR,),
    hypotheses={
        # Scales at which units of the widths that can be run move by less than their size.
        "kappa >= 1": lambda x: x.kappa - 1,
        "m >= (n_Q / lambda_Q)^2 log(n_Q / delta)": lambda x: x.width / _width(x) - 1,
    },
    simulate=simulate,
    claims=(contraction,),
    printed="networks, wide for lambda_Q",
    source=claims.Finding(
        "real networks of practical widths and scales, outside of the printed ones"
    ),
    note="Theorem 3 holds of real networks once their Gram matrix is near H_Q",
    readings=(
        claims.Reading(
            "networks of a width free of lambda_Q",
            claims.Finding("networks of 1024 units whose patterns stay, whatever lambda_Q"),
            simulate=simulate_frozen,
            hypotheses={},
            note="the width must know lambda_Q: lambda_P^4 in print is lambda_Q^4",
        ),
    ),
    mutants=(
        claims.Mutant(
            "n_Q, a bound of the largest eigenvalue, for lambda_Q",
            claims=(contraction.against(decay(lambda x: x.q)),),
        ),
    ),
    keys=64,
    instances=16,
    mutant_instances=16,
)
