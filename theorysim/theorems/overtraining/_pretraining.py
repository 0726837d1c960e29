"""What the statements on pre-training share: instances, loss, start, stage times, hidden basis.

Sections 4.1 and A.1 of Springer et al. (2025): gradient flow of |W_1 W_2 - A^pre|_F^2 with
A^pre = U diag(sigma) V^T, from W_1 = W_2 = exp(-tau) I. Time and weights have units in which sigma
is of order one; a scale would only change these.
"""

from collections.abc import Callable

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.numerics.products import dot
from theorysim.systems import two_layer_linear
from theorysim.systems.balanced_flow import Decomposition
from theorysim.theorems.overtraining._finetuning import Factors

# Families of singular vectors: U = V = I, U = V, or U and V independent. They are compared with
# room between them, because rounding is measured on instances that are moved by some ulp.
IDENTITY, EQUAL, INDEPENDENT = 0.0, 1.0, 2.0

# Weights start at exp(-27), and distances of that order are compared with it: at a relative
# tolerance of 1e-10 their error was half of the constants.
TOLERANCES = {"rtol": 1e-12, "atol": 1e-17}

# The asymptotics are in sight if no feature starts with a smaller share of exp(-tau) in a hidden
# direction of its own.
VISIBLE_START = 0.3


def pretraining_space(**parts: claims.Size | claims.Field) -> claims.Space:
    """Instances of pre-training; `parts` add to the shared fields and sizes or replace them."""
    shared: dict[str, claims.Size | claims.Field] = {
        "d": claims.Size(3, high=4),
        "family": claims.Choice(IDENTITY, EQUAL, INDEPENDENT),
        "left": claims.Orthogonal("d"),
        "right": claims.Orthogonal("d"),
        "sigma": claims.Spectrum("d", 0.5, 4, gap=2),
    }
    return claims.Space(**{**shared, **parts})


def decomposition(x: claims.Instance) -> Decomposition:
    """The singular value decomposition of A^pre, with the singular vectors of the family."""
    left = jnp.where(x.family < EQUAL - 0.5, jnp.eye(x.d, dtype=x.left.dtype), x.left)
    return Decomposition(left, x.sigma, jnp.where(x.family > EQUAL + 0.5, x.right, left))


def target(x: claims.Instance) -> Float[Array, "d d"]:
    """A^pre."""
    left, sigma, right = decomposition(x)
    return dot(left * sigma, right.T)


def identity_start(x: claims.Instance) -> Factors:
    """W_1 = W_2 = exp(-tau) I."""
    start = jnp.exp(-x.tau) * jnp.eye(x.d, dtype=x.tau.dtype)
    return start, start


def pretraining_loss(x: claims.Instance) -> Callable[[Factors], Float[Array, ""]]:
    """|W_1 W_2 - A^pre|_F^2 of the factors, not halved."""
    goal = target(x)
    return lambda weights: two_layer_linear.pretraining_loss(
        two_layer_linear.Factors(*weights), goal
    )


def limited(x: claims.Instance) -> claims.Instance:
    """The instance with its singular values beyond the rank set to zero."""
    return x.replace(sigma=jnp.where(jnp.arange(x.d) < x.rank, x.sigma, 0))


def _following(x: claims.Instance) -> Float[Array, " d"]:
    """sigma_{n+1}, zero behind the rank."""
    return jnp.append(limited(x).sigma[1:], 0).astype(x.sigma.dtype)


def stage_times(x: claims.Instance) -> Float[Array, " d"]:
    """t_n = 3 tau / (2 (2 sigma_n + sigma_{n+1})) for n <= R; later entries only continue them."""
    times = 3 * x.tau / (2 * (2 * x.sigma + _following(x)))
    stages = jnp.arange(x.d)
    return jnp.where(stages < x.rank, times, times[x.rank - 1] * (2 + stages - x.rank))


def rate(x: claims.Instance) -> Float[Array, ""]:
    """C at these times: the least 2 (sigma_n - sigma_{n+1}) / (2 sigma_n + sigma_{n+1}), n <= R."""
    rates = 2 * (x.sigma - _following(x)) / (2 * x.sigma + _following(x))
    return jnp.min(rates, where=jnp.arange(x.d) < x.rank, initial=1.0)


def hidden_basis(x: claims.Instance) -> tuple[Float[Array, "d d"], Float[Array, " d"]]:
    """Gram-Schmidt of the columns of (U + V) / 2: the basis, and what is left of each column."""
    left, _, right = decomposition(x)
    basis, residual = jnp.linalg.qr((left + right) / 2)
    sizes = jnp.diagonal(residual)
    return basis * jnp.where(sizes < 0, -1, 1), jnp.abs(sizes)


def visible(x: claims.Instance) -> Float[Array, ""]:
    """Margin: no feature up to the rank nearly depends on faster ones in the start."""
    sizes = hidden_basis(x)[1]
    return jnp.min(sizes, where=jnp.arange(x.d) < x.rank, initial=1.0) - VISIBLE_START


def out_of_reach(x: claims.Instance) -> Float[Array, ""]:
    """Margin: A^pre has full rank and a negative determinant."""
    left, _, right = decomposition(x)
    negative = -jnp.linalg.det(dot(left.T, right))
    return jnp.where(x.rank == x.d, negative, -1)
