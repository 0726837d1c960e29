"""The fine-tuning update with a batch is one step of gradient descent on the loss of that batch.

Eqs. 10 and 11 of Springer et al. (2025), for any weights, any anchor and any batch: both factors
step at once from their old values.
"""

from collections.abc import Callable

import jax
import optax

from theorysim import claims
from theorysim.numerics.descent import descend_to
from theorysim.numerics.products import dot
from theorysim.theorems.overtraining._batch import (
    anchor,
    batch_loss,
    batch_space,
    covariance,
    weights,
)
from theorysim.theorems.overtraining._finetuning import (
    assembled,
    ft_spectrum,
    learning_rate,
    pull_back,
)


def simulate(x: claims.Instance, key):
    optimiser = optax.sgd(learning_rate(x))
    return descend_to(lambda factors: batch_loss(x, factors, x.inputs), weights(x), optimiser, 1)


def _predict(second_error: Callable, share: float = 1.0) -> Callable:
    """Eqs. 10 and 11; `second_error(error, S)` is what stands behind W_1^T in Eq. 11."""

    def predict(x: claims.Instance):
        first, second = weights(x)
        rate = 2 * share * learning_rate(x)
        batch_covariance = covariance(x.inputs)
        error = dot(first, second) - assembled(x, ft_spectrum(x))
        pull = pull_back(x) * (dot(first, second) - anchor(x))
        return (
            first - rate * dot(dot(error, batch_covariance) + pull, second.T),
            second - rate * dot(first.T, second_error(error, batch_covariance) + pull),
        )

    return predict


def _covariance_first(error: jax.Array, batch_covariance: jax.Array):
    return dot(batch_covariance, error)


def _covariance_last(error: jax.Array, batch_covariance: jax.Array):
    return dot(error, batch_covariance)


theorem = claims.Theorem(
    space=batch_space(inputs=claims.Gaussian("batch", "d")),
    simulate=simulate,
    predict=_predict(_covariance_first),
    source=claims.Printed(
        "Eqs. 10 and 11, Appendix A.1",
        "W_2(k+1) = W_2(k) - 2 eta W_1(k)^T Sigma_k (theta(k) - A^ft) - 2 eta lam W_1^T (...)",
    ),
    note="Eq. 11 multiplies the error by the batch's covariance from the wrong side",
    claims=(
        claims.equal("W_1 (Eq. 10)", lambda r: r.sim[0], lambda r: r.theory[0]),
        claims.equal("W_2 (Eq. 11)", lambda r: r.sim[1], lambda r: r.theory[1]),
    ),
    readings=(
        claims.corrected(
            "Eq. 11 has (theta - A^ft) Sigma_k in place of Sigma_k (theta - A^ft)",
            predict=_predict(_covariance_last),
            note="Eq. 11 has the covariance on the wrong side of theta - A^ft",
        ),
    ),
    mutants=(claims.Mutant("half the gradient", predict=_predict(_covariance_last, share=0.5)),),
)
