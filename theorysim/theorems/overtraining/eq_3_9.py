"""The fine-tuning loss of a batch is a trace with its covariance, and on average the population's.

Eqs. 3 and 9 of Springer et al. (2025) and the two displays behind Eq. 9:
L_ft(theta; B) = Tr((theta - A^ft)^T (theta - A^ft) S) + lam |theta - theta^n(0)|_F^2 with S the
covariance of the batch B; on average |theta - A^ft|_F^2 + lam |theta - theta^n(0)|_F^2. Eq. 3 of
the main text prints this population form at once.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.theorems.overtraining._batch import (
    anchor,
    batch_loss,
    batch_space,
    covariance,
    weights,
)
from theorysim.theorems.overtraining._runs import fine_tuning_loss

BATCHES = 16  # per key


class Losses(NamedTuple):
    """The loss of every batch, as a mean over its inputs and as a trace."""

    batch: Float[Array, " batches"]
    trace: Float[Array, " batches"]


def _simulate(lost_inputs: int):
    """The losses; the covariance divides by the number of inputs less `lost_inputs`."""

    def simulate(x: claims.Instance, key) -> Losses:
        inputs = jax.random.normal(key, (BATCHES, x.batch, x.d))
        trace_form = fine_tuning_loss(x, anchor(x))
        share = x.batch / (x.batch - lost_inputs)
        return Losses(
            batch=jax.vmap(lambda batch: batch_loss(x, weights(x), batch))(inputs),
            trace=jax.vmap(lambda batch: trace_form(weights(x), share * covariance(batch)))(inputs),
        )

    return simulate


def predict(x: claims.Instance):
    return fine_tuning_loss(x, anchor(x))(weights(x))


theorem = claims.Theorem(
    space=batch_space(),
    simulate=_simulate(lost_inputs=0),
    predict=predict,
    keys=128,
    source=claims.Printed(
        "Eq. 9 and the displays after it, Appendix A.1",
        "L_ft(theta; B_k) = Tr((theta - A^ft)^T (theta - A^ft) Sigma_k) + lam |theta - theta(0)|^2",
    ),
    claims=(
        claims.equal("a batch has the trace form", lambda r: r.sim.batch, lambda r: r.sim.trace),
        claims.equal(
            "the average batch has the population's loss",
            lambda r: r.mean(jnp.mean(r.sim.batch, axis=1)),
            lambda r: r.theory,
        ),
    ),
    mutants=(
        claims.Mutant("the loss is halved", predict=lambda x: predict(x) / 2),
        claims.Mutant("the covariance divides by m - 1", simulate=_simulate(lost_inputs=1)),
    ),
)
