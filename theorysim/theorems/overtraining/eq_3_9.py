"""The fine-tuning loss of a batch is a trace with its covariance, and on average the population's.

Eqs. 3 and 9 of Springer et al. (2025) and the two displays behind Eq. 9:
L_ft(theta; B) = Tr((theta - A^ft)^T (theta - A^ft) S) + lam |theta - theta^n(0)|_F^2 with S the
covariance of the batch B; on average |theta - A^ft|_F^2 + lam |theta - theta^n(0)|_F^2. Eq. 3 of
the main text prints this population form at once.
"""

import jax
import jax.numpy as jnp

from theorysim import claims
from theorysim.theorems.overtraining import _batch as batch
from theorysim.theorems.overtraining._runs import fine_tuning_loss

BATCHES = 16  # per key


def _simulate(lost_inputs: int):
    """The loss of every batch, as a mean over its inputs and as a trace.

    The covariance divides by the number of inputs less `lost_inputs`.
    """

    def simulate(x: claims.Instance, key):
        inputs = jax.random.normal(key, (BATCHES, x.batch, x.d))
        trace_form = fine_tuning_loss(x, batch.anchor(x))
        share = x.batch / (x.batch - lost_inputs)
        return (
            jax.vmap(lambda b: batch.batch_loss(x, batch.weights(x), b))(inputs),
            jax.vmap(lambda b: trace_form(batch.weights(x), share * batch.covariance(b)))(inputs),
        )

    return simulate


def predict(x: claims.Instance):
    return fine_tuning_loss(x, batch.anchor(x))(batch.weights(x))


theorem = claims.Theorem(
    space=batch.batch_space(),
    simulate=_simulate(lost_inputs=0),
    predict=predict,
    keys=128,
    source=claims.Printed(
        "Eq. 9 and the displays after it, Appendix A.1",
        "L_ft(theta; B_k) = Tr((theta - A^ft)^T (theta - A^ft) Sigma_k) + lam |theta - theta(0)|^2",
    ),
    claims=(
        claims.equal("a batch has the trace form", lambda r: r.sim[0], lambda r: r.sim[1]),
        claims.equal(
            "the average batch has the population's loss",
            lambda r: r.mean(jnp.mean(r.sim[0], axis=1)),
            lambda r: r.theory,
        ),
    ),
    mutants=(
        claims.Mutant("the loss is halved", predict=lambda x: predict(x) / 2),
        claims.Mutant("the covariance divides by m - 1", simulate=_simulate(lost_inputs=1)),
    ),
)
