"""Gradient flow from small random weights learns the singular directions one after the other.

Theorem 4.1 of Springer et al. (2025), after Saxe et al. (2018) and Gidel et al. (2019): from small
weights there are times t_1 < ... < t_d with theta(t_n) close to U Sigma_{:n} V^T. "This theorem
implies that U^T theta(t) V is approximately diagonal", at all times. Weights are exp(-tau) times
Gaussian ones. Theorem A.1, the formal version, is a statement of its own.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.numerics.flow import gradient_flow, statement_options
from theorysim.numerics.products import dot
from theorysim.theorems.overtraining import _pretraining as pretraining

TAUS = (12.0, 18.0, 27.0)
TIMES = 96


def simulate(x: claims.Instance, key) -> Float[Array, "times d d"]:
    """U^T theta(t) V along the flow, until all features are learned."""
    start = jax.tree.map(lambda w: jnp.exp(-x.tau) * w, (x.first, x.second))
    until = (1.2 * x.tau + 5) / x.sigma[-1]
    times = until * jnp.append(0, jnp.geomspace(0.02, 1, TIMES - 1)).astype(x.tau.dtype)
    options = {**pretraining.TOLERANCES, **statement_options(x.tolerance_scale)}
    first, second = gradient_flow(pretraining.pretraining_loss(x), start, times, **options)
    left, _, right = pretraining.decomposition(x)
    return dot(left.T, first, second, right)


def _in_order(distances: Float[Array, "times d"]) -> Float[Array, " d"]:
    """The least distance to each stage, at times after that of the stage before."""

    def stage(before: Array, distance: Array) -> tuple[Array, Array]:
        later = jnp.where(jnp.arange(TIMES) > before, distance, jnp.inf)
        return jnp.argmin(later), jnp.min(later)

    return jax.lax.scan(stage, jnp.array(-1), distances.T)[1]


def _approaches(order: int = 1):
    """The least distance to each Sigma_{:n} at times t_1 < ... < t_d tends to 0 with the start.

    With `order` -1 features are learned from the last one on.
    """

    def least_distance(r: claims.Run):
        path = r.sim[:, None]
        kept = jnp.tril(jnp.ones((r.x.d, r.x.d), r.x.sigma.dtype))[:, ::order]
        stages = jax.vmap(jnp.diag)(kept * r.x.sigma)
        return _in_order(jnp.linalg.norm(path - stages, axis=(-2, -1)))

    return claims.tends_to("theta(t_n)", least_distance, lambda r: 0.0, over={"tau": TAUS})


def _diagonal(kept: float = 0.0):
    """The largest entry beside the diagonal of U^T theta(t) V, with `kept` of the diagonal."""

    def largest(r: claims.Run):
        mask = 1 - (1 - kept) * jnp.eye(r.x.d, dtype=r.x.sigma.dtype)
        return jnp.max(jnp.abs(r.sim) * mask)

    return claims.tends_to("off the diagonal", largest, lambda r: 0.0, over={"tau": TAUS})


theorem = claims.Theorem(
    space=pretraining.pretraining_space(
        tau=claims.Real(10, 27), first=claims.Gaussian("d", "d"), second=claims.Gaussian("d", "d")
    ),
    simulate=simulate,
    claims=(_approaches(), _diagonal()),
    source=claims.Printed(
        "Theorem 4.1 and the remark after it",
        "t_1 < ... < t_d such that at timestep t_i, theta(t_i) is about U Sigma_{:i} V^T; this "
        "theorem implies that Sigma(t) = U^T theta(t) V is approximately diagonal",
    ),
    printed="main text",
    integrates=True,
    instances=24,
    mutant_instances=16,
    mutants=(
        claims.Mutant("the slowest feature comes first", claims=(_approaches(order=-1),)),
        claims.Mutant("a tenth of the diagonal too", claims=(_diagonal(kept=0.1),)),
    ),
)
