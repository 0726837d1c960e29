"""What the statements on linear teachers share: data, teachers, the input distribution, the risk.

Section 3 of Shachaf et al. (2021). The samples are given by their singular value decomposition,
which reaches every X of full row rank, so that Assumption 3.1 is built in. The input distribution D
puts equal mass on 2^d points with a prescribed mean and covariance, so that the population risk is
computed from its definition, as an expectation over D.
"""

import itertools

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.numerics.products import dot
from theorysim.systems.linear_regression import project, row_space

# Both ends of the range of norms of a teacher; the inventory of instances runs over one decade.
NORM = claims.Real(0.3, 3, log=True)


def problem_space(**parts: claims.Size | claims.Field) -> claims.Space:
    """Samples and teachers; `parts` add to the shared fields and sizes or replace them."""
    shared: dict[str, claims.Size | claims.Field] = {
        "d": claims.Size(5, high=64),
        "n": claims.Size(2, high=64),
        "left": claims.Orthogonal("n"),
        "stretch": claims.Spectrum("n", 0.7, 1.4),
        "frame": claims.Orthogonal("d"),
        "source_direction": claims.UnitVector("d"),
        "source_norm": NORM,
        "target_direction": claims.UnitVector("d"),
        "target_norm": NORM,
    }
    return claims.Space(**{**shared, **parts})


def distribution_fields() -> dict[str, claims.Size | claims.Field]:
    """The input distribution D: covariance, and a mean, exactly 0 where centred.

    Where it is flat, all of its inputs and all samples (n < d) lie in the span of all but the last
    direction of the frame, and Sigma is singular. `risk` averages over 2^d inputs, which bounds d.
    """
    return {
        "d": claims.Size(5, high=12),
        "eigenvalues": claims.Spectrum("d", 0.1, 10),
        "axes": claims.Orthogonal("d"),
        "mean": claims.Gaussian("d"),
        "off_centre": claims.Choice(0.0, 1.0),
        "flat": claims.Choice(0.0, 1.0),
    }


def data(x: claims.Instance) -> Float[Array, "n d"]:
    """X, one sample per row.

    Raises:
        UsageError: for more samples than dimensions.
    """
    if x.n > x.d:
        raise claims.UsageError(f"n = {x.n} samples in dimension d = {x.d}: set n to at most {x.d}")
    return dot(x.left * x.stretch, x.frame[:, : x.n].T)


def labels(x: claims.Instance) -> Float[Array, " n"]:
    """y = X theta_T."""
    return outputs(x, target(x))


def outputs(x: claims.Instance, teacher: Float[Array, " d"]) -> Float[Array, " n"]:
    """X theta."""
    return dot(data(x), teacher)


def source(x: claims.Instance) -> Float[Array, " d"]:
    """theta_S."""
    return x.source_norm * x.source_direction


def target(x: claims.Instance) -> Float[Array, " d"]:
    """theta_T."""
    return x.target_norm * x.target_direction


def task(
    x: claims.Instance,
) -> tuple[Float[Array, "n d"], Float[Array, " d"], Float[Array, " d"]]:
    """X, theta_S and theta_T."""
    return data(x), source(x), target(x)


def outside(x: claims.Instance, vector: Float[Array, " d"]) -> Float[Array, " d"]:
    """P_perp v."""
    return project(row_space(data(x)), vector).orthogonal


def inside(x: claims.Instance, vector: Float[Array, " d"]) -> Float[Array, " d"]:
    """P_par v."""
    return project(row_space(data(x)), vector).parallel


def norm_ratio(x: claims.Instance) -> Float[Array, ""]:
    """||P_par theta_T|| / ||P_par theta_S||, which multiplies the source at infinite depth."""
    return jnp.linalg.norm(inside(x, target(x))) / jnp.linalg.norm(inside(x, source(x)))


def in_support(x: claims.Instance, vectors: Float[Array, "*times d"]) -> Float[Array, "*times d"]:
    """The parts of vectors in the span of the inputs of D: all of them unless D is flat."""
    lost = x.flat * x.frame[:, -1]
    return vectors - dot(vectors, lost)[..., None] * lost


def mean(x: claims.Instance) -> Float[Array, " d"]:
    """The mean of D."""
    return x.off_centre * x.mean


def risk(
    x: claims.Instance, weights: Float[Array, "*times d"], teacher: Float[Array, " d"]
) -> Float[Array, "*times"]:
    """E (<input, teacher> - <input, weights>)^2 over the 2^d equally likely inputs of D."""
    signs = jnp.asarray(list(itertools.product((-1.0, 1.0), repeat=x.d)), x.axes.dtype)
    inputs = in_support(x, mean(x) + dot(signs * jnp.sqrt(x.eigenvalues), x.axes.T))
    return jnp.mean(jnp.square(dot(weights - teacher, inputs.T)), axis=-1)


def covariance_form(x: claims.Instance, vector: Float[Array, " d"]) -> Float[Array, ""]:
    """||Sigma^(1/2) v||^2 with the covariance of D, as printed."""
    return jnp.sum(x.eigenvalues * jnp.square(dot(x.axes.T, in_support(x, vector))))


def moment_form(x: claims.Instance, vector: Float[Array, " d"]) -> Float[Array, ""]:
    """||Sigma^(1/2) v||^2 with the second moment E x x^T of D in the place of Sigma."""
    return covariance_form(x, vector) + jnp.square(jnp.sum(mean(x) * in_support(x, vector)))


def last_axis_time(path: Float[Array, "times *rest"]) -> Float[Array, "*rest times"]:
    """The path as `Run.limit` takes it."""
    return jnp.moveaxis(path, 0, -1)
