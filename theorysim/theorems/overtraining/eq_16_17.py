"""With growing batches fine-tuning from the ideal start tends to the infinite-batch dynamics.

Eqs. 16 and 17 of Springer et al. (2025): the dynamics that Eqs. 10 and 11 become when the
covariance of a batch is the identity. Printed with the anchor theta^n(0), the real initialisation,
which lies near the ideal start. Two runs approach it, both at the rate m^(-1/2): gradient descent
on the loss of every batch, and the rule that Eqs. 10 and 11 print. Batches are drawn as
covariances, from their law.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp

from theorysim import claims
from theorysim.numerics.descent import iterate
from theorysim.numerics.products import dot
from theorysim.theorems.overtraining._batch_sizes import sample_covariances
from theorysim.theorems.overtraining._finetuning import Factors, fine_tuning_space, ideal_start
from theorysim.theorems.overtraining._runs import fine_tune, fine_tune_on, printed_step, run_printed

BATCH_SIZES = (64, 512, 4096, 32768)


class Runs(NamedTuple):
    """Both factors along three runs: the population's, descent on batches, Eqs. 10 and 11."""

    population: Factors
    batches: Factors
    printed: Factors


def _anchor(x: claims.Instance):
    """theta^n(0): the product of factors that miss the ideal ones by a little."""
    first, second = ideal_start(x)
    away = x.closeness * jnp.sqrt(x.scale)
    return dot(first + away * x.first, second + away * x.second)


def simulate(x: claims.Instance, key):
    covariances = sample_covariances(key, x.d, x.m, x.steps)
    run = (x, ideal_start(x), _anchor(x))
    return Runs(
        population=fine_tune(*run, x.steps),
        batches=fine_tune_on(*run, covariances),
        printed=run_printed(*run, covariances),
    )


def _predict(rate_factor: float):
    def predict(x: claims.Instance):
        """Eqs. 16 and 17."""

        def step(state):
            after = printed_step(x, state, _anchor(x), jnp.eye(x.d))
            return jax.tree.map(lambda w, new: w + rate_factor * (new - w), state, after)

        return iterate(step, ideal_start(x), x.steps)

    return predict


def _is_descent(name: str, factor: int):
    return claims.equal(
        f"{name} is descent on the population's loss",
        lambda r: r.sim.population[factor],
        lambda r: r.theory[factor],
    )


def _deviation(run: Factors, r: claims.Run):
    """The distance to the infinite batch, in norm over both factors and all steps."""
    squares = [(s - t) ** 2 for s, t in zip(run, r.theory)]
    return jnp.sqrt(sum(jnp.sum(square, axis=(-3, -2, -1)) for square in squares))


def _approaches(name: str, run: Callable):
    return claims.scales_as(
        name, lambda r: _deviation(run(r.sim), r), over={"m": BATCH_SIZES}, exponent=-0.5
    )


theorem = claims.Theorem(
    space=fine_tuning_space(
        steps=claims.Size(10, high=1000),
        m=claims.Real(16, 1e6, log=True),
        closeness=claims.Real(1e-8, 1e-2, log=True),
        first=claims.Gaussian("d", "d"),
        second=claims.Gaussian("d", "d"),
    ),
    simulate=simulate,
    predict=_predict(1.0),
    source=claims.Printed(
        "Eqs. 16 and 17, Appendix A.3",
        "W_1(k+1) = W_1(k) - 2 eta (theta - A^ft) W_2^T - 2 eta lam (theta - theta^n(0)) W_2^T",
    ),
    keys=4,
    claims=(
        _is_descent("W_1 (Eq. 16)", 0),
        _is_descent("W_2 (Eq. 17)", 1),
        _approaches("descent on batches tends to it", lambda runs: runs.batches),
        _approaches("the printed rule tends to it", lambda runs: runs.printed),
    ),
    mutants=(claims.Mutant("half the gradient", predict=_predict(0.5)),),
)
