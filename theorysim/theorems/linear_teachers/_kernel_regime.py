"""What the statements on ReLU networks share: inputs, and both stages of training.

Section 6 of Shachaf et al. (2021). D is a continuous law of unit vectors, so that Assumption 3.1
holds with probability one; the population loss is the mean over inputs that neither stage has
seen (what training fits is a share of zero of D). At infinite width, with first weights of
vanishing scale, outputs follow the linear recursion of systems/two_layer_relu_limit.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from theorysim import claims
from theorysim.numerics import random
from theorysim.numerics.kernels import tangent_gram
from theorysim.numerics.products import dot
from theorysim.systems import two_layer_relu_limit as relu_limit
from theorysim.systems.two_layer_relu import curvature

NORMALISATION = "mean"

# The loss has the Hessian (2/n) H with eigenvalues of at most 1: descent converges below 2.
LEARNING_RATE = 0.5


class Inputs(NamedTuple):
    """All that is drawn from D, and what each stage of training sees of it."""

    drawn: Float[Array, "points d"]
    source: Float[Array, "n_source d"]
    target: Float[Array, "n d"]


class FineTuning(NamedTuple):
    """The start of fine-tuning: y~ = y - f(X, Theta(0)), H of X, and what H says of it."""

    residual: Float[Array, " n"]
    gram: Float[Array, "n n"]
    smallest: Float[Array, ""]
    """lambda_0"""
    complexity: Float[Array, ""]
    """sqrt(y~^T H^(-1) y~ / n)"""


def rows(key: PRNGKeyArray, count: int, dimension: int, spread: Array) -> Float[Array, "count d"]:
    """Unit vectors, uniform for large `spread`, around one of them for small."""
    centre, scatter = jax.random.split(key)
    middle = random.normal(centre, (dimension,))
    around = middle + spread * random.normal(scatter, (count, dimension))
    return around / jnp.linalg.norm(around, axis=1, keepdims=True)


def inputs(x: claims.Instance, key: PRNGKeyArray) -> Inputs:
    """The pretraining inputs, those that stay unseen and the samples, in this order.

    Raises:
        UsageError: for more samples than dimensions (Assumption 3.1).
    """
    if x.n > x.d:
        raise claims.UsageError(f"n = {x.n} samples in dimension d = {x.d}: set n to at most {x.d}")
    drawn = rows(key, x.n_source + x.unseen + x.n, x.d, x.spread)
    return Inputs(drawn, drawn[: x.n_source], drawn[-x.n :])


def population_mean(x: claims.Instance, losses: Float[Array, " points"]) -> Float[Array, ""]:
    """The mean over the inputs that neither stage has seen."""
    return jnp.mean(losses[x.n_source : x.n_source + x.unseen])


def labelling_fields() -> dict[str, claims.Field]:
    """Fields of g_S and g_T."""
    return {
        "source_field": claims.UnitVector("d"),
        "target_field": claims.UnitVector("d"),
        "source_frequency": claims.Real(0.1, 30, log=True),
        "target_frequency": claims.Real(0.1, 30, log=True),
        "source_phase": claims.Real(-3.2, 3.2),
        "target_phase": claims.Real(-3.2, 3.2),
    }


def labellings(
    x: claims.Instance, data: Inputs
) -> tuple[Float[Array, " points"], Float[Array, " points"]]:
    """g_S and g_T at all inputs: waves of any length, in [-1, 1]."""
    source = jnp.sin(x.source_frequency * dot(data.drawn, x.source_field) + x.source_phase)
    target = jnp.sin(x.target_frequency * dot(data.drawn, x.target_field) + x.target_phase)
    return source, target


def fine_tuning(residual: Float[Array, " n"], samples: Float[Array, "n d"]) -> FineTuning:
    """`FineTuning` for the labels that are left."""
    gram = tangent_gram(samples, samples)
    smallest = jnp.linalg.eigvalsh(gram)[0]
    return FineTuning(residual, gram, smallest, relu_limit.complexity(gram, residual))


def pretrained(
    data: Inputs, labels: Float[Array, " n_source"], steps: float = jnp.inf
) -> Float[Array, " points"]:
    """Outputs at all inputs of a network trained on the source, if nothing else to the end."""
    return _learned(data.drawn, data.source, labels, steps)


def fine_tuned(
    data: Inputs, before: Float[Array, " points"], start: FineTuning, steps: Array | float
) -> Float[Array, " points"]:
    """Outputs at all inputs after `steps` steps of fine-tuning at LEARNING_RATE."""
    return before + _learned(data.drawn, data.target, start.residual, steps)


def _learned(
    points: Float[Array, "points d"],
    seen: Float[Array, "n d"],
    residual: Float[Array, " n"],
    steps: Array | float,
) -> Float[Array, " points"]:
    rate = curvature(NORMALISATION, len(seen)) * LEARNING_RATE
    end = relu_limit.kernel_descent(tangent_gram(seen, seen), residual, rate, steps)
    return dot(tangent_gram(points, seen), end.coefficients)


def constant_for_most(
    name: str, each: Callable[[claims.Run], Array], least: float, over: Mapping
) -> claims.Claim:
    """One constant, `least` or above, that all but a share delta of the samples agree on."""

    def needed(r: claims.Run) -> Float[Array, ""]:
        return jnp.maximum(jnp.quantile(each(r), 1 - r.x.delta), least)

    return claims.exists_constant(name, needed, lambda r: 1.0, over=over)


def rate_of_sampling(samples: int, smallest: Array, delta: Array) -> Float[Array, ""]:
    """sqrt(log(n / (lambda_0 delta)) / n), the term under O in Eq. 11."""
    return jnp.sqrt(jnp.log(samples / (smallest * delta)) / samples)
