"""During pretraining no unit moves far from its start.

Lemma 1 (Eq. 10) of Liu et al. (2019), from Du et al. (2019): with m = Omega(n_P^6 / (lambda_P^4
kappa^2 delta^3)) and eta = O(lambda_P / n_P^2), probability 1 - delta,
||w_r(k) - w_r(0)|| <= 4 sqrt(n_P) ||y_P - u_P(0)|| / (sqrt(m) lambda_P) for all r and k. Both
orders are read with the constant one; the scale kappa has no upper bound.
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
from theorysim.theorems.transferability import _training as training
from theorysim.theorems.transferability._problem import (
    HYPOTHESES,
    NORMALISATION,
    problem_space,
    smallest,
    source,
    source_gram,
)


def _rate(x: Instance):
    return x.rate_share * smallest(source_gram(x)) / x.p**2


def simulate(x: Instance, key):
    """The largest movement of a unit along pretraining, and ||y_P - u_P(0)||."""
    network, task = training.started(x, key), source(x)
    start = jnp.linalg.norm(task.labels - relu.outputs(network, task.inputs))

    def record(now):
        return relu.observe(now, network, task, NORMALISATION).movement

    moved = relu.train(
        network, task, _rate(x), x.source_steps, normalisation=NORMALISATION, record=record, every=8
    )
    return {"movement": moved, "start": start}


def _demanded(x: Instance):
    return x.p**6 / (smallest(source_gram(x)) ** 4 * x.kappa**2 * x.failure**3)


def _claims(constant: float) -> tuple:
    def bound(r):
        width = jnp.sqrt(r.x.width) * smallest(source_gram(r.x))
        return constant * jnp.sqrt(r.x.p) * r.sim["start"][:, None] / width

    return (
        with_probability(
            "movement of every unit",
            lambda r: r.sim["movement"],
            bound,
            at_least=lambda r: 1 - r.x.failure,
        ),
    )


theorem = Theorem(
    space=problem_space(
        p=Size(2, high=64),
        width=Size(256, high=65536),
        source_steps=Size(128, high=100_000),
        kappa=Real(1e-2, 100, log=True),
        failure=Real(0.05, 0.5, log=True),
        rate_share=Real(0.05, 1, log=True),
    ),
    hypotheses={
        "lambda_P > 0": HYPOTHESES["lambda_P > 0"],
        "width": lambda x: x.width / _demanded(x) - 1,
    },
    requirements={"log10 of the width": lambda x: jnp.log10(_demanded(x))},
    simulate=simulate,
    claims=_claims(4.0),
    readings=(
        Reading(
            "any width",
            Printed("", ""),
            hypotheses={"lambda_P > 0": HYPOTHESES["lambda_P > 0"]},
            note="outside of the hypotheses: whatever the width and the scale",
        ),
    ),
    mutants=(Mutant("a hundredth of the bound", claims=_claims(0.04)),),
    keys=128,
    instances=16,
    mutant_instances=16,
)
