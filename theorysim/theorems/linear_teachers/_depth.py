"""Networks of any depth from 0-balanced weights: gradient flow of the first layer alone.

Section 5 of Shachaf et al. (2021). 0-balanced layers are of rank one and of equal size, and stay so
(definition-5.1): with W_1 = a u^T the later layers are ||a||^(L-1) u, beta = ||a||^(L-1) a, and W_1
follows the gradient of the train loss. theorem-5.2 trains all matrices, up to depth 8, to the same
limits. The clock runs by ||W_2 ... W_L||, which changes neither the orbit nor its limit: in real
time deep networks stand still near the origin, and by its square (as there) they leave it in no
time. At depth L one direction is L times as fast as the others, so no contraction is measured: the
end stands for the limit where the loss has vanished, at a distance far below what is claimed.
"""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.numerics.flow import integrate
from theorysim.numerics.products import dot
from theorysim.systems.linear_regression import project, row_space
from theorysim.theorems.linear_teachers import _deep as deep
from theorysim.theorems.linear_teachers import _problem as problem

# The cost of a flow grows with the depth: along beta it is so much faster.
DEEPEST = 128.0


class Trained(NamedTuple):
    """The end of a flow, and whether Assumption 3.3 is met."""

    weights: Float[Array, " d"]
    vanished: Float[Array, ""]
    """margin of the share of the initial loss that is left"""


def trained(
    x: claims.Instance, teacher: Float[Array, " d"], depth: Float[Array, ""] | float
) -> Trained:
    """A network of real `depth` >= 1 that was pretrained on theta_S, fine-tuned on a teacher."""
    samples, start = problem.data(x), problem.source(x)
    basis = row_space(samples)
    reduced, wanted = dot(samples, basis), dot(basis.T, teacher)
    first = start * jnp.linalg.norm(start) ** (1 / depth - 1)
    outside = project(basis, first).orthogonal

    def later(inside: Float[Array, "*times n"]) -> Float[Array, "*times"]:
        """||W_2 ... W_L||; the part of W_1 outside of the data stands still."""
        squared = jnp.sum(jnp.square(inside), axis=-1) + jnp.sum(jnp.square(outside))
        return squared ** ((depth - 1) / 2)

    def field(inside: Float[Array, " n"], _: None) -> Float[Array, " n"]:
        misfit = dot(reduced, later(inside) * inside - wanted)
        return -2 / x.n * dot(reduced.T, misfit)

    # Near its end the flow is slower than linear regression by ||W_2 ... W_L||, at least this.
    slowest = jnp.minimum(jnp.linalg.norm(wanted), 1)
    path = integrate(
        field,
        dot(basis.T, first),
        deep.convergence_times(samples)[jnp.array([0, -1])] / slowest,
        tolerance_scale=x.tolerance_scale,
    )
    weights = later(path[-1]) * (dot(basis, path[-1]) + outside)
    before, after = (jnp.sum(jnp.square(dot(samples, each - teacher))) for each in (start, weights))
    return Trained(weights, deep.VANISHED - after / before)
