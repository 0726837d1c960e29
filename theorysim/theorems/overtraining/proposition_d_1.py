"""The sensitivity of a quadratic loss to Gaussian noise is half the trace of its Hessian.

Proposition D.1 of Springer et al. (2025): for L(theta) = theta^T H theta / 2 + g^T theta + c with
symmetric H, E[L(theta + lam eps) - L(theta)] = lam^2 Tr(H) / 2.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.numerics.products import dot

DRAWS = 128  # per key


def hessian(x: claims.Instance) -> Float[Array, "d d"]:
    """H."""
    return (x.square + x.square.T) / 2


def loss(x: claims.Instance, theta: Float[Array, " d"], share: float = 0.5) -> Float[Array, ""]:
    """L(theta), with a `share` of the quadratic form."""
    return share * theta @ dot(hessian(x), theta) + x.g @ theta + x.c


def noise(x: claims.Instance, key: Array) -> Float[Array, "draws d"]:
    """eps; each draw comes with its negative: the same law, without the noise of the odd terms."""
    half = jax.random.normal(key, (DRAWS // 2, x.d))
    return jnp.concatenate([half, -half])


def rise(x: claims.Instance, noise: Float[Array, "draws d"], share: float = 0.5):
    """Mean of L(theta + lam eps) - L(theta) over the noise."""
    moved = x.theta + x.lam * noise
    return jnp.mean(jax.vmap(lambda theta: loss(x, theta, share))(moved) - loss(x, x.theta, share))


def predict(x: claims.Instance):
    return x.lam**2 * jnp.trace(hessian(x)) / 2


theorem = claims.Theorem(
    space=claims.Space(
        d=claims.Size(4),
        square=claims.Gaussian("d", "d"),
        theta=claims.Gaussian("d"),
        g=claims.Gaussian("d"),
        c=claims.Real(-1, 1),
        lam=claims.Real(0.01, 10, log=True),
    ),
    simulate=lambda x, key: rise(x, noise(x, key)),
    predict=predict,
    keys=256,
    source=claims.Printed("Proposition D.1", "Delta(theta, lam) = lam^2 Tr(H) / 2"),
    claims=(claims.equal("sensitivity", lambda r: r.mean(r.sim), lambda r: r.theory),),
    mutants=(claims.Mutant("the whole trace", predict=lambda x: 2 * predict(x)),),
)
