"""A teacher that is hard from scratch has small correlations with single queries.

Theorem 8 of Dayi and Chen (2024), informally Theorem 3: on the features of Claim 2 with a Hermite
activation of order p > 2, online SGD learns u in O(d k^2 / epsilon^4) steps; learning the teacher
from scratch by correlational queries needs d^(p/2) of them or a tolerance of d^(-p/4). The bound
over all algorithms cannot be decided by simulation: it stands as cited. Decided are the answers to
two queries: the correlation of the teacher with a Hermite polynomial in a random direction, sum_i
lambda_i <v_i, w>^p, is of order d^(-p/2); for even p, that with a normalised radial polynomial of
degree p (here 4, |x|^4 - 2 (d+2) |x|^2 + d (d+2)) is of order d^(-p/4), the tolerance. How long
fine-tuning takes is `theorem-8-fine-tuning`.
"""

import jax
import jax.numpy as jnp
import numpy as np

from theorysim import claims
from theorysim.numerics.gaussian import hermite_values
from theorysim.numerics.random import chi_square

DIMENSIONS = (64.0, 128.0, 256.0, 512.0, 1024.0)


def _correlation(x: claims.Instance, key):
    """|sum_i lambda_i <v_i, w>^p| for orthonormal v_i and a uniform unit vector w."""
    normal, radial = jax.random.split(key)
    inside = jax.random.normal(normal, (x.k,))
    square = jnp.sum(inside**2) + chi_square(radial, x.dimension - x.k)
    return jnp.abs(jnp.sum(x.readout * (inside / jnp.sqrt(square)) ** x.power))


def _radial(x: claims.Instance, key):
    """E[h_4(<v, x>) q(|x|^2)] sum_i lambda_i for the normalised q, by exact moments."""
    first, weights = np.polynomial.hermite_e.hermegauss(8)
    rest, rest_square = x.dimension - 1, (x.dimension - 1) * (x.dimension + 1)
    volume = x.dimension * (x.dimension + 2)
    mean = first**4 + 2 * first**2 * rest + rest_square
    mean = mean - 2 * (x.dimension + 2) * (first**2 + rest) + volume
    values = hermite_values(jnp.asarray(first), 5)[4]
    product = jnp.sum(weights / weights.sum() * values * mean)
    return jnp.abs(jnp.sum(x.readout)) * product / jnp.sqrt(8 * volume)


def _query(p: int, exponent: float) -> claims.Claim:
    return claims.scales_as(
        f"the correlation over d, p = {p}",
        lambda r: jnp.median(r.sim),
        over={"dimension": DIMENSIONS},
        exponent=exponent,
    )


def _of_order(p: int):
    return lambda x, key: _correlation(x.replace(power=p), key)


SOURCE = claims.Printed("Theorem 8, Section 3.5", "at least d^(p/2) queries or d^(-p/4) tolerance")

theorem = claims.Theorem(
    space=claims.Space(
        k=claims.Size(3, low=2, high=12),
        readout=claims.Real(0.8, 1.25, log=True, shape="k"),
        dimension=claims.Real(64, 1024, log=True),
        power=claims.Integer(3, 6),
    ),
    simulate=_of_order(3),
    claims=(_query(3, -1.5),),
    printed="one query, p = 3",
    aliases=("theorem-3",),
    source=SOURCE,
    note="of the lower bound only the size of one query's answer is decided",
    readings=(
        claims.Reading(
            "one query, p = 6",
            SOURCE,
            simulate=_of_order(6),
            claims=(_query(6, -3.0),),
        ),
        claims.Reading(
            "radial query, p = 4",
            SOURCE,
            simulate=_radial,
            claims=(_query(4, -1.0),),
        ),
    ),
    mutants=(
        claims.Mutant("d^(-p/4), p = 3", claims=(_query(3, -0.75),)),
        claims.Mutant("d^(-p/2), p = 4", of=("radial query, p = 4",), claims=(_query(4, -2.0),)),
        claims.Mutant("d^(-p/4), p = 6", of=("one query, p = 6",), claims=(_query(6, -1.5),)),
    ),
    keys=1024,
    instances=16,
)
