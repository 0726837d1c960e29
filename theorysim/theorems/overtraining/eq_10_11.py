"""The fine-tuning update with a batch is one step of gradient descent on the loss of that batch.

Eqs. 10 and 11 of Springer et al. (2025), for any weights, any anchor and any batch: both factors
step at once from their old values.
"""

from collections.abc import Callable

import optax

from theorysim import claims
from theorysim.numerics.descent import descend_to
from theorysim.numerics.products import dot
from theorysim.theorems.overtraining import _batch as batch
from theorysim.theorems.overtraining import _finetuning as ft


def simulate(x: claims.Instance, key):
    optimiser = optax.sgd(ft.learning_rate(x))
    return descend_to(
        lambda factors: batch.batch_loss(x, factors, x.inputs), batch.weights(x), optimiser, 1
    )


def _predict(second_error: Callable, share: float = 1.0) -> Callable:
    """Eqs. 10 and 11; `second_error(error, S)` is what stands behind W_1^T in Eq. 11."""

    def predict(x: claims.Instance):
        first, second = batch.weights(x)
        rate = 2 * share * ft.learning_rate(x)
        covariance = batch.covariance(x.inputs)
        error = dot(first, second) - ft.assembled(x, ft.ft_spectrum(x))
        pull = ft.pull_back(x) * (dot(first, second) - batch.anchor(x))
        return (
            first - rate * dot(dot(error, covariance) + pull, second.T),
            second - rate * dot(first.T, second_error(error, covariance) + pull),
        )

    return predict


theorem = claims.Theorem(
    space=batch.batch_space(inputs=claims.Gaussian("batch", "d")),
    simulate=simulate,
    predict=_predict(lambda error, covariance: dot(covariance, error)),
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
            predict=_predict(dot),
            note="Eq. 11 has the covariance on the wrong side of theta - A^ft",
        ),
    ),
    mutants=(claims.Mutant("half the gradient", predict=_predict(dot, share=0.5)),),
)
