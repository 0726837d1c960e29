"""Arc-cosine kernels: Gram matrices of infinitely wide two-layer ReLU networks, in closed form.

Both kernels depend on phi = pi - theta, theta the angle between two inputs. It is computed from
||x + x'|| and ||x - x'||, which keeps full relative accuracy near parallel and near antipodal
inputs, where arccos of a scalar product loses half of the digits. Inputs are rows, of any length
(in the papers: of length one). At exactly parallel or antipodal pairs the kernels have a kink in
theta; there it contributes no derivative, which is right for the diagonal of a Gram matrix.

Source: Cho, Saul, "Kernel Methods for Deep Learning", NeurIPS 2009 (degrees 0 and 1).
"""

from math import factorial, pi

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim.numerics.products import dot

_SERIES = tuple((-1.0) ** (k + 1) * 2 * k / factorial(2 * k + 1) for k in range(10, 0, -1))
"""sin(phi) - phi cos(phi) = phi^3 polyval(series, phi^2), up to 1e-21 phi^23"""


def coactivation(left: Float[Array, "p d"], right: Float[Array, "q d"]) -> Float[Array, "p q"]:
    """P(<w, x> >= 0 and <w, x'> >= 0) = (pi - theta) / (2 pi) for Gaussian w, pair by pair."""
    return _opening(left, right) / (2 * pi)


def tangent_gram(left: Float[Array, "p d"], right: Float[Array, "q d"]) -> Float[Array, "p q"]:
    """H_ij = <x_i, x_j'> (pi - theta_ij) / (2 pi), the tangent kernel of the hidden weights.

    E_w[<x, x'> 1{<w, x> >= 0, <w, x'> >= 0}], w ~ N(0, I): independent of the scale of w, 1/2 on
    the diagonal for unit inputs. Source: Liu et al. 2019, Eq. 1-3; Shachaf et al. 2021, Section 6.
    """
    return dot(left, right.T) * coactivation(left, right)


def activation_gram(left: Float[Array, "p d"], right: Float[Array, "q d"]) -> Float[Array, "p q"]:
    """E_w[relu(<w, x>) relu(<w, x'>)], w ~ N(0, I); 1/2 on the diagonal for unit inputs.

    ||x|| ||x'|| (sin(theta) + (pi - theta) cos(theta)) / (2 pi): the covariance of the outputs of
    (1/sqrt(m)) sum_r a_r relu(<w_r, x>) with random signs a, at every width m.
    """
    lengths = _length(left)[:, None] * _length(right)[None, :]
    return lengths * arc_cosine(_opening(left, right)) / (2 * pi)


def arc_cosine(opening: Float[Array, "*n"]) -> Float[Array, "*n"]:
    """sin(phi) - phi cos(phi) for phi = pi - theta, the angular part of `activation_gram`."""
    square = jnp.square(opening)
    # It is phi^3 / 3 for small phi: as a difference it loses 3 eps / phi^2.
    series = opening * square * jnp.polyval(jnp.array(_SERIES, square.dtype), square)
    closed = jnp.sin(opening) - opening * jnp.cos(opening)
    return jnp.where(opening < 1, series, closed)


def _opening(left: Float[Array, "p d"], right: Float[Array, "q d"]) -> Float[Array, "p q"]:
    """pi - theta, row by row: an array of all pairwise differences would be d times as large."""
    there = _directions(right)

    def row(here: Float[Array, " d"]) -> Float[Array, " q"]:
        apart, together = _length(here[None] - there), _length(here[None] + there)
        return 2 * jnp.arctan2(together, apart)

    return jax.lax.map(row, _directions(left))


def _directions(inputs: Float[Array, "n d"]) -> Float[Array, "n d"]:
    lengths = _length(inputs)
    # Dividing a unit input by its rounded length would cost the relative accuracy of small angles.
    unit = jnp.abs(lengths - 1) <= inputs.shape[1] * jnp.finfo(inputs.dtype).eps
    return inputs / jnp.where(unit | (lengths == 0), 1, lengths)[:, None]


def _length(vectors: Float[Array, "*n d"]) -> Float[Array, "*n"]:
    """Euclidean norm over the last axis, with derivative zero at zero."""
    squares = jnp.sum(jnp.square(vectors), axis=-1)
    nonzero = squares > 0
    return jnp.where(nonzero, jnp.sqrt(jnp.where(nonzero, squares, 1)), 0)
