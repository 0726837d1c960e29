"""Batch sizes that keep covariances near the identity: Assumption A.13, as printed and corrected.

Section A.3.2 of Springer et al. (2025); what Lemmas A.12, A.14 and A.20 and Assumption A.21 share.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.claims.source import Source
from theorysim.systems.batch_covariance import wishart

# A value of Lemma A.12's constant C_1, whose existence is all that the paper states; the lemma's
# own check verifies it.
BATCH_CONSTANT = 5.0


def printed_batch(d: Any, steps: Any, failure: Any, constant: Any, accuracy: Any) -> Any:
    """The least batch size as printed: C_1^2 (d - log(10 K delta)) / eps^2."""
    return constant**2 * (d - jnp.log(10 * steps * failure)) / accuracy**2


def union_batch(d: Any, steps: Any, failure: Any, constant: Any, accuracy: Any) -> Any:
    """The least batch size that a union bound over K batches needs in its place."""
    return constant**2 * (d + jnp.log(steps / failure)) / accuracy**2


def least_batch(d: int, required: Any) -> Float[Array, ""]:
    """A batch size that meets a requirement and makes a covariance regular.

    It exceeds the requirement by a thousandth, so that the rounding of neither matters.
    """
    return jnp.maximum(jnp.ceil(1.001 * required), d)


def sample_covariances(
    key: Array, d: int, batch: Float[Array, ""], steps: int
) -> Float[Array, "steps d d"]:
    """Independent covariances of so many batches."""
    keys = jax.random.split(key, steps)
    return jax.vmap(lambda k: wishart(k, d, batch))(keys)


@dataclass(frozen=True)
class BatchSize:
    """The batch size of a version of the assumption, for the accuracy epsilon of a statement."""

    name: str
    source: Source
    formula: Callable[..., Any]
    accuracy: Callable[[claims.Instance], Any] = lambda x: x.accuracy

    def required(self, x: claims.Instance) -> Float[Array, ""]:
        """What the formula asks for, possibly nothing."""
        return self.formula(x.d, x.steps, x.failure, BATCH_CONSTANT, self.accuracy(x))

    def batch(self, x: claims.Instance) -> Float[Array, ""]:
        """m."""
        return least_batch(x.d, self.required(x))

    def covariances(self, x: claims.Instance, key: Array) -> Float[Array, "steps d d"]:
        """Those of the run's batches, drawn from their law."""
        return sample_covariances(key, x.d, self.batch(x), x.steps)

    @cache  # noqa: B019  one object per version and accuracy
    def assumption(self) -> claims.Assumption:
        """The batch is as large as required."""
        return claims.Assumption(
            self.name,
            self.source,
            {self.name: lambda x: 1 - self.required(x) / self.batch(x)},
            requirements={"batch size": self.batch},
        )


AS_PRINTED = BatchSize(
    "Assumption A.13",
    claims.Printed(
        "Assumption A.13, Appendix A.3.2", "m >= C_1^2 (d - log(10 K delta)) / epsilon^2"
    ),
    printed_batch,
)
UNION = BatchSize(
    "union bound",
    claims.Corrected("m >= C_1^2 (d + log(K / delta)) / epsilon^2, which grows with K"),
    union_batch,
)
