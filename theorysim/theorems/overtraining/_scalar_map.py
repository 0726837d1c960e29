"""One mode of fine-tuning as numbers: instances and step conditions of Lemma A.28 and its proof.

Section A.6 of Springer et al. (2025). The map itself and its fixed point are in
`theorysim.systems.linear_modes`.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp

from theorysim import claims
from theorysim.claims.hypotheses import Margin
from theorysim.systems.linear_modes import Tuning


def scalar_space() -> claims.Space:
    """sigma and sigma_0 over three decades, and a share of the largest learning rate."""
    return claims.Space(
        steps=claims.Size(200, high=20_000),
        sigma=claims.Real(0.03, 30, log=True),
        sigma_0=claims.Real(0.03, 30, log=True),
        lam=claims.Choice(0.0, 0.1, 1.0, 3.0, 10.0, 30.0),
        step_share=claims.Real(0, 1),
    )


def largest(x: claims.Instance) -> jax.Array:
    """max{sigma^2, sigma_0^2}."""
    return jnp.maximum(x.sigma, x.sigma_0) ** 2


def smallest(x: claims.Instance) -> jax.Array:
    """min{sigma^2, sigma_0^2}."""
    return jnp.minimum(x.sigma, x.sigma_0) ** 2


def printed_load(x: claims.Instance) -> jax.Array:
    """What eta is multiplied with in the lemma's step condition, (...) eta < 1."""
    return (x.lam + 2) * (2 * largest(x) + x.lam + x.lam * x.sigma_0 / x.sigma)


def scale_free_load(x: claims.Instance) -> jax.Array:
    """The same without the two terms that do not scale like sigma^2."""
    return (x.lam + 2) * 2 * largest(x)


def tuning_of(x: claims.Instance, load: Callable, share: float = 1.0) -> Tuning:
    """eta is a share of 1 / load."""
    return Tuning(x.sigma**2, x.sigma_0**2, x.lam, share * x.step_share / load(x))


# load eta = step_share < 1.
STEP_CONDITION: dict[str, Margin] = {"step condition": claims.strict(lambda x: 1 - x.step_share)}
