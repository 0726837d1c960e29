"""What the statements on transferability share: two tasks, their Gram matrices, learning rates.

Section 6.1 of Liu et al. (2019). Source (P) and target (Q) inputs are unit rows, from clustered to
isotropic; |labels| <= 1. The loss is half the SUM of squares, so its Hessian in the outputs is 1.
"""

from collections.abc import Callable, Mapping

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from theorysim import claims
from theorysim.numerics import kernels
from theorysim.numerics.products import dot
from theorysim.systems import two_layer_relu as relu
from theorysim.systems import two_layer_relu_limit as limit

NORMALISATION = "half_sum"
HIGHEST = jax.lax.Precision.HIGHEST

# The statements assume invertible Gram matrices. Below this share of the largest eigenvalue (the
# root of the precision) the inverse keeps less than half of the digits.
REGULAR_SHARE = 2.0**-26

FAILURE = claims.Real(0.05, 0.5, log=True)
"""delta"""


def problem_space(**parts: claims.Size | claims.Field) -> claims.Space:
    """Two tasks; `parts` add to the shared fields and sizes or replace them."""
    shared: dict[str, claims.Size | claims.Field] = {
        "d": claims.Size(4, low=2, high=64),
        "p": claims.Size(3, high=64),
        "q": claims.Size(3, high=64),
        "source_scatter": claims.Gaussian("p", "d"),
        "source_centre": claims.UnitVector("d"),
        "source_spread": claims.Real(0.3, 30, log=True),
        "source_labels": claims.Real(-1, 1, shape="p"),
        "target_scatter": claims.Gaussian("q", "d"),
        "target_centre": claims.UnitVector("d"),
        "target_spread": claims.Real(0.3, 30, log=True),
        "target_labels": claims.Real(-1, 1, shape="q"),
    }
    return claims.Space(**{**shared, **parts})


def nothing_to_run(x: claims.Instance, key: PRNGKeyArray) -> Float[Array, ""]:
    """The simulation of a statement about numbers alone."""
    return jnp.zeros(())


def _unit_rows(rows: Float[Array, "n d"]) -> Float[Array, "n d"]:
    return rows / jnp.linalg.norm(rows, axis=1, keepdims=True)


def source(x: claims.Instance) -> relu.Task:
    """X_P and y_P, one sample per row."""
    rows = x.source_centre + x.source_spread * x.source_scatter
    return relu.Task(_unit_rows(rows), x.source_labels)


def target(x: claims.Instance) -> relu.Task:
    """X_Q and y_Q, one sample per row."""
    rows = x.target_centre + x.target_spread * x.target_scatter
    return relu.Task(_unit_rows(rows), x.target_labels)


def source_gram(x: claims.Instance) -> Float[Array, "p p"]:
    """H_P at infinite width (Eq. 1)."""
    return kernels.tangent_gram(source(x).inputs, source(x).inputs)


def target_gram(x: claims.Instance) -> Float[Array, "q q"]:
    """H_Q at infinite width (Eq. 2)."""
    return kernels.tangent_gram(target(x).inputs, target(x).inputs)


def cross_gram(x: claims.Instance) -> Float[Array, "p q"]:
    """H_PQ at infinite width (Eq. 3)."""
    return kernels.tangent_gram(source(x).inputs, target(x).inputs)


def joint_inputs(x: claims.Instance) -> Float[Array, "p_plus_q d"]:
    """Source inputs above target inputs."""
    return jnp.concatenate([source(x).inputs, target(x).inputs])


def joint_gram(x: claims.Instance) -> Float[Array, "p_plus_q p_plus_q"]:
    """The Gram matrix of both tasks, source first."""
    return kernels.tangent_gram(joint_inputs(x), joint_inputs(x))


def smallest(gram: Float[Array, "n n"]) -> Float[Array, ""]:
    """lambda_min."""
    return jnp.linalg.eigvalsh(gram)[0]


def largest(gram: Float[Array, "n n"]) -> Float[Array, ""]:
    """lambda_max."""
    return jnp.linalg.eigvalsh(gram)[-1]


def lambda_p(x: claims.Instance) -> Float[Array, ""]:
    """The smallest eigenvalue of H_P."""
    return smallest(source_gram(x))


def lambda_q(x: claims.Instance) -> Float[Array, ""]:
    """The smallest eigenvalue of H_Q."""
    return smallest(target_gram(x))


def solve(gram: Float[Array, "n n"], right: Float[Array, " n"]) -> Float[Array, " n"]:
    """H^(-1) times a vector, by Cholesky."""
    return jax.scipy.linalg.cho_solve((jnp.linalg.cholesky(gram), True), right)


def form(gram: Float[Array, "n n"], vector: Float[Array, " n"]) -> Float[Array, ""]:
    """v^T H^(-1) v."""
    return jnp.sum(vector * solve(gram, vector))


def transferred(x: claims.Instance) -> Float[Array, " q"]:
    """y_(P->Q) = H_PQ^T H_P^(-1) y_P."""
    return dot(cross_gram(x).T, solve(source_gram(x), x.source_labels))


def mismatch(x: claims.Instance) -> Float[Array, " q"]:
    """y_Q - y_(P->Q)."""
    return x.target_labels - transferred(x)


def regular(gram: Float[Array, "n n"]) -> Float[Array, ""]:
    """The margin with which a Gram matrix counts as invertible."""
    eigenvalues = jnp.linalg.eigvalsh(gram)
    return eigenvalues[0] / eigenvalues[-1] - REGULAR_SHARE


_INVERTIBLE = claims.Printed(
    "Section 6.1, below Eq. 3",
    "Assume Gram matrices H_P and H_Q are invertible with smallest eigenvalue lambda_P and "
    "lambda_Q greater than zero.",
)

_SOURCE = {"lambda_P > 0": lambda x: regular(source_gram(x))}
_TARGET = {"lambda_Q > 0": lambda x: regular(target_gram(x))}

REGULAR = claims.Assumption("H_P and H_Q are invertible", _INVERTIBLE, {**_SOURCE, **_TARGET})
REGULAR_SOURCE = claims.Assumption("H_P is invertible", _INVERTIBLE, _SOURCE)
REGULAR_TARGET = claims.Assumption("H_Q is invertible", _INVERTIBLE, _TARGET)


def stable_rates(x: claims.Instance) -> tuple[Float[Array, ""], Float[Array, ""]]:
    """Learning rates of both stages: a share of the largest at infinite width, 2/lambda_max."""
    grams = source_gram(x), target_gram(x)
    return tuple(x.rate_share * limit.largest_learning_rate(g, NORMALISATION) for g in grams)


def likely(name: str, lhs: Callable, rhs: Callable, statement: str = "") -> claims.Claim:
    """lhs <= rhs with probability 1 - delta."""
    chance = lambda r: 1 - r.x.failure  # noqa: E731
    return claims.with_probability(name, lhs, rhs, at_least=chance, statement=statement)


def likely_order(name: str, samples: Callable, scale: Callable, over: Mapping) -> claims.Claim:
    """With probability 1 - delta, samples are at most a constant times a scale."""

    def quantile(r):
        return jnp.quantile(samples(r), 1 - r.x.failure)

    return claims.exists_constant(name, quantile, scale, over=over)
