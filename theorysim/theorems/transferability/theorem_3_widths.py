"""How wide a network must be to converge as Theorem 3 says: (n_Q / lambda_Q)^2 log(n_Q / delta).

The width that Theorem 3 of Liu et al. (2019) sets has lambda_P twice, as lambda_P^16 lambda_P^4,
and no lambda_Q, which enters by the unnamed polynomial of Theorem 1's conditions alone. That
lambda_Q^4 is meant is our guess: with it, the steps of the proof go through
(transferability/theorem-3-choices). Nearly parallel target inputs share all patterns in a network
that knows nothing of their angle, and their difference is then learned at the rate of its square.
Runs of networks have 64 steps, less than the time 1 / (eta lambda_Q). At the printed scales of
kappa they show nothing in that time, and much later units of practical widths turn: none is run.
"""

import jax.numpy as jnp

from theorysim import claims
from theorysim.theorems.transferability import _decay as decay
from theorysim.theorems.transferability import _problem as problem
from theorysim.theorems.transferability import _training as training

# Steps in units of the longest time 1 / (eta lambda_Q).
ENOUGH = 20


def simulate(x: claims.Instance, key) -> decay.Decay:
    """A real network, pretrained and fine-tuned."""
    ready = training.pretrained(x, training.started(x, key))

    def record(now):
        outputs = training.outputs(now.weights, now.signs, problem.target(x).inputs)
        return jnp.linalg.norm(outputs - x.target_labels)

    every, rate = x.target_steps // decay.RECORDED, training.theorem_3_rate(x)
    norm = training.fine_tuning(x, ready, record, every=every, rate=rate)
    return decay.Decay(norm, every * jnp.arange(decay.RECORDED + 1.0))


def simulate_frozen(x: claims.Instance, key) -> decay.Decay:
    """A network that is silent at first, in the limit of large scales.

    Patterns stay those of the start then, and its own Gram matrix carries it to the end.
    """
    network = training.silent(x.replace(kappa=1.0), key)
    z = training.features(*network, problem.joint_inputs(x))
    gram = jnp.einsum("mi,mj->ij", z, z, precision="highest")
    end = ENOUGH / (training.theorem_3_rate(x) * problem.lambda_q(x))
    return decay.linear_decay(x, gram, jnp.zeros(x.p + x.q), end)


def _width(x: claims.Instance):
    """The empirical Gram matrix is near H_Q."""
    return (x.q / problem.lambda_q(x)) ** 2 * jnp.log(x.q / x.failure)


theorem = claims.Theorem(
    space=decay.decay_space(width=claims.Size(1024, high=65536)),
    assumes=(problem.REGULAR,),
    hypotheses={
        # Scales at which units of the widths that can be run move by less than their size.
        "kappa >= 1": lambda x: x.kappa - 1,
        "m >= (n_Q / lambda_Q)^2 log(n_Q / delta)": lambda x: x.width / _width(x) - 1,
    },
    simulate=simulate,
    claims=(decay.contraction,),
    printed="networks, wide for lambda_Q",
    source=claims.Finding("real networks of practical widths and scales, not the printed ones"),
    note="Theorem 3 holds of real networks once their Gram matrix is near H_Q",
    readings=(
        claims.Reading(
            "networks of a width free of lambda_Q",
            claims.Finding("networks of 1024 units whose patterns stay, whatever lambda_Q"),
            simulate=simulate_frozen,
            hypotheses={},
            note="the width must know lambda_Q: by the polynomial of Theorem 1's conditions, or by "
            "lambda_Q^4 for lambda_P^4 in print",
        ),
    ),
    mutants=(
        claims.Mutant(
            "n_Q, a bound of the largest eigenvalue, for lambda_Q",
            claims=(decay.contraction.against(decay.log_bound(lambda x: x.q)),),
        ),
    ),
    keys=64,
    instances=16,
    mutant_instances=16,
)
