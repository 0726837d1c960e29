"""As the width grows, both stages of training tend to those of a linear model in closed form.

What Section 6 of Liu et al. (2019) rests on: with patterns frozen at W(0), u_Q(k) - y_Q =
-(I - eta H_Q)^k r with r = y_Q - u_Q(P), u_Q(P) = u_Q(0) + H_PQ^T A y_P, A the sum of
eta (I - eta H_P)^k over pretraining, and the weights move by sqrt(c^T H c). Real networks start
silent (pairs of opposite signs, so that u(0) = 0). Every error falls at least as m^(-1/4), the
paper's rate, and is measured to fall as m^(-1/2).
"""

from __future__ import annotations

import jax.numpy as jnp

from theorysim.claims import Instance, Mutant, Printed, Reading, Real, Size, Theorem, scales_as
from theorysim.systems import two_layer_relu as relu
from theorysim.systems import two_layer_relu_limit as limit
from theorysim.theorems.transferability import _training as training
from theorysim.theorems.transferability._problem import (
    HYPOTHESES,
    NORMALISATION,
    joint_gram,
    problem_space,
    source,
    stable_rates,
    target,
)

WIDTHS = (128, 512, 2048)
RATE = -1 / 4


def simulate(x: Instance, key):
    """Both stages of a real network, observed on the target and, at the end, on the source."""
    network = training.silent(x, key)
    first, second = stable_rates(x)
    ready = relu.train_to(network, source(x), first, x.source_steps, normalisation=NORMALISATION)

    def record(now):
        here = relu.observe(now, ready, target(x), NORMALISATION)
        there = relu.observe(now, network, source(x), NORMALISATION)
        return {
            "u_Q(k)": here.outputs,
            "|W_Q(k) - W(P)|": here.distance,
            "|W_Q(k) - W(0)|": there.distance,
            "u_P after k steps": there.outputs,
            "loss": here.loss,
        }

    steps = x.target_steps
    path = relu.train(
        ready, target(x), second, steps, normalisation=NORMALISATION, record=record, every=4
    )
    before = relu.observe(ready, network, source(x), NORMALISATION)
    return {**path, "|W(P) - W(0)|": before.distance}


def _predict(share: float):
    def predict(x: Instance):
        first, second = stable_rates(x)
        stages = (
            limit.Stage(x.source_labels, jnp.zeros(x.p), first, x.source_steps),
            limit.Stage(
                x.target_labels,
                jnp.zeros(x.q),
                share * second,
                jnp.arange(0, x.target_steps + 1, 4),
            ),
        )
        path = limit.transfer(joint_gram(x), *stages, normalisation=NORMALISATION)
        return {
            "u_Q(k)": path.target_outputs,
            "|W_Q(k) - W(P)|": path.fine_tuning.distance,
            "|W_Q(k) - W(0)|": path.distance,
            "u_P after k steps": path.source_outputs,
            "loss": path.target_loss,
            "|W(P) - W(0)|": share * path.pretraining.distance,
        }

    return predict


OBSERVABLES = (
    "u_Q(k)",
    "loss",
    "|W(P) - W(0)|",
    "|W_Q(k) - W(P)|",
    "|W_Q(k) - W(0)|",
    "u_P after k steps",
)


def _falls(name: str, exponent: float, relation: str):
    def error(r):
        apart = jnp.square(r.sim[name] - r.theory[name]).reshape(len(r.sim[name]), -1)
        return jnp.sqrt(jnp.mean(jnp.max(apart, axis=1)))

    return scales_as(
        f"error of {name}",
        error,
        over={"width": WIDTHS},
        exponent=exponent,
        relation=relation,
    )


theorem = Theorem(
    space=problem_space(
        width=Size(128, low=2, high=65536),
        source_steps=Size(12, high=100_000),
        target_steps=Size(12, high=100_000),
        kappa=Real(1, 10, log=True),
        rate_share=Real(0.3, 0.9),
    ),
    hypotheses=HYPOTHESES,
    simulate=simulate,
    predict=_predict(1.0),
    claims=tuple(_falls(name, RATE, "at_most") for name in OBSERVABLES),
    printed="errors of order m^(-1/4)",
    readings=(
        Reading(
            "errors of order m^(-1/2)",
            Printed("", ""),
            claims=tuple(_falls(name, 2 * RATE, "equal") for name in OBSERVABLES),
            note="the fluctuation of the empirical Gram matrices, once the scale keeps them lazy",
        ),
    ),
    mutants=(Mutant("fine-tuning at half the rate", predict=_predict(0.5)),),
    keys=32,
    instances=8,
    mutant_instances=8,
)
