"""Many target inputs in groups about some centres, of which the first n_Q are looked at.

Inputs near each other have outputs near each other at the start: sums over them grow as n_Q.
"""

import jax.numpy as jnp
from jaxtyping import Array, Float

from theorysim import claims
from theorysim.numerics.kernels import tangent_gram
from theorysim.theorems.transferability import _problem as problem

LADDER = {"samples": (4, 8, 16, 32, 64), "failure": (0.5, 0.25, 0.125)}


def group_space(groups: int, **parts: claims.Size | claims.Field) -> claims.Space:
    """Two tasks, the target's in groups of distinct inputs; `parts` add to the fields."""
    return problem.problem_space(
        q=claims.Size(4, high=64),
        groups=claims.Size(groups, high=64),
        jitter=claims.Gaussian("groups", "q", "d"),
        closeness=claims.Real(1e-3, 0.1, log=True),
        samples=claims.Real(1, 4 * groups, log=True),
        failure=problem.FAILURE,
        **parts,
    )


def inputs(x: claims.Instance) -> Float[Array, "n d"]:
    """All target inputs, group after group of one about each centre."""
    rows = problem.target(x).inputs + x.closeness * x.jitter
    return (rows / jnp.linalg.norm(rows, axis=-1, keepdims=True)).reshape(-1, x.d)


def labels(x: claims.Instance) -> Float[Array, " n"]:
    """Those of the centres."""
    return jnp.tile(x.target_labels, x.groups)


def carried(x: claims.Instance, coefficients: Float[Array, "*keys p"]) -> Float[Array, "*keys n"]:
    """H_PQ^T times coefficients of the source inputs."""
    cross = tangent_gram(problem.source(x).inputs, inputs(x))
    return jnp.einsum("pn,...p->...n", cross, coefficients, precision="highest")


def samples(x: claims.Instance) -> Float[Array, ""]:
    """n_Q: the first of all target inputs. Rounded, so that no rung sits where the number jumps."""
    return jnp.round(x.samples)


def summed(x: claims.Instance, values: Float[Array, "*keys n"]) -> Float[Array, "*keys"]:
    """A sum over the first n_Q target inputs."""
    return jnp.sum(values * (jnp.arange(values.shape[-1]) < samples(x)), axis=-1)


def regular(x: claims.Instance) -> Float[Array, ""]:
    """The margin of lambda_Q > 0, of all target inputs."""
    return problem.regular(tangent_gram(inputs(x), inputs(x)))
