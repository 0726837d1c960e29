"""With growing batches fine-tuning from the ideal start tends to the infinite-batch dynamics.

Eqs. 16 and 17 of Springer et al. (2025): the dynamics that Eqs. 10 and 11 become when the
covariance of a batch is the identity. Printed with the anchor theta^n(0), the real initialisation,
which lies near the ideal start. Two runs approach it, both at the rate m^(-1/2): gradient descent
on the loss of every batch, and the rule that Eqs. 10 and 11 print. Batches are drawn as
covariances, from their law.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp

from theorysim.claims import (
    Gaussian,
    Instance,
    Mutant,
    Real,
    Run,
    Size,
    Theorem,
    equal,
    scales_as,
)
from theorysim.numerics.descent import iterate
from theorysim.numerics.products import dot
from theorysim.theorems.overtraining._finetuning import (
    fine_tune,
    fine_tune_on,
    fine_tuning_space,
    ideal_start,
    printed_step,
    run_printed,
    sample_covariances,
)

BATCH_SIZES = (64, 512, 4096, 32768)


def _anchor(x: Instance):
    """theta^n(0): the product of factors that miss the ideal ones by a little."""
    first, second = ideal_start(x)
    away = x.closeness * jnp.sqrt(x.scale)
    return dot(first + away * x.first, second + away * x.second)


def simulate(x: Instance, key):
    covariances = sample_covariances(key, x.d, x.m, x.steps)
    run = (x, ideal_start(x), _anchor(x))
    return {
        "population": fine_tune(*run, x.steps),
        "batches": fine_tune_on(*run, covariances),
        "printed": run_printed(*run, covariances),
    }


def _predict(rate_factor: float):
    def predict(x: Instance):
        """Eqs. 16 and 17."""

        def step(state):
            after = printed_step(x, state, _anchor(x), jnp.eye(x.d))
            return jax.tree.map(lambda w, new: w + rate_factor * (new - w), state, after)

        return iterate(step, ideal_start(x), x.steps)

    return predict


def _deviation(run: str):
    """The distance to the infinite batch, in norm over both factors and all steps."""

    def deviation(r: Run):
        squares = [(s - t) ** 2 for s, t in zip(r.sim[run], r.theory)]
        return jnp.sqrt(sum(jnp.sum(square, axis=(-3, -2, -1)) for square in squares))

    return deviation


def _approaches(name: str, run: str):
    return scales_as(name, _deviation(run), over={"m": BATCH_SIZES}, exponent=-0.5)


theorem = Theorem(
    space=fine_tuning_space(
        steps=Size(10, high=1000),
        m=Real(16, 1e6, log=True),
        closeness=Real(1e-8, 1e-2, log=True),
        first=Gaussian("d", "d"),
        second=Gaussian("d", "d"),
    ),
    simulate=simulate,
    predict=_predict(1.0),
    keys=4,
    claims=(
        equal(
            "W_1 (Eq. 16) is descent on the population's loss",
            lambda r: r.sim["population"][0],
            lambda r: r.theory[0],
        ),
        equal(
            "W_2 (Eq. 17) is descent on the population's loss",
            lambda r: r.sim["population"][1],
            lambda r: r.theory[1],
        ),
        _approaches("descent on batches tends to it", "batches"),
        _approaches("the printed rule tends to it", "printed"),
    ),
    mutants=(Mutant("half the gradient", predict=_predict(0.5)),),
)
