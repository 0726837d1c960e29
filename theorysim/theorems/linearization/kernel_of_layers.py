"""The tangent kernel of all parameters is the sum of those of the layers.

Section 5 of Afzal et al. (2025): [S_l]_ij = grad_theta_l f(x_i) grad_theta_l f(x_j)^T, and the
kernel of the tuned and the candidate layers together is K + S. For a network f = m^(-1/2) sum_j v_j
tanh(w_j . x) both layers' kernels are known, K_v = (1/m) sum_j tanh tanh and K_w = (x_i . x_j)
(1/m) sum_j v_j^2 tanh' tanh'.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.numerics.products import dot


def simulate(x: claims.Instance, key) -> Float[Array, "3 n n"]:
    """Kernels of v, of w, and of both, from Jacobians by automatic differentiation."""

    def outputs(v: Array, w: Array) -> Array:
        return dot(jnp.tanh(dot(x.inputs, w.T)), v) / jnp.sqrt(x.m)

    def gram(jacobian: Array) -> Array:
        rows = jacobian.reshape(x.n, -1)
        return dot(rows, rows.T)

    both = jax.jacrev(outputs, argnums=(0, 1))(x.v, x.w)
    every = jnp.concatenate([part.reshape(x.n, -1) for part in both], axis=1)
    return jnp.stack([*(gram(part) for part in both), gram(every)])


def _predict(power: int = 1) -> Callable:
    """The kernels of v and of w; a mutant's have another power of the width."""

    def predict(x: claims.Instance) -> Float[Array, "2 n n"]:
        hidden = jnp.tanh(dot(x.inputs, x.w.T))
        slopes = (1 - hidden**2) * x.v[None]
        first, second = dot(hidden, hidden.T), dot(x.inputs, x.inputs.T) * dot(slopes, slopes.T)
        return jnp.stack([first, second]) / float(x.m) ** power

    return predict


SUM = claims.equal(
    "K of all parameters = K + S", lambda r: r.sim[2], lambda r: r.theory[0] + r.theory[1]
)
LAYERS = claims.equal("S_l of every layer", lambda r: r.sim[:2], lambda r: r.theory)

theorem = claims.Theorem(
    space=claims.Space(
        n=claims.Size(4, low=1, high=16),
        d=claims.Size(3, low=1, high=16),
        m=claims.Size(5, low=2, high=64),
        inputs=claims.Gaussian("n", "d"),
        v=claims.Gaussian("m"),
        w=claims.Gaussian("m", "d"),
    ),
    simulate=simulate,
    predict=_predict(),
    claims=(SUM, LAYERS),
    source=claims.Printed(
        "slides, Section 5, Theorem 6",
        "K the NTK with respect to the selected parameters, S the kernel with respect to the "
        "parameters of the candidate layers, [S_l]_ij = grad_theta_l f(x_i) grad_theta_l f(x_j)^T; "
        "K + S",
    ),
    mutants=(claims.Mutant("without the width", predict=_predict(0)),),
)
