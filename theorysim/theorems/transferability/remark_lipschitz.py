"""Pretraining lowers the activation gradient exactly where |y_(P->Q)|^2 < 2 y_Q^T y_(P->Q).

Text below Theorem 1 of Liu et al. (2019): if ||y_Q - y_(P->Q)||^2 is small, "the Lipschitzness of
loss function will be significantly improved"; if the tasks are completely different, y_(P->Q)
results "in larger Lipschitz constant". Its leading terms say that the squared gradient changes by
||y_Q - y_(P->Q)||^2 - ||y_Q||^2: a small mismatch improves nothing where ||y_Q|| is smaller still.
Real networks start silent and are pretrained to the end.
"""

import jax.numpy as jnp

from theorysim import claims
from theorysim.theorems.transferability import _problem as problem
from theorysim.theorems.transferability import _training as training

# What is left of the slowest mode of pretraining is e^-6.
ENOUGH = 6

# Outputs of width m are this many |y_P| / (lambda_P sqrt(m)) from their limit at most: of 291 draws
# at m = 1024, half were within 0.18, one in a hundred beyond 0.69, and none beyond 0.95.
FAR = 2


def simulate(x: claims.Instance, key):
    """The squared gradient after pretraining, minus that of the start."""
    network, inputs = training.silent(x, key), problem.target(x).inputs
    outputs = training.outputs(*training.pretrained(x, network), inputs)
    return jnp.sum(outputs * (outputs - 2 * x.target_labels))


def predict(x: claims.Instance):
    """|t|^2 - 2 y_Q^T t, t = y_(P->Q)."""
    lead = problem.transferred(x)
    return jnp.sum(lead * (lead - 2 * x.target_labels))


def of_the_product(x: claims.Instance):
    return -jnp.sum(problem.transferred(x) * x.target_labels)


def _clear(r):
    """How far the predicted change is beyond what a finite width may add to it."""
    lead, labels = problem.transferred(r.x), r.x.target_labels
    error = FAR * jnp.linalg.norm(r.x.source_labels) / (problem.lambda_p(r.x) * r.x.width**0.5)
    lengths = jnp.linalg.norm(lead) + jnp.linalg.norm(labels)
    return jnp.abs(predict(r.x)) - error * (2 * lengths + error)


sign = claims.at_least(
    "the sign of the change",
    lambda r: r.sim * jnp.sign(r.theory),
    lambda r: jnp.zeros(()),
    where=_clear,
)
less = claims.at_most(
    "close tasks",
    lambda r: r.sim,
    lambda r: jnp.zeros(()),
    where=lambda r: r.x.closeness - jnp.linalg.norm(problem.mismatch(r.x)),
)


def _ended(x: claims.Instance):
    return x.source_steps * problem.stable_rates(x)[0] * problem.lambda_p(x) / ENOUGH - 1


theorem = claims.Theorem(
    space=problem.problem_space(
        p=claims.Size(2, high=64),
        q=claims.Size(2, high=64),
        width=claims.Size(1024, high=65536),
        source_steps=claims.Size(64, high=100_000),
        kappa=claims.Real(1, 10, log=True),
        rate_share=claims.Real(0.3, 0.9),
        closeness=claims.Real(0.3, 1),
    ),
    assumes=(problem.REGULAR,),
    hypotheses={"pretraining has ended": _ended},
    simulate=simulate,
    predict=predict,
    claims=(sign,),
    printed="the rule of Theorem 1",
    source=claims.Finding("the sign of the leading terms of Theorem 1, of real networks"),
    readings=(
        claims.Reading(
            "a small mismatch",
            claims.Finding("a mismatch below some length, whatever y_Q: as the text may be read"),
            claims=(less,),
            note="small beside y_Q is meant: labels near zero are matched best without pretraining",
        ),
    ),
    mutants=(
        claims.Mutant("|t|^2 for 2 y_Q^T t, with the other sign", predict=lambda x: -predict(x)),
        claims.Mutant("the sign of -y_Q^T t", predict=of_the_product),
    ),
    instances=64,
    mutant_instances=64,
)
