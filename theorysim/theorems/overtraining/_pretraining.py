"""What the statements on pre-training share: instances, the loss, the start of the flow.

Sections 4.1 and A.1 of Springer et al. (2025): gradient flow of |W_1 W_2 - A^pre|_F^2 with
A^pre = U diag(sigma) V^T, from W_1 = W_2 = exp(-tau) I. Time and weights have units in which sigma
is of order one; a scale would only change these.
"""

from __future__ import annotations

from collections.abc import Callable

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim.claims import Choice, Field, Instance, Orthogonal, Size, Space, Spectrum
from theorysim.numerics.products import dot
from theorysim.systems import two_layer_linear
from theorysim.systems.balanced_flow import Decomposition
from theorysim.theorems.overtraining._finetuning import Factors

# Families of singular vectors: U = V = I, U = V, or U and V independent. They are compared with
# room between them, because rounding is measured on instances that are moved by some ulp.
IDENTITY, EQUAL, INDEPENDENT = 0.0, 1.0, 2.0


def pretraining_space(**parts: Size | Field) -> Space:
    """Instances of pre-training; `parts` add to the shared fields and sizes or replace them."""
    shared: dict[str, Size | Field] = {
        "d": Size(3, high=4),
        "family": Choice(IDENTITY, EQUAL, INDEPENDENT),
        "left": Orthogonal("d"),
        "right": Orthogonal("d"),
        "sigma": Spectrum("d", 0.5, 4, gap=2),
    }
    return Space(**{**shared, **parts})


def decomposition(x: Instance) -> Decomposition:
    """The singular value decomposition of A^pre, with the singular vectors of the family."""
    left = jnp.where(x.family < EQUAL - 0.5, jnp.eye(x.d, dtype=x.left.dtype), x.left)
    return Decomposition(left, x.sigma, jnp.where(x.family > EQUAL + 0.5, x.right, left))


def target(x: Instance) -> Float[Array, "d d"]:
    """A^pre."""
    left, sigma, right = decomposition(x)
    return dot(left * sigma, right.T)


def identity_start(x: Instance) -> Factors:
    """W_1 = W_2 = exp(-tau) I."""
    start = jnp.exp(-x.tau) * jnp.eye(x.d, dtype=x.tau.dtype)
    return start, start


def pretraining_loss(x: Instance) -> Callable[[Factors], Float[Array, ""]]:
    """|W_1 W_2 - A^pre|_F^2 of the factors, not halved."""
    goal = target(x)
    return lambda weights: two_layer_linear.pretraining_loss(
        two_layer_linear.Factors(*weights), goal
    )
