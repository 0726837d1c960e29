"""Linear models with a chosen tangent kernel, and the minimisers of the paper's ridge problems.

The Jacobian of the tuned parameters is basis diag(sqrt(spectrum)) rotation, so K = J J^T has the
given spectrum; candidate layers add parameters with a Jacobian of their own, S = J' J'^T. Half as
many parameters as inputs make K singular (`few`). Targets have length one: all sides are
homogeneous in targets and outputs. Minimisers are found by one Newton step on the paper's loss,
whose derivatives come from automatic differentiation: exact for a quadratic.
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
        "few": claims.Choice(0.0, 1.0),
        "targets": claims.UnitVector("n"),
        "sigma": claims.Real(1e-2, 100, log=True),
    }
    return claims.Space(**{**shared, **parts})


def layer_space(**parts: claims.Size | claims.Field) -> claims.Space:
    """With a candidate layer, of any basis or of K's; K is invertible, as K^(-1/2) asks."""
    candidate: dict[str, claims.Size | claims.Field] = {
        "few": claims.Choice(0.0),
        "aligned": claims.Choice(0.0, 1.0),
        "candidate": claims.Orthogonal("n"),
        "candidate_sizes": claims.Real(1e-6, 100, log=True, shape="n"),
        "rank": claims.Choice(0.0, 1.0),
    }
    return ridge_space(**{**candidate, **parts})


def eigenvalues(x: claims.Instance) -> Float[Array, " n"]:
    """Of K, in the order of the basis: the later ones are zero where there are few parameters."""
    is_kept = jnp.arange(x.n) < jnp.where(x.few > 0, (x.n + 1) // 2, x.n)
    return jnp.where(is_kept, x.spectrum, 0)


def jacobian(x: claims.Instance) -> Float[Array, "n n"]:
    """J of the tuned parameters."""
    return dot(x.basis * jnp.sqrt(eigenvalues(x)), x.rotation.T)


def candidate_jacobian(x: claims.Instance) -> Float[Array, "n n"]:
    """J' of the candidate layer, of full rank or of rank one."""
    basis = jnp.where(x.aligned > 0, x.basis, x.candidate)
    is_kept = (x.rank > 0) | (jnp.arange(x.n) == 0)
    return basis * jnp.sqrt(jnp.where(is_kept, x.candidate_sizes, 0))


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
