"""Linear models with a chosen tangent kernel, and the minimisers of the paper's ridge problems.

The Jacobian of the tuned parameters is basis diag(sqrt(spectrum)) rotation, so K = J J^T has the
given spectrum; candidate layers add parameters with a Jacobian of their own, S = J' J'^T. The model
starts at outputs f0. Minimisers are found by one Newton step on the paper's loss, whose derivatives
come from automatic differentiation: exact for a quadratic.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.numerics.products import dot


def ridge_space(**parts: claims.Size | claims.Field) -> claims.Space:
    """Kernels, targets and ridge constants; `parts` add to the fields or replace them."""
    shared: dict[str, claims.Size | claims.Field] = {
        "n": claims.Size(3, low=1, high=16),
        "spectrum": claims.Spectrum("n", 1e-2, 100),
        "basis": claims.Orthogonal("n"),
        "rotation": claims.Orthogonal("n"),
        "targets": claims.Gaussian("n"),
        "sigma": claims.Real(1e-2, 100, log=True),
    }
    return claims.Space(**{**shared, **parts})


def layer_space(**parts: claims.Size | claims.Field) -> claims.Space:
    """With a candidate layer: its Jacobian is random, or shares the singular vectors of K's."""
    candidate: dict[str, claims.Size | claims.Field] = {
        "aligned": claims.Choice(0.0, 1.0),
        "candidate": claims.Gaussian("n", "n"),
        "candidate_scale": claims.Real(1e-3, 10, log=True),
        "rank": claims.Choice(0.0, 1.0),
    }
    return ridge_space(**{**candidate, **parts})


def jacobian(x: claims.Instance) -> Float[Array, "n n"]:
    """J of the tuned parameters."""
    return dot(x.basis * jnp.sqrt(x.spectrum), x.rotation.T)


def candidate_jacobian(x: claims.Instance) -> Float[Array, "n n"]:
    """J' of the candidate layer, of full rank or of rank one."""
    own = x.candidate_scale * x.candidate * jnp.where(x.rank > 0, 1, jnp.arange(x.n) == 0)
    sizes = jnp.diagonal(own) * jnp.sqrt(x.spectrum)
    return jnp.where(x.aligned > 0, x.basis * sizes, own)


def kernel(jacobian: Float[Array, "n p"]) -> Float[Array, "n n"]:
    """J J^T."""
    return dot(jacobian, jacobian.T)


def minimiser(loss: Callable[[Array], Array], size: int) -> Float[Array, " size"]:
    """Where a strictly convex quadratic loss is least."""
    origin = jnp.zeros(size)
    return jnp.linalg.solve(jax.hessian(loss)(origin), -jax.grad(loss)(origin))


def tuned_outputs(
    jacobian: Float[Array, "n p"], gap: Float[Array, " n"], sigma: Array, averaged: bool = False
) -> Float[Array, " n"]:
    """J w for the w that minimises ||J w - gap||^2 (or its mean) + sigma ||w||^2.

    Claims subtract the gap themselves: where little is left of it, the rounding of the outputs is
    what decides, and the engine moves what a simulation returns by its last place.
    """
    weight = 1 / gap.size if averaged else 1.0

    def loss(w: Array) -> Array:
        return weight * jnp.sum((dot(jacobian, w) - gap) ** 2) + sigma * jnp.sum(w**2)

    return dot(jacobian, minimiser(loss, jacobian.shape[1]))
