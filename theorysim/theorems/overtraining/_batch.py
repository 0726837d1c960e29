"""What the formulas of the fine-tuning loss share: any two factors, any anchor, batches of inputs.

Section A.1 of Springer et al. (2025). The formulas hold at every state, so weights and anchor are
arbitrary matrices (at the scale of the spectra) on top of the instances of fine-tuning.
"""

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.numerics.products import dot
from theorysim.theorems.overtraining._finetuning import (
    Factors,
    assembled,
    fine_tuning_space,
    ft_spectrum,
    pull_back,
)


def batch_space(**parts: claims.Size | claims.Field) -> claims.Space:
    """Instances of fine-tuning with arbitrary weights and anchor."""
    matrices = {name: claims.Gaussian("d", "d") for name in ("first", "second", "start")}
    return fine_tuning_space(batch=claims.Size(16), **{**matrices, **parts})


def weights(x: claims.Instance) -> Factors:
    """W_1 and W_2."""
    unit = jnp.sqrt(x.scale)
    return unit * x.first, unit * x.second


def anchor(x: claims.Instance) -> Float[Array, "d d"]:
    """theta^n(0), to which the regulariser pulls back."""
    return x.scale * x.start


def batch_loss(
    x: claims.Instance, factors: Factors, inputs: Float[Array, "batch d"]
) -> Float[Array, ""]:
    """Mean over the inputs of |theta x - A^ft x|^2, plus lam |theta - anchor|_F^2; not halved."""
    theta = dot(*factors)
    residual = dot(inputs, (theta - assembled(x, ft_spectrum(x))).T)
    pull = jnp.sum((theta - anchor(x)) ** 2)
    return jnp.mean(jnp.sum(residual**2, axis=1)) + pull_back(x) * pull


def covariance(inputs: Float[Array, "*lead batch d"]) -> Float[Array, "*lead d d"]:
    """Mean of x x^T over a batch."""
    return dot(jnp.swapaxes(inputs, -1, -2), inputs) / inputs.shape[-2]
