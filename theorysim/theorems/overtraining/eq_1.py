"""Noise at the layers' scales of initialisation raises the loss by an exact amount.

Eq. 1 of Springer et al. (2025): theta~ = theta + eps with eps ~ N(0, gamma^2 Sigma), Sigma the
covariance of the initialisation, so one scale per layer. Decided for the two-layer linear network
W_1 W_2 with scales s_1 and s_2: the expected rise of |W_1 W_2 - A|_F^2 is
d gamma^2 (s_2^2 |W_1|_F^2 + s_1^2 |W_2|_F^2) + d^3 gamma^4 s_1^2 s_2^2, which lies above the
quadratic approximation gamma^2 Tr(Sigma Hessian) / 2 that Appendix D compares it with.
"""

import jax
import jax.numpy as jnp

from theorysim import claims
from theorysim.numerics.products import dot

DRAWS = 64  # per key


def _loss(x: claims.Instance):
    return lambda weights: jnp.sum((dot(weights[0], weights[1]) - x.target) ** 2)


def simulate(x: claims.Instance, key):
    # Each draw comes with its negative: the same law, without the noise of the odd terms.
    half = x.gamma * x.scales[:, None, None] * jax.random.normal(key, (DRAWS // 2, 2, x.d, x.d))
    moved = x.weights + jnp.concatenate([half, -half])
    return jnp.mean(jax.vmap(_loss(x))(moved) - _loss(x)(x.weights))


def _predict(layer_of: tuple[int, int]):
    """The expected rise, and the quadratic approximation to it.

    `layer_of[j]` is the layer whose scale multiplies the norm of W_{j + 1}.
    """

    def predict(x: claims.Instance):
        size = x.weights.size
        hessian = jax.hessian(_loss(x))(x.weights).reshape(size, size)
        spread = jnp.repeat(x.scales**2, x.d**2)
        norms = jnp.sum(x.weights**2, axis=(1, 2))
        linear = x.d * x.gamma**2 * jnp.sum(x.scales[jnp.array(layer_of)] ** 2 * norms)
        exact = linear + x.d**3 * x.gamma**4 * jnp.prod(x.scales**2)
        return exact, x.gamma**2 * jnp.sum(spread * jnp.diagonal(hessian)) / 2

    return predict


theorem = claims.Theorem(
    space=claims.Space(
        d=claims.Size(3, high=16),
        weights=claims.Gaussian(2, "d", "d"),
        target=claims.Gaussian("d", "d"),
        scales=claims.Real(0.1, 10, log=True, shape=2),
        gamma=claims.Real(0.01, 1, log=True),
    ),
    simulate=simulate,
    predict=_predict((1, 0)),
    printed="for a two-layer linear network",
    source=claims.Finding("what the noise of Eq. 1 does to the loss of the networks of Section 4"),
    keys=128,
    claims=(
        claims.equal("expected rise", lambda r: r.mean(r.sim), lambda r: r.theory[0]),
        claims.at_least(
            "above its quadratic approximation", lambda r: r.theory[0], lambda r: r.theory[1]
        ),
    ),
    mutants=(claims.Mutant("every layer meets its own scale", predict=_predict((0, 1))),),
)
