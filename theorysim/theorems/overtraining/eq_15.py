"""The perturbed loss at the ideal start splits into one term per source of noise.

Eq. 15 of Springer et al. (2025) and the display after Lemma A.5. With D = diag(pre_1, ..., pre_n,
0, ...)^(1/2): L~(n) = |D^2 - diag(pre)|_F^2 + E |alpha D|_F^2 + E |D beta|_F^2 + E |alpha beta|_F^2
= L(n) + 2 d gamma^2 |D|_F^2 + E |alpha beta|_F^2, where E |alpha beta|_F^2 = d^3 gamma^4.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.numerics import random
from theorysim.numerics.products import dot
from theorysim.theorems.overtraining import _finetuning as ft
from theorysim.theorems.overtraining import _perturbation as noise

DRAWS = 128  # per key


class Means(NamedTuple):
    """Means over the draws of the noise, alpha and beta, at D = diag(pre_1, ..., pre_n)^(1/2)."""

    perturbed: Float[Array, ""]
    alpha_d: Float[Array, ""]
    d_beta: Float[Array, ""]
    alpha_beta: Float[Array, ""]


def _mean_square(matrices: jax.Array):
    return jnp.mean(jnp.sum(matrices**2, axis=(-2, -1)))


def simulate(x: claims.Instance, key):
    normal = random.normal(key, (2, DRAWS, x.d, x.d))
    alpha, beta = jnp.sqrt(noise.variance(x)) * normal
    modes = ft.ideal_modes(x)
    return Means(
        perturbed=jnp.mean(noise.sampled_perturbed_loss(x, ft.ideal_start(x), alpha, beta)),
        alpha_d=_mean_square(alpha * modes),
        d_beta=_mean_square(modes[:, None] * beta),
        alpha_beta=_mean_square(dot(alpha, beta)),
    )


def _predict(share: float):
    """L(n), 2 d gamma^2 |D|_F^2 and d^3 gamma^4 with a `share` of the noise, and that share."""

    def predict(x: claims.Instance):
        pre = ft.pre_spectrum(x)
        loss = jnp.sum((ft.learned(x, pre) - pre) ** 2)
        linear = share * 2 * x.d * noise.variance(x) * jnp.sum(ft.learned(x, pre))
        return loss, linear, share * x.d**3 * noise.variance(x) ** 2, share

    return predict


def _perturbed(r: claims.Run):
    return r.mean(r.sim.perturbed)


def _quartic(r: claims.Run):
    return r.mean(r.sim.alpha_beta)


def _split(r: claims.Run):
    loss, _, _, share = r.theory
    layers = r.mean(r.sim.alpha_d) + r.mean(r.sim.d_beta)
    return loss + share * layers + _quartic(r)


def _summed(r: claims.Run):
    loss, linear, *_ = r.theory
    return loss + linear + _quartic(r)


theorem = claims.Theorem(
    space=noise.perturbation_space(scale=claims.Real(1e-8, 1e2, log=True)),
    simulate=simulate,
    predict=_predict(1.0),
    source=claims.Printed(
        "Eq. 15 and the display after Lemma A.5, Appendix A.2",
        "L~(ideal^n) = L(ideal^n) + 2 d gamma^2 |(Sigma^{pre,n})^(1/2)|_F^2 + E |alpha beta|_F^2",
    ),
    keys=256,
    claims=(
        claims.equal("Eq. 15", _perturbed, _split),
        claims.equal("after Lemma A.5", _perturbed, _summed),
        claims.equal("E |alpha beta|^2", _quartic, lambda r: r.theory[2]),
    ),
    mutants=(claims.Mutant("one of the two layers is disturbed", predict=_predict(0.5)),),
)
